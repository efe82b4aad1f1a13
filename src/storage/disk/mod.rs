//! The disk: all access of the storage layer to the file system.
//!
//! Each function makes the call of the standard library that it is named after, and its errors name the file. They are
//! in one place so that tests can intercept them (`watch.rs`). Tests see each step, let it fail, and know what was
//! synced at each time, so they can leave the files in a state that a crash may leave (`crash.rs`).

#[cfg(test)]
#[cfg(unix)]
pub(crate) mod crash;
mod database;
mod file;
mod folders;
mod likeness;
mod lock;
mod lock_conflict;
mod map;
mod overlay;
mod path;
mod plain;
mod process;
mod resolve;
mod shared_file;
mod step;
mod turn;
mod unsynced_folder;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod watch;

pub(super) use database::{
    DatabaseLock, OpenedDatabase, create_database, create_database_like, is_written,
    keep_writers_out, open_damaged_database, open_database, pretend_database, read_database,
};
use file::in_file;
pub(super) use file::{File, sync_words};
pub(super) use folders::{
    MadeFolders, create_folder, create_folders, finish_folder, parent, remove_folder, sync_folder,
};
pub(super) use lock::FileLock;
pub(super) use lock_conflict::writing_process;
pub(super) use map::{FileMap, SharedWords};
use path::is_absence;
pub(super) use path::{
    has_other_name, is_absent, is_file, is_folder, is_plain_file, is_sole, list, list_some,
    metadata, remove, rename, size,
};
pub(crate) use process::Process;
pub(crate) use resolve::resolved;
pub(super) use shared_file::first_failure;
use step::{DiskStep, at};
#[cfg(not(all(test, unix)))]
use step::{step, sync};
pub(crate) use turn::TurnWait;
pub(super) use turn::{Turn, Turns};
pub(crate) use unsynced_folder::UnsyncedFolder;
#[cfg(all(test, unix))]
use watch::{step, sync};

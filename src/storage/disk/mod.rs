//! The disk: everything that the storage layer asks of the file system.
//!
//! Each call here is the one of the standard library that its name says, and its error names the file.
//! There is one place for them so that tests can stand in it: they see each step, refuse it, and know
//! what had been synced when (`watch.rs`), so that they can leave the files as a crash might have
//! (`crash.rs`).

mod blocked;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod crash;
mod database;
mod file;
mod fleeting;
mod folders;
mod likeness;
mod lock;
mod map;
mod overlay;
mod path;
mod plain;
mod process;
mod processor;
mod resolve;
mod shared;
mod step;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod watch;

pub(super) use database::{
    DatabaseLock, create_database, create_database_like, keep_writers_out, open_damaged_database,
    open_database, pretend_database, read_database,
};
use file::in_file;
pub(super) use file::{File, sync_words};
pub(crate) use fleeting::Fleeting;
pub(super) use folders::{
    MadeFolders, create_folder, create_folders, finish_folder, parent, remove_folder, sync_folder,
};
pub(super) use lock::FileLock;
pub(super) use map::{Map, SharedWords};
use path::is_absence;
pub(super) use path::{
    is_absent, is_file, is_folder, is_plain_file, list, list_some, metadata, remove, rename, size,
};
pub(crate) use process::Process;
pub use processor::{ProcessorTimes, ThreadTime};
pub(crate) use resolve::resolved;
pub(super) use shared::first_failure;
use step::{Step, at};
#[cfg(not(all(test, unix)))]
use step::{step, sync};
#[cfg(all(test, unix))]
use watch::{step, sync};

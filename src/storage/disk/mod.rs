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
mod likeness;
mod lock;
mod map;
mod overlay;
mod plain;
mod process;
mod resolve;
mod shared;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod watch;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
pub(super) use database::{
    DatabaseLock, create_database, create_database_like, keep_writers_out, open_damaged_database,
    open_database, pretend_database, read_database,
};
use file::in_file;
pub(super) use file::{File, sync_words};
pub(super) use lock::FileLock;
pub(super) use map::{Map, SharedWords};
pub(crate) use process::Process;
pub(crate) use resolve::resolved;
pub(super) use shared::first_failure;
#[cfg(all(test, unix))]
use watch::{step, sync};

/// One thing that the system is asked to do with a path.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(test, unix)),
    expect(dead_code, reason = "only tests look at it")
)]
enum Step<'a> {
    /// Look for, list or open.
    Look,
    /// Read or map so many bytes from one on.
    Read(u64, u64),
    /// Open a file, which is made if it is not there.
    Make,
    MakeFolder,
    Write(&'a fs::File, u64, &'a [u8]),
    /// Fill a file that is empty from another.
    Copy(&'a fs::File),
    SetLen(&'a fs::File, u64),
    /// Map a file, whose bytes may change at any time from then on.
    Map,
    /// Make what a file holds durable; of one that is mapped there is no handle.
    Sync(Option<&'a fs::File>),
    /// Make the names in a folder durable.
    SyncFolder,
    RenameTo(&'a Path),
    Remove,
    RemoveFolder,
}

/// Does a step.
#[cfg(not(all(test, unix)))]
fn step<T>(_: &Path, _: Step<'_>, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    work()
}

/// Does a step that makes something durable.
#[cfg(not(all(test, unix)))]
fn sync(_: &Path, _: Step<'_>, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    work()
}

/// Does a step with what is at `path`.
fn at<T>(path: &Path, what: Step<'_>, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
    step(path, what, work).map_err(|source| Error::io(path, source))
}

/// What is at `path`, if there is anything.
pub(super) fn metadata(path: &Path) -> Result<Option<fs::Metadata>> {
    at(path, Step::Look, || match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        Ok(found) if found.is_symlink() => fs::metadata(path).map(Some),
        found => found.map(Some),
    })
}

fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Whether there is a file at `path`, and no link to one.
pub(super) fn is_plain_file(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_some_and(|found| found.is_file()))
}

/// Whether there is a folder at `path`, and no link to one.
pub(super) fn is_folder(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_some_and(|found| found.is_dir()))
}

/// Whether nothing is at `path`, not even a link.
pub(super) fn is_absent(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_none())
}

/// What is at `path`, which may be a link.
fn unfollowed(path: &Path) -> Result<Option<fs::Metadata>> {
    at(path, Step::Look, || match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        found => found.map(Some),
    })
}

/// Whether there is a file at `path`.
///
/// # Errors
///
/// There is something else, such as a link.
pub(super) fn is_file(path: &Path) -> Result<bool> {
    let is_there = unfollowed(path)?.is_some();
    in_file(path, plain::check(path))?;
    Ok(is_there)
}

/// Bytes that the file at `path` takes, without its holes.
pub(super) fn size(path: &Path) -> Result<u64> {
    let metadata = at(path, Step::Look, || fs::metadata(path))?;
    Ok(metadata.len().min(occupied(&metadata)))
}

#[cfg(unix)]
fn occupied(metadata: &fs::Metadata) -> u64 {
    const BLOCK: u64 = 512;
    std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(BLOCK)
}

#[cfg(not(unix))]
fn occupied(_: &fs::Metadata) -> u64 {
    u64::MAX
}

/// The paths of what is in a folder, in no order.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    list_some(folder, usize::MAX)
}

/// Those of at most so many of them.
pub(super) fn list_some(folder: &Path, most: usize) -> Result<Vec<PathBuf>> {
    at(folder, Step::Look, || {
        let entries = fs::read_dir(folder)?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths.take(most).collect()
    })
}

/// Makes the folder `path`, which is not there.
pub(super) fn create_folder(path: &Path) -> Result<()> {
    at(path, Step::MakeFolder, || fs::create_dir(path))
}

/// Makes the folder `path`, which is not there, for the same users as the one at `like`.
pub(super) fn create_folder_like(path: &Path, like: &Path) -> Result<()> {
    at(path, Step::MakeFolder, || {
        fs::create_dir(path)?;
        if cfg!(unix) {
            likeness::resemble(&fs::File::open(path)?, like);
        }
        Ok(())
    })
}

/// Folders that were made, those above others first.
#[derive(Debug, Default)]
pub(super) struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Takes those away that hold nothing.
    pub(super) fn undo(self) {
        for path in self.0.iter().rev() {
            at(path, Step::RemoveFolder, || fs::remove_dir(path)).unwrap_or_default();
        }
    }
}

/// Makes the folder `path`, and those above it, where they are missing; their names are durable then.
pub(super) fn create_folders(path: &Path) -> Result<MadeFolders> {
    let mut made = MadeFolders::default();
    let done = add_folders(path, &mut made.0);
    if done.is_err() {
        made.undo();
        return done.map(|()| MadeFolders::default());
    }
    Ok(made)
}

fn add_folders(path: &Path, made: &mut Vec<PathBuf>) -> Result<()> {
    if metadata(path)?.is_some_and(|found| found.is_dir()) {
        return Ok(());
    }
    let parent = parent(path);
    add_folders(parent, made)?;
    let is_ours = at(path, Step::MakeFolder, || match fs::create_dir(path) {
        // Someone else made it in the meantime.
        Err(_) if path.is_dir() => Ok(false),
        made => made.map(|()| true),
    })?;
    if is_ours {
        // If it stayed after an error, the next attempt would take its name for durable.
        made.push(path.to_owned());
    }
    sync_folder(parent)
}

/// The folder that `path` is in.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Renames a file or a folder, in place of a file that has the name `to`.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    let renamed = step(from, Step::RenameTo(to), || fs::rename(from, to));
    renamed.map_err(|source| Error::io(to, source))
}

/// Removes a file.
pub(super) fn remove(path: &Path) -> Result<()> {
    at(path, Step::Remove, || fs::remove_file(path))
}

/// Removes a folder with all that is in it.
pub(super) fn remove_folder(path: &Path) -> Result<()> {
    at(path, Step::RemoveFolder, || fs::remove_dir_all(path))
}

/// Makes the names in `folder` durable.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    let done = sync(folder, Step::SyncFolder, || {
        if cfg!(unix) {
            fs::File::open(folder)?.sync_all()?;
        }
        Ok(())
    });
    done.map_err(|source| Error::io(folder, source))
}

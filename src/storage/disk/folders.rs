//! Operations on folders.

use std::fs;
use std::path::{Path, PathBuf};

use super::likeness;
use super::path::metadata;
use super::step::{DiskStep, at};
use super::sync;
use super::unsynced_folder::is_fleeting;
use crate::error::{Error, Result};

/// Creates the folder `path`, which must not exist, for this user alone.
pub(in crate::storage) fn create_folder(path: &Path) -> Result<()> {
    at(path, DiskStep::MakeFolder, || {
        likeness::private_folder().create(path)
    })
}

/// Gives the folder `path` the access rights of the one at `like`, and makes them and the names in it durable.
///
/// If `like` is not writable, nothing can be created in `path` any more.
pub(in crate::storage) fn finish_folder(path: &Path, like: &Path) -> Result<()> {
    sync_after(path, |folder| likeness::resemble(folder, like))
}

/// The folders that a call created, parents first.
#[derive(Debug, Default)]
pub(in crate::storage) struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Removes those of the folders that are empty.
    pub(in crate::storage) fn undo(self) {
        for path in self.0.iter().rev() {
            at(path, DiskStep::RemoveFolder, || fs::remove_dir(path)).unwrap_or_default();
        }
    }
}

/// Creates the folder `path` and its missing parents. Their names are durable afterwards.
pub(in crate::storage) fn create_folders(path: &Path) -> Result<MadeFolders> {
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
    let is_ours = at(path, DiskStep::MakeFolder, || match fs::create_dir(path) {
        // Another process created it in the meantime.
        Err(_) if path.is_dir() => Ok(false),
        made => made.map(|()| true),
    })?;
    if is_ours {
        // If it stayed after an error, the next attempt would assume that its name is durable.
        made.push(path.to_owned());
    }
    sync_folder(parent)
}

/// The folder that contains `path`.
pub(in crate::storage) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Removes a folder with everything in it, even if [`finish_folder`] made it read-only.
pub(in crate::storage) fn remove_folder(path: &Path) -> Result<()> {
    at(path, DiskStep::RemoveFolder, || {
        likeness::own_folder(path);
        fs::remove_dir_all(path)
    })
}

/// Makes the names in `folder` durable.
pub(in crate::storage) fn sync_folder(folder: &Path) -> Result<()> {
    sync_after(folder, |_| ())
}

/// Does `work` with a folder, and makes the result and the names in the folder durable.
fn sync_after(folder: &Path, work: impl FnOnce(&fs::File)) -> Result<()> {
    let must_last = !is_fleeting(folder);
    let done = sync(folder, DiskStep::SyncFolder, || {
        if cfg!(unix) {
            let folder = fs::File::open(folder)?;
            work(&folder);
            if must_last {
                folder.sync_all()?;
            }
        }
        Ok(())
    });
    done.map_err(|source| Error::io(folder, source))
}

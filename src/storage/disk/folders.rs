//! Folders.

use std::fs;
use std::path::{Path, PathBuf};

use super::fleeting::is_fleeting;
use super::likeness;
use super::path::metadata;
use super::step::{Step, at};
use super::sync;
use crate::error::{Error, Result};

/// Makes the folder `path`, which is not there, for this user alone.
pub(in crate::storage) fn create_folder(path: &Path) -> Result<()> {
    at(path, Step::MakeFolder, || {
        likeness::private_folder().create(path)
    })
}

/// Gives the folder `path` to the users of the one at `like`, and makes that and the names in it durable.
/// Nothing can be made in it any more where nothing can be made in the other.
pub(in crate::storage) fn finish_folder(path: &Path, like: &Path) -> Result<()> {
    sync_after(path, |folder| likeness::resemble(folder, like))
}

/// Folders that were made, those above others first.
#[derive(Debug, Default)]
pub(in crate::storage) struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Takes those away that hold nothing.
    pub(in crate::storage) fn undo(self) {
        for path in self.0.iter().rev() {
            at(path, Step::RemoveFolder, || fs::remove_dir(path)).unwrap_or_default();
        }
    }
}

/// Makes the folder `path`, and those above it, where they are missing; their names are durable then.
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
pub(in crate::storage) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Removes a folder with all that is in it, also one that was finished like another in which nothing can be
/// made or removed.
pub(in crate::storage) fn remove_folder(path: &Path) -> Result<()> {
    at(path, Step::RemoveFolder, || {
        likeness::own_folder(path);
        fs::remove_dir_all(path)
    })
}

/// Makes the names in `folder` durable.
pub(in crate::storage) fn sync_folder(folder: &Path) -> Result<()> {
    sync_after(folder, |_| ())
}

/// Does something with a folder, and makes that and the names in it durable.
fn sync_after(folder: &Path, work: impl FnOnce(&fs::File)) -> Result<()> {
    let must_last = !is_fleeting(folder);
    let done = sync(folder, Step::SyncFolder, || {
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

//! A folder for a store that is being made, which appears whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use redb::Builder;

use super::files::sync_folder;
use super::index::INDEX;
use crate::error::{Error, Result};

/// Where a store is built, before it gets its name.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    parent: PathBuf,
    building: PathBuf,
}

impl Place {
    /// Makes the folder to build the store `folder` in. What a killed process left of one is cleared
    /// away.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyAStore`] or [`Error::Occupied`] if something is there, [`Error::Locked`] if
    /// another process is building the same store.
    pub(crate) fn new(folder: &Path) -> Result<Place> {
        check_free(folder)?;
        let Some(name) = folder.file_name() else {
            let reason = io::Error::new(
                io::ErrorKind::InvalidInput,
                "a folder to be made has a name",
            );
            return Err(Error::io(folder, reason));
        };
        let parent = match folder.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        fs::create_dir_all(&parent).map_err(|source| Error::io(&parent, source))?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".dedupdb-backup");
        let building = parent.join(hidden);
        if building.is_dir() {
            clear(&building)?;
        }
        fs::create_dir(&building).map_err(|source| Error::io(&building, source))?;
        Ok(Place {
            folder: folder.to_owned(),
            parent,
            building,
        })
    }

    /// Has `build` make the store in the folder that it is given, and gives that its name; after an
    /// error nothing is left.
    pub(crate) fn fill<T>(self, build: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let built = build(&self.building).and_then(|built| {
            fs::rename(&self.building, &self.folder)
                .map_err(|source| Error::io(&self.folder, source))?;
            Ok(built)
        });
        if built.is_err() {
            // The first error counts; what stays is cleared away by the next attempt.
            fs::remove_dir_all(&self.building).unwrap_or_default();
        }
        let built = built?;
        sync_folder(&self.parent)?;
        Ok(built)
    }
}

/// Clears away what a killed process left, unless a living one is at work there.
fn clear(building: &Path) -> Result<()> {
    let index = building.join(INDEX);
    if index.is_file()
        && let Err(error @ redb::DatabaseError::DatabaseAlreadyOpen) = Builder::new().open(&index)
    {
        return Err(Error::index(&index, error));
    }
    fs::remove_dir_all(building).map_err(|source| Error::io(building, source))
}

/// Refuses a folder that holds anything.
fn check_free(folder: &Path) -> Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    let path = folder.to_owned();
    if folder.join(INDEX).exists() {
        return Err(Error::AlreadyAStore { path });
    }
    let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty {
        return Ok(());
    }
    Err(Error::Occupied { path })
}

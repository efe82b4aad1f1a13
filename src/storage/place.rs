//! A folder for a store that is being made, which appears whole or not at all.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use redb::Builder;

use super::disk;
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
        let parent = disk::parent(folder).to_owned();
        disk::create_folders(&parent)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".dedupdb-backup");
        let building = parent.join(hidden);
        if disk::metadata(&building)?.is_some_and(|found| found.is_dir()) {
            clear(&building)?;
        }
        disk::create_folder(&building)?;
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
            disk::rename(&self.building, &self.folder)?;
            Ok(built)
        });
        if built.is_err() {
            // The first error counts; what stays is cleared away by the next attempt.
            disk::remove_folder(&self.building).unwrap_or_default();
        }
        let built = built?;
        if let Err(error) = disk::sync_folder(&self.parent) {
            // After an error there is no store.
            disk::remove_folder(&self.folder).unwrap_or_default();
            return Err(error);
        }
        Ok(built)
    }
}

/// Clears away what a killed process left, unless a living one is at work there.
fn clear(building: &Path) -> Result<()> {
    let index = building.join(INDEX);
    if disk::is_file(&index)?
        && let Err(error @ redb::DatabaseError::DatabaseAlreadyOpen) =
            disk::open_database(&Builder::new(), &index)
    {
        return Err(Error::index(&index, error));
    }
    disk::remove_folder(building)
}

/// Refuses a folder that holds anything.
fn check_free(folder: &Path) -> Result<()> {
    let Some(found) = disk::metadata(folder)? else {
        return Ok(());
    };
    let path = folder.to_owned();
    if disk::metadata(&folder.join(INDEX))?.is_some() {
        return Err(Error::AlreadyAStore { path });
    }
    if found.is_dir() && disk::list(folder)?.is_empty() {
        return Ok(());
    }
    Err(Error::Occupied { path })
}

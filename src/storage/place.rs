//! A folder for a store that is being made, which appears whole or not at all.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::apart::check_outside;
use super::disk::{self, FileLock};
use super::index::INDEX;
use crate::error::{Error, Result};

/// Where a store is built, before it gets its name.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    parent: PathBuf,
    building: PathBuf,
    /// Keeps others from what is being built; dropped last.
    _lock: FileLock,
}

impl Place {
    /// Makes the folder to build the store `folder` in. What a killed process left of one is cleared
    /// away.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyAStore`] or [`Error::Occupied`] if something is there, [`Error::Locked`] if
    /// another process is building the same store, [`Error::InsideStore`].
    pub(crate) fn new(folder: &Path) -> Result<Place> {
        check_free(folder)?;
        check_outside(folder)?;
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
        let building = parent.join(&hidden);
        hidden.push(".lock");
        let Some(lock) = FileLock::take(&parent.join(hidden))? else {
            let (path, holder) = (folder.to_owned(), None);
            return Err(Error::Locked { path, holder });
        };
        // Someone may have been done with it in the meantime.
        check_free(folder)?;
        if disk::metadata(&building)?.is_some_and(|found| found.is_dir()) {
            disk::remove_folder(&building)?;
        }
        disk::create_folder(&building)?;
        Ok(Place {
            folder: folder.to_owned(),
            parent,
            building,
            _lock: lock,
        })
    }

    /// Has `build` make the store in the folder that it is given, and gives that its name; after an
    /// error nothing is left.
    pub(crate) fn fill<T>(self, build: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let built = build(&self.building).and_then(|built| {
            disk::sync_folder(&self.building)?;
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_place_is_one_builders_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let place = Place::new(&path).unwrap();
        let second = Place::new(&path);
        assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
        place
            .fill(|building| {
                assert!(matches!(Place::new(&path), Err(Error::Locked { .. })));
                fs::write(building.join(INDEX), "").unwrap();
                Ok(())
            })
            .unwrap();
        assert!(matches!(
            Place::new(&path),
            Err(Error::AlreadyAStore { .. })
        ));
        assert_eq!(names(), 1);
    }

    #[test]
    fn what_a_killed_builder_left_is_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let building = folder.path().join(".store.dedupdb-backup");
        fs::create_dir(&building).unwrap();
        fs::write(building.join(INDEX), "no index").unwrap();
        fs::write(folder.path().join(".store.dedupdb-backup.lock"), "").unwrap();
        Place::new(&path)
            .unwrap()
            .fill(|building| {
                assert_eq!(fs::read_dir(building).unwrap().count(), 0);
                Ok(())
            })
            .unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

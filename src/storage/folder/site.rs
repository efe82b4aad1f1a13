//! A folder for a store that is being built, which appears complete or not at all.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::apart::check_outside;
use super::leftovers;
use crate::error::{Error, Result};
use crate::storage::disk::{self, FileLock, MadeFolders};
use crate::storage::names::INDEX;

/// The folder in which a store is built before it gets its name.
#[derive(Debug)]
pub(crate) struct BuildSite {
    folder: PathBuf,
    /// The folder whose access rights the store gets.
    like: PathBuf,
    parent: PathBuf,
    building: PathBuf,
    /// The parent folders that were created for it.
    made: MadeFolders,
    /// Keeps other processes out of the folder. Dropped last.
    _lock: FileLock,
}

impl BuildSite {
    /// Creates the folder in which to build the store `folder`, with the access rights of the folder `like`.
    ///
    /// Deletes the remains of a killed process.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyAStore`], [`Error::NotEmpty`] or [`Error::Occupied`] if something is in the way,
    /// [`Error::Locked`] if another process is building the same store, [`Error::InsideStore`].
    pub(crate) fn new(folder: &Path, like: &Path) -> Result<BuildSite> {
        check_free(folder, |_| false)?;
        check_outside(folder)?;
        let Some(name) = folder.file_name() else {
            let reason = io::Error::new(
                io::ErrorKind::InvalidInput,
                "a folder to be made has a name",
            );
            return Err(Error::io(folder, reason));
        };
        let parent = disk::parent(folder).to_owned();
        let made = disk::create_folders(&parent)?;
        match BuildSite::in_parent(folder, name, &parent) {
            Ok((building, lock)) => Ok(BuildSite {
                folder: folder.to_owned(),
                like: like.to_owned(),
                parent,
                building,
                made,
                _lock: lock,
            }),
            Err(error) => {
                made.undo();
                Err(error)
            }
        }
    }

    /// Creates the hidden folder in `parent`, and locks it.
    fn in_parent(folder: &Path, name: &OsStr, parent: &Path) -> Result<(PathBuf, FileLock)> {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".dedupdb-backup");
        let building = parent.join(&hidden);
        hidden.push(".lock");
        let Some(lock) = FileLock::take(&parent.join(hidden))? else {
            let (path, holder) = (folder.to_owned(), None);
            return Err(Error::Locked { path, holder });
        };
        // Another process may have finished the store in the meantime.
        check_free(folder, |_| false)?;
        leftovers::clear_building(&building)?;
        disk::create_folder(&building)?;
        Ok((building, lock))
    }

    /// Lets `build` create the store in the folder that it is given, and renames that to its final name.
    ///
    /// Leaves nothing after an error.
    pub(crate) fn fill<T>(self, build: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let built = build(&self.building).and_then(|built| {
            disk::finish_folder(&self.building, &self.like)?;
            disk::rename(&self.building, &self.folder)?;
            Ok(built)
        });
        let built = match built {
            Ok(built) => built,
            Err(error) => {
                // The first error is the one to report. The next attempt deletes what remains.
                disk::remove_folder(&self.building).unwrap_or_default();
                let BuildSite {
                    made, _lock: lock, ..
                } = self;
                drop(lock);
                made.undo();
                return Err(error);
            }
        };
        if let Err(error) = disk::sync_folder(&self.parent) {
            // An error must leave no store.
            disk::remove_folder(&self.folder).unwrap_or_default();
            return Err(error);
        }
        Ok(built)
    }
}

/// Refuses a folder that holds anything except files with the names of leftovers.
///
/// # Errors
///
/// [`Error::AlreadyAStore`], [`Error::NotEmpty`], or [`Error::Occupied`] if it is not a folder.
pub(crate) fn check_free(folder: &Path, is_leftover: fn(&OsStr) -> bool) -> Result<()> {
    let Some(found) = disk::metadata(folder)? else {
        return Ok(());
    };
    let path = folder.to_owned();
    if !found.is_dir() {
        return Err(Error::Occupied { path });
    }
    if disk::is_file(&folder.join(INDEX))? {
        return Err(Error::AlreadyAStore { path });
    }
    let mut names: Vec<OsString> = disk::list(folder)?
        .iter()
        .filter_map(|path| path.file_name().map(OsStr::to_owned))
        .filter(|name| !is_leftover(name))
        .collect();
    names.sort_unstable();
    match names.into_iter().next() {
        None => Ok(()),
        // Another process created a store in the meantime.
        Some(_) if disk::is_file(&folder.join(INDEX))? => Err(Error::AlreadyAStore { path }),
        Some(name) => {
            let holds = name.to_string_lossy().into_owned();
            Err(Error::NotEmpty { path, holds })
        }
    }
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
        let place = BuildSite::new(&path, folder.path()).unwrap();
        let second = BuildSite::new(&path, folder.path());
        assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
        place
            .fill(|building| {
                assert!(matches!(
                    BuildSite::new(&path, folder.path()),
                    Err(Error::Locked { .. })
                ));
                fs::write(building.join(INDEX), "").unwrap();
                Ok(())
            })
            .unwrap();
        assert!(matches!(
            BuildSite::new(&path, folder.path()),
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
        fs::write(building.join(INDEX), [0; 40]).unwrap();
        fs::write(building.join("contents.1"), "dedupdb\n and no more").unwrap();
        fs::write(folder.path().join(".store.dedupdb-backup.lock"), "").unwrap();
        BuildSite::new(&path, folder.path())
            .unwrap()
            .fill(|building| {
                assert_eq!(fs::read_dir(building).unwrap().count(), 0);
                Ok(())
            })
            .unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_somebody_put_in_its_way_is_named_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/store");
        fs::create_dir(folder.path().join("a")).unwrap();
        let building = folder.path().join("a/.store.dedupdb-backup");
        let lock = folder.path().join("a/.store.dedupdb-backup.lock");
        fs::create_dir(&building).unwrap();
        for (name, text) in [
            ("thesis", "Chapter one"),
            (INDEX, "of names"),
            ("contents.1", "One"),
        ] {
            let file = building.join(name);
            fs::write(&file, text).unwrap();
            let refused = BuildSite::new(&path, folder.path()).map(drop).unwrap_err();
            assert!(
                matches!(&refused, Error::Occupied { path } if *path == file),
                "{refused}"
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            fs::remove_file(file).unwrap();
        }
        fs::remove_dir(&building).unwrap();
        fs::write(&building, "a file").unwrap();
        assert!(BuildSite::new(&path, folder.path()).is_err());
        fs::remove_file(&building).unwrap();
        fs::write(&lock, "a key").unwrap();
        let refused = BuildSite::new(&path, folder.path()).map(drop).unwrap_err();
        assert!(
            matches!(&refused, Error::Occupied { path } if *path == lock),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&lock).unwrap(), "a key");
    }

    #[test]
    fn after_an_error_no_folder_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let place = BuildSite::new(&folder.path().join("a/b/store"), folder.path()).unwrap();
        assert!(place.fill(|_| Err::<(), _>(Error::Full)).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

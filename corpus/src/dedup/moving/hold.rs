//! Holds a folder while files are moved to or from it, so that no other run moves files there.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{make_like, manifest};
use crate::dedup::error::{Error, Result};
use crate::publish;
use crate::publish::error::WithPath as _;
use crate::publish::work::is_same_file;

/// The locked file. It names its holder, and is removed when the run ends, unless the run is killed.
const NAME: &str = ".dedupdb-moving";

/// The list before it is complete.
const PART: &str = ".dedupdb-moved.part";

/// The names of files that dedupdb has in the folder that files are moved to.
pub(super) const RESERVED: [&str; 3] = [NAME, PART, manifest::NAME];

/// The start of the locked file's contents.
const START: &str = "process ";

/// The number of attempts at a folder that another process is about to remove.
const TRIES: usize = 100;

/// When a file, or its name or mode, last changed: seconds and nanoseconds of the file system.
pub(super) type ChangeTime = (i64, i64);

/// Returns when a file, or its name or mode, last changed.
pub(super) fn stamp(metadata: &Metadata) -> ChangeTime {
    (metadata.ctime(), metadata.ctime_nsec())
}

/// The purpose for which a folder is held.
#[derive(Clone, Copy, Debug)]
pub(super) enum HoldPurpose {
    Moving,
    Undoing,
}

/// While this exists, no other process moves files to the folder or back.
///
/// If the file system does not support locks, other processes are not kept out. Even then, a list is never replaced.
#[derive(Debug)]
pub(super) struct FolderHold {
    folder: PathBuf,
    file: File,
}

impl FolderHold {
    /// Creates `folder` if it does not exist, with the access rights of the folder `model`, and holds it if it contains
    /// only what a killed run left.
    ///
    /// # Errors
    ///
    /// The folder contains something else; [`Error::Held`]; those of the system.
    pub(super) fn make(folder: &Path, model: &Path) -> Result<FolderHold> {
        for _ in 0..TRIES {
            make_like(model, folder).of(folder)?;
            if !is_marked(folder) {
                check_free(folder)?;
            }
            let Some(hold) = FolderHold::take(folder, HoldPurpose::Moving)? else {
                continue;
            };
            check_free(folder)?;
            hold.remove_part();
            return Ok(hold);
        }
        Err(held(folder, ""))
    }

    /// Holds a folder. Returns `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::Held`]; those of the system; another kind of file has the name of the lock.
    pub(super) fn take(folder: &Path, what: HoldPurpose) -> Result<Option<FolderHold>> {
        let path = folder.join(NAME);
        for _ in 0..TRIES {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true);
            let opened = options.custom_flags(libc::O_NOFOLLOW).open(&path);
            let file = match opened {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                opened => opened.of(&path)?,
            };
            let note = note_of(&file).of(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(held(folder, &note)),
                Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => {
                    return Err(error).of(&path)?;
                }
                _ => {}
            }
            // The previous holder may have removed the file meanwhile.
            if !is_same_file(&file, &path) {
                continue;
            }
            if !note.is_empty() && !note.starts_with(START) {
                let reason = "dedupdb works with a file of this name; move this one away";
                return Err(publish::Error::foreign(&path, reason).into());
            }
            let hold = FolderHold {
                folder: folder.to_owned(),
                file,
            };
            match (hold.sign(what), what) {
                // Files are moved back even if the disk has no room for the note.
                (Err(error), HoldPurpose::Undoing) if is_full(&error) => {}
                (signed, _) => signed.of(&path)?,
            }
            return Ok(Some(hold));
        }
        Err(held(folder, ""))
    }

    fn sign(&self, what: HoldPurpose) -> io::Result<()> {
        let (process, what) = (
            std::process::id(),
            match what {
                HoldPurpose::Moving => "is moving files to it",
                HoldPurpose::Undoing => "is moving files back from it",
            },
        );
        self.file.set_len(0)?;
        (&self.file).write_all(format!("{START}{process} {what}\n").as_bytes())
    }

    /// Returns the time when the folder was taken, by the clock of the file system, which also dates changes of files.
    pub(super) fn since(&self) -> Result<ChangeTime> {
        let metadata = self.file.metadata().of(&self.folder)?;
        Ok(stamp(&metadata))
    }

    /// Removes a list that a killed run did not complete, from a folder that is free but for what such a run leaves.
    pub(super) fn remove_part(&self) {
        fs::remove_file(self.folder.join(PART)).unwrap_or_default();
    }

    /// Writes the list of the folder, durably. Returns its path.
    ///
    /// # Errors
    ///
    /// Those of the system. An existing list is not replaced.
    pub(super) fn list(&self, bytes: &[u8]) -> Result<PathBuf> {
        let (part, path) = (self.folder.join(PART), self.folder.join(manifest::NAME));
        // The list names files in folders that not everybody may read.
        let mut options = File::options();
        let options = options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&part).of(&part)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            self.remove_part();
        }
        written.of(&part)?;
        let renamed = publish::rename_to_free(&part, &path);
        if renamed.is_err() {
            self.remove_part();
        }
        match renamed {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let reason = "somebody made this meanwhile; it is not replaced";
                return Err(publish::Error::foreign(&path, reason).into());
            }
            renamed => renamed.of(&path)?,
        }
        publish::sync_folder(&self.folder).of(&self.folder)?;
        Ok(path)
    }
}

impl Drop for FolderHold {
    fn drop(&mut self) {
        // The lock is released after the name is removed.
        fs::remove_file(self.folder.join(NAME)).unwrap_or_default();
    }
}

/// Refuses a folder that contains anything but what a run leaves if it is killed before it moves a file. The locked
/// file is among that.
pub(super) fn check_free(folder: &Path) -> Result<()> {
    let found = fs::symlink_metadata(folder).of(folder)?;
    let mut is_free = found.is_dir();
    if is_free {
        let is_marked = is_marked(folder);
        for entry in fs::read_dir(folder).of(folder)? {
            let name = entry.of(folder)?.file_name();
            is_free &= is_marked && [NAME, PART].iter().any(|own| name == *own);
        }
    }
    if is_free {
        return Ok(());
    }
    let reason = "something is there already; choose a folder that is new or empty";
    Err(publish::Error::foreign(folder, reason).into())
}

/// Whether the disk, or what the user may have of it, has no room.
fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Whether a run holds the folder, or a killed one left its note there.
pub(super) fn is_marked(folder: &Path) -> bool {
    is_there(&folder.join(NAME))
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Returns the contents of the file: one short line.
fn note_of(mut file: &File) -> io::Result<String> {
    let mut note = Vec::new();
    if file.metadata()?.is_file() {
        file.take(100).read_to_end(&mut note)?;
        io::Seek::rewind(&mut file)?;
    }
    Ok(String::from_utf8_lossy(&note).trim_end().to_owned())
}

/// Returns the error for a folder that another process holds, as it says in `note`.
fn held(folder: &Path, note: &str) -> Error {
    let holder = if note.starts_with(START) {
        note
    } else {
        "another process is moving files to it or back"
    };
    Error::Held {
        path: folder.to_owned(),
        holder: holder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_holds_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let aside = folder.path().join("aside");
        let hold = FolderHold::make(&aside, folder.path()).unwrap();
        let held = FolderHold::take(&aside, HoldPurpose::Undoing)
            .unwrap_err()
            .to_string();
        let who = format!("process {} is moving files to it", std::process::id());
        assert!(held.contains(&who), "{held}");
        assert!(matches!(
            FolderHold::make(&aside, folder.path()),
            Err(Error::Held { .. })
        ));
        let list = hold.list(b"first").unwrap();
        assert!(hold.list(b"second").is_err(), "no list is replaced");
        assert_eq!(fs::read(&list).unwrap(), b"first");
        drop(hold);
        assert_eq!(fs::read_dir(&aside).unwrap().count(), 1);
        assert!(
            FolderHold::make(&aside, folder.path()).is_err(),
            "a list is there"
        );
        assert_eq!(fs::read_dir(&aside).unwrap().count(), 1);
        fs::remove_file(&list).unwrap();
        // Leftovers of killed runs do not make a folder unusable; other files do.
        fs::write(aside.join(NAME), "process 1 is moving files to it\n").unwrap();
        fs::write(aside.join(PART), "half").unwrap();
        drop(FolderHold::make(&aside, folder.path()).unwrap());
        assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
        fs::write(aside.join(NAME), "mine").unwrap();
        assert!(FolderHold::make(&aside, folder.path()).is_err());
        assert_eq!(fs::read(aside.join(NAME)).unwrap(), b"mine");
    }
}

//! The work folder beside an output, in which the output is built.

use crate::temporary::temporary_folder;
use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::apart::{NO_FOLDER, check_no_store, parts};
use super::error::{Error, Result, WithPath};
use super::existing_output::ExistingOutput;
use super::rights;
use super::steps::PublishSteps;

/// A file in every work folder. It is locked while the folder is in use.
const MARKER: &str = "dedupdb-work";

/// The output being written.
const OUTPUT: &str = "output";

/// Other files and folders that a run keeps here.
const OTHERS: [&str; 8] = [
    "store",
    "against",
    "texts",
    "records",
    "words",
    "keys",
    "counts",
    "contained",
];

/// The note of a run for the next one, in case it is killed.
const NOTE: &str = "publishing";

/// How often to retry when another process is about to remove the folder.
const TRIES: usize = 100;

/// A folder for temporary files. It is deleted when dropped.
#[derive(Debug)]
pub(crate) enum WorkFolder {
    /// For an output without a place.
    Temporary(TempDir),
    Beside(SiblingFolder),
}

/// A folder beside the place of an output.
#[derive(Debug)]
pub(crate) struct SiblingFolder {
    folder: PathBuf,
    /// The place of the output.
    place: PathBuf,
    /// The locked file.
    _marker: File,
    /// The note of an earlier run that was killed.
    note: Option<String>,
    /// Whether a run for this place was killed.
    is_left_over: bool,
    /// Whether the next run shall know that, too.
    keeps_trace: Cell<bool>,
    steps: PublishSteps,
}

impl WorkFolder {
    /// Creates a folder for an output without a place.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn temporary() -> Result<WorkFolder> {
        let place = std::env::temp_dir();
        let made =
            temporary_folder(&place).of_doing(&place, || "cannot make a temporary folder".into());
        Ok(WorkFolder::Temporary(made?))
    }

    /// Creates the folder for an output in `place`, which must be apart from all stores and from `stores`.
    ///
    /// `stores` are the folders in which the command is about to create stores. Deletes the remains of a killed run.
    ///
    /// # Errors
    ///
    /// Those of the system, or an error if the place is over, in or around a store, if another process writes the same
    /// output, or if the existing folder is not provably a work folder of this user.
    pub(crate) fn beside(place: &Path, stores: &[&Path]) -> Result<WorkFolder> {
        check_no_store(place, stores)?;
        WorkFolder::with(place, PublishSteps::default())
    }

    fn with(place: &Path, steps: PublishSteps) -> Result<WorkFolder> {
        let (parent, name) = parts(place)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".dedup");
        let folder = parent.join(hidden);
        let (marker, is_new) = enter(&folder, place)?;
        if !is_new {
            check_known(&folder)?;
        }
        let beside = SiblingFolder {
            note: fs::read_to_string(folder.join(NOTE)).ok(),
            is_left_over: !is_new,
            keeps_trace: Cell::new(false),
            folder,
            place: place.to_owned(),
            _marker: marker,
            steps,
        };
        // What a killed run left. The note is useful until there is an output.
        beside.clear().of(&beside.folder)?;
        Ok(WorkFolder::Beside(beside))
    }

    /// The path of the folder.
    pub(crate) fn folder(&self) -> &Path {
        match self {
            WorkFolder::Temporary(folder) => folder.path(),
            WorkFolder::Beside(beside) => &beside.folder,
        }
    }

    /// The path of a file or folder in it, by one of the known names.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        debug_assert!(
            [OUTPUT, NOTE].contains(&name) || OTHERS.contains(&name),
            "{name}"
        );
        self.folder().join(name)
    }

    /// The path at which the output is built.
    pub(crate) fn output(&self) -> PathBuf {
        self.path(OUTPUT)
    }

    /// The note of an earlier run, if it was killed after that.
    pub(crate) fn note(&self) -> Option<&str> {
        match self {
            WorkFolder::Beside(beside) => beside.note.as_deref(),
            WorkFolder::Temporary(_) => None,
        }
    }

    /// Whether an earlier run for this place was killed.
    pub(crate) fn is_left_over(&self) -> bool {
        match self {
            WorkFolder::Beside(beside) => beside.is_left_over,
            WorkFolder::Temporary(_) => false,
        }
    }

    /// Sets whether the next run shall know that an earlier one was killed. Publishing the output ends that.
    pub(crate) fn keep_trace(&self, keeps: bool) {
        if let WorkFolder::Beside(beside) = self {
            beside.keeps_trace.set(keeps && beside.is_left_over);
        }
    }

    /// Durably writes a note for the next run.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn set_note(&self, note: &str) -> Result<()> {
        let path = self.path(NOTE);
        let written = File::create(&path).and_then(|mut file| {
            io::Write::write_all(&mut file, note.as_bytes())?;
            file.sync_all()
        });
        let noted = written.and_then(|()| match self {
            WorkFolder::Beside(beside) => beside.steps.sync_folder(&beside.folder),
            WorkFolder::Temporary(_) => Ok(()),
        });
        noted.of(&path)
    }

    /// Puts the output into its place, durably. A file replaces a file, unless it `keeps` that. What else is there gets
    /// another name, which is returned.
    ///
    /// `existing` is what was there when the run began.
    ///
    /// # Errors
    ///
    /// Those of the system, or an error if what was in the place has changed. What was there is still in its place, or the
    /// error tells where it is.
    pub(crate) fn publish(
        &self,
        existing: &ExistingOutput,
        keeps: bool,
    ) -> Result<Option<PathBuf>> {
        let WorkFolder::Beside(beside) = self else {
            return Ok(None);
        };
        existing.check(&beside.place)?;
        let aside = beside.publish(existing, keeps)?;
        self.keep_trace(false);
        Ok(aside)
    }
}

impl SiblingFolder {
    fn publish(&self, existing: &ExistingOutput, keeps: bool) -> Result<Option<PathBuf>> {
        let (place, steps) = (&self.place, &self.steps);
        let (output, parent) = (self.folder.join(OUTPUT), parts(place)?.0);
        steps.sync_folder(&self.folder).of(place)?;
        if *existing != ExistingOutput::Nothing {
            let replaced = fs::symlink_metadata(place).of(place)?;
            if replaced.is_dir() == output.is_dir() {
                rights::keep(&output, &replaced).of(place)?;
            }
        }
        let mut aside = None;
        match existing {
            ExistingOutput::Nothing => {}
            // It must still be empty.
            ExistingOutput::EmptyFolder => fs::remove_dir(place).of(place)?,
            ExistingOutput::File(_) if output.is_file() && !keeps => {
                steps.rename_over(&output, place).of(place)?;
                steps.sync_folder(parent).of(place)?;
                return Ok(None);
            }
            ExistingOutput::File(_) | ExistingOutput::Folder => {
                aside = Some(self.put_aside().of(place)?);
            }
        }
        if let Err(error) = steps.rename_to_free(&output, place) {
            if let Some(aside) = &aside
                && steps.rename_to_free(aside, place).is_err()
            {
                let aside = aside.display();
                return Err(error).of_doing(place, || {
                    format!("the previous output was moved to {aside}")
                });
            }
            if error.kind() == ErrorKind::AlreadyExists {
                return Err(Error::Changed {
                    path: place.clone(),
                    reason: "another program made this meanwhile; it is not replaced".to_owned(),
                });
            }
            return Err(error).of(place);
        }
        steps.sync_folder(parent).of(place)?;
        Ok(aside)
    }

    /// Renames what is in the place to the first free one of `NAME.old`, `NAME.old2`, `NAME.old3` and so on.
    fn put_aside(&self) -> io::Result<PathBuf> {
        for number in 1_u64.. {
            let mut name = self.place.clone().into_os_string();
            name.push(".old");
            if number > 1 {
                name.push(number.to_string());
            }
            let aside = PathBuf::from(name);
            match self.steps.rename_to_free(&self.place, &aside) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                renamed => return renamed.map(|()| aside),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Deletes everything except the marker and the note, which is useful until there is an output.
    fn clear(&self) -> io::Result<()> {
        let mut names = OTHERS.iter().chain(&[OUTPUT]);
        names.try_for_each(|name| self.steps.remove(&self.folder.join(name)))
    }

    /// Deletes everything. The marker goes last, so that the remains are still recognized.
    fn remove(&self) -> io::Result<()> {
        self.clear()?;
        self.steps.remove(&self.folder.join(NOTE))?;
        self.steps.remove(&self.folder.join(MARKER))?;
        self.steps.remove(&self.folder)
    }
}

impl Drop for SiblingFolder {
    fn drop(&mut self) {
        // The next run removes what cannot be removed. The lock is released afterwards.
        drop(if self.keeps_trace.get() {
            self.clear()
        } else {
            self.remove()
        });
    }
}

/// Whether a folder is one in which a run makes an output, or was killed when it did.
pub(crate) fn is_work(folder: &Path) -> bool {
    let name = folder.file_name().and_then(std::ffi::OsStr::to_str);
    let place = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".dedup"));
    place.is_some() && folder.join(MARKER).is_file()
}

/// Refuses a work folder with anything that dedupdb did not put there.
fn check_known(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).of(folder)? {
        let found = entry.of(folder)?.file_name();
        let mut known = OTHERS.iter().chain(&[MARKER, NOTE, OUTPUT]);
        if !known.any(|known| found == *known) {
            let reason = "dedupdb did not put this into its work folder; move it away";
            return Err(Error::foreign(&folder.join(found), reason));
        }
    }
    Ok(())
}

/// Creates the folder, or takes over one that a killed run left.
///
/// Returns its locked marker, and whether the folder is new.
fn enter(folder: &Path, place: &Path) -> Result<(File, bool)> {
    for _ in 0..TRIES {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let is_new = match builder.create(folder) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error).of_doing(place, || NO_FOLDER.to_owned()),
        };
        if !is_new && !is_left_over(folder).of(folder)? {
            return Err(Error::foreign(
                folder,
                "dedupdb works in a folder of this name, and this is not one that it made for you; \
                 move it away",
            ));
        }
        let path = folder.join(MARKER);
        let opened = match File::create_new(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                File::options().read(true).write(true).open(&path)
            }
            opened => opened,
        };
        let marker = match opened {
            // The process that used the folder has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.of(folder)?,
        };
        match marker.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(error)) => return Err(error).of(folder),
        }
        // The process that used it may have removed it before it released the lock.
        if is_same_file(&marker, &path) {
            return Ok((marker, is_new));
        }
    }
    Err(Error::Busy {
        path: place.to_owned(),
    })
}

/// Whether a run of this user created this folder.
///
/// It must be no link, be closed to others, and have a marker or, after an early kill, be empty.
fn is_left_over(folder: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        found => found?,
    };
    if !found.is_dir() || !is_private(&found) {
        return Ok(false);
    }
    match fs::symlink_metadata(folder.join(MARKER)) {
        Ok(marker) => Ok(marker.is_file() && is_own(&marker)),
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            entries => Ok(entries?.next().is_none()),
        },
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_private(folder: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    is_own(folder) && folder.permissions().mode() & 0o777 == 0o700
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

/// Whether an open file is the one at a path, without following a link.
#[cfg(unix)]
pub(crate) fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(file), Ok(path)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (file.dev(), file.ino()) == (path.dev(), path.ino())
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
pub(crate) fn is_same_file(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests;

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

/// The output being written, and afterwards what it replaced.
const OUTPUT: &str = "output";

/// What was in the place, on a system that cannot exchange two names.
const OLD: &str = "old";

/// Other files and folders that a run keeps here.
const OTHERS: [&str; 4] = ["store", "against", "texts", "records"];

/// The note of a run for the next one, in case it is killed.
const NOTE: &str = "publishing";

/// How often to retry when another process is about to remove the folder.
const TRIES: usize = 100;

/// A folder for temporary files. It is deleted when dropped, unless it has the only copy of something.
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
    /// Whether to keep the folder, because it may have the only copy of something.
    keeps: Cell<bool>,
    /// The note of an earlier run that was killed.
    note: Option<String>,
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
    /// `stores` are the folders in which the command is about to create stores. Deletes the remains of a killed run. If
    /// that left the place empty, what was there is put back.
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
        let note = fs::read_to_string(folder.join(NOTE)).ok();
        let beside = SiblingFolder {
            folder,
            place: place.to_owned(),
            _marker: marker,
            // The content of the folder is not yet known.
            keeps: Cell::new(true),
            note,
            steps,
        };
        if !is_new {
            beside.recover()?;
        }
        beside.keeps.set(false);
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

    /// Puts the output into its place, and then deletes what was there.
    ///
    /// `standing` is what was there when the run began. It is deleted once the output is durable.
    ///
    /// # Errors
    ///
    /// Those of the system, or an error if what was in the place has changed. The place then has either that or the
    /// output, and the other one is kept unless the output is durable in the place.
    pub(crate) fn publish(&self, standing: &ExistingOutput) -> Result<()> {
        let WorkFolder::Beside(beside) = self else {
            return Ok(());
        };
        standing.check(&beside.place)?;
        beside.publish(standing)
    }
}

impl SiblingFolder {
    fn publish(&self, standing: &ExistingOutput) -> Result<()> {
        let place = &self.place;
        let (output, parent) = (self.folder.join(OUTPUT), parts(place)?.0);
        self.steps.sync_folder(&self.folder).of(place)?;
        if *standing == ExistingOutput::Nothing {
            let renamed = self.steps.rename_to_free(&output, place);
            if matches!(&renamed, Err(error) if error.kind() == ErrorKind::AlreadyExists) {
                return Err(Error::Changed {
                    path: place.clone(),
                    reason: "somebody made this meanwhile; it is not replaced".to_owned(),
                });
            }
            renamed.of(place)?;
            return self.steps.sync_folder(parent).of(place);
        }
        self.keeps.set(true);
        match self.replace(standing) {
            Ok(()) => {}
            Err(PlacementFailure::AsBefore(error)) => {
                self.keeps.set(false);
                return Err(error).of(place);
            }
            Err(PlacementFailure::WithoutPlace(error)) => {
                let old = self.folder.join(OLD);
                return Err(error).of_doing(place, || {
                    let old = old.display();
                    format!("what stood here is {old} now, and the next run puts it back")
                });
            }
        }
        let durable = self.steps.sync_folder(parent);
        let durable = durable.and_then(|()| self.steps.sync_folder(&self.folder));
        durable.of_doing(place, || {
            let folder = self.folder.display();
            format!("it has its place, but may not be durable; what it replaced is in {folder}")
        })?;
        self.keeps.set(false);
        // This does not wait for the drop, since the caller wants to be done soon. The next run removes what cannot be
        // removed now.
        for replaced in [&output, &self.folder.join(OLD)] {
            drop(self.steps.remove(replaced));
        }
        Ok(())
    }

    /// Replaces what is in the place by the output, in one step if the system can do that.
    fn replace(&self, standing: &ExistingOutput) -> Result<(), PlacementFailure> {
        let (output, old) = (self.folder.join(OUTPUT), self.folder.join(OLD));
        let steps = &self.steps;
        let replaced = fs::symlink_metadata(&self.place).map_err(PlacementFailure::AsBefore)?;
        if replaced.is_dir() == output.is_dir() {
            rights::keep(&output, &replaced).map_err(PlacementFailure::AsBefore)?;
        }
        if steps
            .exchange(&output, &self.place)
            .map_err(PlacementFailure::AsBefore)?
        {
            return Ok(());
        }
        let is_file = matches!(standing, ExistingOutput::File(_)) && output.is_file();
        if is_file {
            return steps
                .rename_over(&output, &self.place)
                .map_err(PlacementFailure::AsBefore);
        }
        steps
            .rename_to_free(&self.place, &old)
            .map_err(PlacementFailure::AsBefore)?;
        steps.rename_to_free(&output, &self.place).map_err(|error| {
            match steps.rename_to_free(&old, &self.place) {
                Ok(()) => PlacementFailure::AsBefore(error),
                Err(_) => PlacementFailure::WithoutPlace(error),
            }
        })
    }

    /// Deletes the remains of a killed run, or puts back what it took from the place.
    fn recover(&self) -> Result<()> {
        let folder = &self.folder;
        for entry in fs::read_dir(folder).of(folder)? {
            let found = entry.of(folder)?.file_name();
            let mut known = OTHERS.iter().chain(&[MARKER, NOTE, OUTPUT, OLD]);
            if !known.any(|known| found == *known) {
                let reason = "dedupdb did not put this into its work folder; move it away";
                return Err(Error::foreign(&folder.join(found), reason));
            }
        }
        let (old, parent) = (folder.join(OLD), parts(&self.place)?.0);
        if is_there(&old).of(folder)? {
            if !is_there(&self.place).of(folder)? {
                let back = self.steps.rename_to_free(&old, &self.place);
                back.of(&self.place)?;
            } else if is_there(&folder.join(OUTPUT)).of(folder)? {
                let place = self.place.display();
                return Err(Error::foreign(
                    &old,
                    format!(
                        "this is what a killed run took away from {place}, where something else is \
                         now; move one of them away"
                    ),
                ));
            }
        }
        // What is in the place must be durable there before what it replaced is deleted.
        self.steps.sync_folder(parent).of(folder)?;
        self.clear().of(folder)
    }

    /// Deletes everything except the marker and the note, which is useful until there is an output.
    fn clear(&self) -> io::Result<()> {
        let mut names = OTHERS.iter().chain(&[OUTPUT, OLD]);
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
        if !self.keeps.get() {
            // The next run removes what cannot be removed. The lock is released afterwards.
            drop(self.remove());
        }
    }
}

/// Whether a folder is one in which a run makes an output, or was killed when it did.
pub(crate) fn is_work(folder: &Path) -> bool {
    let name = folder.file_name().and_then(std::ffi::OsStr::to_str);
    let place = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".dedup"));
    place.is_some() && folder.join(MARKER).is_file()
}

/// Why an output did not get its place.
enum PlacementFailure {
    /// The place is unchanged.
    AsBefore(io::Error),
    /// What was in the place was moved away and could not be put back.
    WithoutPlace(io::Error),
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

fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;

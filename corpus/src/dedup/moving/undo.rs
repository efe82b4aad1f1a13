//! Moves files back to where they were.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::hold::{self, FolderHold, HoldPurpose};
use super::manifest::{ManifestEntry, MoveManifest, MovedFileState, NAME};
use super::move_run::clear;
use dedupdb::Progress;

use super::{LeftReason, MoveEvent, MoveReporter, MoveSummary, rename};
use crate::dedup::claim::FolderClaim;
use crate::dedup::error::{Error, Result};
use crate::publish::error::WithPath as _;

/// Moves back the files that a [`Move`](super::Move) moved.
///
/// The list that the move wrote is in the folder to which the files were moved, wherever that is now. If both folders were
/// moved or copied together, the files go back to the folder that lies beside the list as the original did. Files that are
/// already back are left alone, so an undo that was killed continues when it is repeated, even if all files were back.
/// Files are moved by a rename that replaces nothing. When all files are back, except those that are in neither place,
/// the list and the empty folders are deleted. A file that the system does not let us look at may be there, so the list
/// stays.
#[derive(Clone, Debug)]
#[must_use = "nothing is done before it is run"]
pub struct Undo {
    manifest: PathBuf,
    pretend: bool,
    progress: Progress,
}

impl Undo {
    /// Takes this list, a file named `.dedupdb-moved`, or the list in this folder.
    pub fn new(manifest: impl Into<PathBuf>) -> Undo {
        Undo {
            manifest: manifest.into(),
            pretend: false,
            progress: Progress::new(),
        }
    }

    /// Sets whether to report everything but change nothing.
    pub fn pretend(self, pretend: bool) -> Undo {
        Undo { pretend, ..self }
    }

    /// Sets what stops the undo.
    pub fn progress(self, progress: &Progress) -> Undo {
        Undo {
            progress: progress.clone(),
            ..self
        }
    }

    /// Moves the files back. The observer receives each event. If an existing file could not be moved, the list stays.
    ///
    /// # Errors
    ///
    /// [`Error::BadManifest`], [`Error::NotFound`], [`Error::NoFolder`] and [`Error::Held`], before anything is moved;
    /// [`Error::Stopped`], after which the same undo continues.
    pub fn run(mut self, mut observe: impl FnMut(MoveEvent<'_>)) -> Result<MoveSummary, Error> {
        let Some(path) = self.list()? else {
            return self.without_list();
        };
        let target = path.parent().unwrap_or(Path::new("/"));
        let mut manifest = MoveManifest::read(&path, &self.manifest)?;
        let hold = if self.pretend {
            None
        } else {
            let hold = FolderHold::take(target, HoldPurpose::Undoing)?;
            // The previous holder may have moved all files back.
            let list = fs::symlink_metadata(&path);
            if list.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                drop(hold);
                // Only an empty folder is removed.
                fs::remove_dir(target).unwrap_or_default();
                return self.without_list();
            }
            manifest = MoveManifest::read(&path, &self.manifest)?;
            hold
        };
        let bad = |reason| Error::BadManifest {
            path: self.manifest.clone(),
            reason,
        };
        let root = &manifest.root(target).map_err(bad)?;
        match fs::symlink_metadata(root) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::NotFound { path: root.clone() });
            }
            found => found.of(root)?,
        };
        if fs::canonicalize(root).ok().as_ref() != Some(root) || !root.is_dir() {
            return Err(Error::NoFolder { path: root.clone() });
        }
        let claim = hold.as_ref().map(|_| FolderClaim::of(&[root, target]));
        let _claim = claim.transpose()?;
        let mut told = MoveReporter {
            summary: MoveSummary::default(),
            observe: &mut observe,
            progress: self.progress.clone(),
        };
        let mut counted = HashSet::new();
        let mut stays = self.pretend;
        for file in &manifest.files {
            let (from, to) = (target.join(&file.path), root.join(&file.path));
            match self.put_back(file, (&from, &to), (root, target)) {
                Ok(None) => {}
                Ok(Some(moved)) => {
                    told.summary.files += 1;
                    // Several names may belong to one file.
                    if counted.insert((moved.dev(), moved.ino())) {
                        told.summary.bytes += moved.len();
                    }
                    told.returned(file, &from, &to)?;
                }
                Err(left) => {
                    stays |= !left.is_gone;
                    told.left(&from, &left)?;
                }
            }
        }
        if stays {
            told.summary.manifest = Some(self.manifest.clone());
        } else {
            clear(target, &manifest);
            fs::remove_file(&path).of(&path)?;
            drop(hold);
            // Only an empty folder is removed.
            fs::remove_dir(target).unwrap_or_default();
        }
        Ok(told.summary)
    }

    /// Returns the resolved path of the list, if it exists. A folder stands for the list in it.
    fn list(&mut self) -> Result<Option<PathBuf>> {
        if self.manifest.is_dir() {
            self.manifest.push(NAME);
        }
        match fs::canonicalize(&self.manifest) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => Ok(Some(found.of(&self.manifest)?)),
        }
    }

    /// Removes the folder of a list that does not exist, if it contains only what a killed run leaves there: its move
    /// had not moved a file, or its undo had moved back all of them.
    ///
    /// # Errors
    ///
    /// [`Error::Held`]; [`Error::BadManifest`] if it is no such folder.
    fn without_list(&self) -> Result<MoveSummary> {
        let folder = self.manifest.parent().map(|folder| {
            let is_current = folder.as_os_str().is_empty();
            if is_current { Path::new(".") } else { folder }
        });
        let folder = folder.filter(|_| !self.pretend && self.manifest.ends_with(NAME));
        if let Some(folder) = folder.filter(|folder| hold::is_marked(folder)) {
            // A run that holds the folder has not started to move files.
            let hold = FolderHold::take(folder, HoldPurpose::Undoing)?;
            let folder = fs::canonicalize(folder).of(folder)?;
            if hold::check_free(&folder).is_ok() {
                if let Some(hold) = &hold {
                    hold.remove_part();
                }
                drop(hold);
                // Only an empty folder is removed.
                fs::remove_dir(folder).unwrap_or_default();
                return Ok(MoveSummary::default());
            }
        }
        Err(Error::BadManifest {
            path: self.manifest.clone(),
            reason: "no list of moved files here. Was it undone already, or is it in another \
                     folder?"
                .to_owned(),
        })
    }

    /// Moves a file back. Returns its metadata, or `None` if it is already back.
    fn put_back(
        &self,
        file: &ManifestEntry,
        (from, to): (&Path, &Path),
        (root, target): (&Path, &Path),
    ) -> Result<Option<Metadata>, LeftReason> {
        let (moved, there) = (metadata_of(from)?, metadata_of(to)?);
        let Some(moved) = moved else {
            return match there {
                // It was moved back by hand.
                Some(there) if there.is_file() && MovedFileState::of(&there) == file.state => {
                    Ok(None)
                }
                // Not a failure: it may have been edited here before an unfinished undo moved it back.
                Some(there) if there.is_file() => Err(LeftReason {
                    is_failure: false,
                    ..LeftReason::gone(format!(
                        "it is not here; a file is at {} already, which was edited since the move or is another one",
                        to.display()
                    ))
                }),
                _ => Err(LeftReason::gone(format!(
                    "it is not here any more, nor is it at {}; it cannot be moved back",
                    to.display()
                ))),
            };
        };
        // Both are names of one file: a move was killed between creating one and removing the other.
        let has_both = there.as_ref().is_some_and(|there| {
            there.nlink() > 1 && (there.dev(), there.ino()) == (moved.dev(), moved.ino())
        });
        if there.is_some() && !has_both {
            return Err(LeftReason::failure(format!(
                "{} exists already",
                to.display()
            )));
        }
        if !moved.is_file() || !is_inside(from, target) {
            return Err(LeftReason::failure("it is no file of this folder any more"));
        }
        if !is_inside(to, root) {
            let to = to.display();
            return Err(LeftReason::failure(format!(
                "a symbolic link is on the way to {to}"
            )));
        }
        if self.pretend {
            return Ok(Some(moved));
        }
        if has_both && from != to {
            let removed = fs::remove_file(from);
            removed.map_err(|error| LeftReason::failure(format!("it cannot be moved: {error}")))?;
        } else {
            rename(from, to)?;
        }
        Ok(Some(moved))
    }
}

impl MoveReporter<'_> {
    fn returned(&mut self, file: &ManifestEntry, from: &Path, to: &Path) -> Result<()> {
        self.tell(MoveEvent::Moved {
            from,
            to,
            like: &file.like,
            similarity: file.similarity,
            exact_copy: file.exact_copy,
        })
    }
}

/// Returns the metadata of a file, or `None` if there is no such file. Any other error says nothing about whether there is
/// one, so the list must stay.
fn metadata_of(path: &Path) -> Result<Option<Metadata>, LeftReason> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LeftReason::failure(format!(
            "{} cannot be looked at: {error}",
            path.display()
        ))),
    }
}

/// Whether the existing part of the way to `path` is below `root`, without symbolic links.
fn is_inside(path: &Path, root: &Path) -> bool {
    let ways = path
        .ancestors()
        .skip(1)
        .take_while(|way| way.starts_with(root));
    let mut ways = ways.filter(|way| way.symlink_metadata().is_ok());
    ways.all(|way| fs::canonicalize(way).ok().as_deref() == Some(way))
}

//! Files that would be dropped, moved aside, and back.

mod manifest;
mod plan;
mod run;
mod undo;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::dedup::done::Done;
use crate::dedup::error::{Error, Result};
use crate::dedup::event::Event;
use crate::dedup::settings::Dedup;

pub use undo::Undo;

/// A folder whose near-duplicates are to be moved to another folder, each with its path below the first one.
///
/// Before the first file is moved, a list of all that are to be is durable in the other folder, `.dedupdb-moved`.
/// A file is moved by a rename that replaces nothing. So, whenever a run is killed, each file is in one of both
/// places, whole, and [`Undo`] moves all back.
///
/// Left where they are: records, of which a file has many; files that changed since the run began, or whose likes did;
/// files that a symbolic link in the folder leads to; and files whose names are not UTF-8.
///
/// ```
/// use std::ops::ControlFlow;
/// use dedupdb::dedup::{Dedup, Undo};
///
/// # let folder = tempfile::tempdir()?;
/// # let (notes, aside) = (folder.path().join("notes"), folder.path().join("aside"));
/// std::fs::create_dir(&notes)?;
/// std::fs::write(notes.join("a.txt"), "The night tram runs again from Friday on.")?;
/// std::fs::write(notes.join("b.txt"), "The night tram runs again from Friday on!")?;
/// let moved = Dedup::new([&notes]).move_to(&aside).run(|_| ControlFlow::Continue(()))?;
/// assert_eq!(moved.files, 1);
/// assert!(!notes.join("b.txt").exists() && aside.join("b.txt").exists());
///
/// Undo::new(moved.manifest.unwrap()).run(|_| ControlFlow::Continue(()))?;
/// assert!(notes.join("b.txt").exists() && !aside.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is done before it is run"]
pub struct Move {
    dedup: Dedup,
    target: PathBuf,
    pretend: bool,
}

/// An event for the observer of a [`Move`] or an [`Undo`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MoveEvent<'a> {
    /// What happens while the folder is read.
    Judging(&'a Event<'a>),
    /// A file was moved, or would be.
    Moved {
        /// Where it was.
        from: &'a Path,
        /// Where it is.
        to: &'a Path,
        /// The key of the document that it is like.
        like: &'a str,
        /// How alike they are: 0 to 1.
        similarity: f64,
    },
    /// A file is left where it is.
    Left {
        /// Where it is.
        file: &'a Path,
        /// Why.
        why: &'a str,
        /// Whether that is a failure, and not a choice.
        is_failure: bool,
    },
}

/// What was done by a [`Move`] or an [`Undo`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// Files that were moved, or would be.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that are left where they are by choice.
    pub left: u64,
    /// Files that could not be moved.
    pub failed: u64,
    /// Records that would be dropped: they stay in their files.
    pub records: u64,
    /// The list that [`Undo`] takes, if files were moved and it is still there.
    pub manifest: Option<PathBuf>,
    /// What was read; nothing of an undo.
    pub done: Option<Done>,
}

impl Dedup {
    /// Moves files that are dropped to the folder `target`, which is new or empty and on the same file system, in place
    /// of writing what is kept. The one source is a folder; symbolic links in it are not followed.
    pub fn move_to(self, target: impl Into<PathBuf>) -> Move {
        Move {
            dedup: self,
            target: target.into(),
            pretend: false,
        }
    }
}

impl Move {
    /// Whether everything is reported and nothing is changed.
    pub fn pretend(self, pretend: bool) -> Move {
        Move { pretend, ..self }
    }

    /// Reads and judges the whole folder, then moves, and tells the observer, who may stop it.
    ///
    /// # Errors
    ///
    /// Those of [`Dedup::run`]; [`Error::NoFolder`]; [`Error::Output`] where `target` cannot be used;
    /// [`Error::Stopped`]: what was moved stays so, and an [`Undo`] moves it back.
    pub fn run(
        self,
        mut observe: impl FnMut(MoveEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Moved, Error> {
        run::run(self, &mut observe)
    }
}

/// Counts, and tells the observer.
struct Told<'a> {
    moved: Moved,
    observe: &'a mut dyn FnMut(MoveEvent<'_>) -> ControlFlow<()>,
}

impl Told<'_> {
    fn tell(&mut self, event: MoveEvent<'_>) -> Result<()> {
        match (self.observe)(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }

    /// Counts and tells a file that stays.
    fn left(&mut self, file: &Path, left: &Left) -> Result<()> {
        let count = if left.is_failure {
            &mut self.moved.failed
        } else {
            &mut self.moved.left
        };
        *count += 1;
        self.tell(MoveEvent::Left {
            file,
            why: &left.why,
            is_failure: left.is_failure,
        })
    }
}

/// Why a file stays where it is.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    why: String,
    is_failure: bool,
}

impl Left {
    fn choice(why: &str) -> Left {
        Left {
            why: why.to_owned(),
            is_failure: false,
        }
    }

    fn failure(why: impl Into<String>) -> Left {
        Left {
            why: why.into(),
            is_failure: true,
        }
    }
}

/// Renames a file to a name that is free, in a folder that is made if it is not there.
fn rename(from: &Path, to: &Path) -> std::result::Result<(), Left> {
    use std::io::ErrorKind;
    let folder = to.parent().map_or(Ok(()), std::fs::create_dir_all);
    let renamed = folder.and_then(|()| crate::publish::rename_to_free(from, to));
    renamed.map_err(|error| {
        Left::failure(match error.kind() {
            ErrorKind::AlreadyExists => format!("{} exists already", to.display()),
            ErrorKind::CrossesDevices => {
                format!("{} is on another file system", to.display())
            }
            _ => format!("it cannot be moved: {error}"),
        })
    })
}

/// The folders on the ways to these paths, the deepest first.
fn folders_of<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let mut folders = std::collections::BTreeSet::new();
    for path in paths {
        for folder in path.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || !folders.insert(folder.to_owned()) {
                break;
            }
        }
    }
    folders.into_iter().rev().collect()
}

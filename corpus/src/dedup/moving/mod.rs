//! Moves files that would be dropped to another folder, and back.

mod complete;
mod hold;
mod manifest;
mod move_run;
mod plan;
mod undo;

use std::path::{Path, PathBuf};

use crate::dedup::error::{Error, Result};
use crate::dedup::event::DedupEvent;
use crate::dedup::settings::Dedup;
use crate::dedup::summary::DedupSummary;
use dedupdb::Progress;

pub use undo::Undo;

/// Moves the near-duplicates in a folder to another folder, where they keep their relative paths.
///
/// Of similar files, the one that [`Keep::Longest`](crate::dedup::Keep::Longest) prefers stays; [`Dedup::keep`] chooses
/// another rule. Another one moves if a file that stays has the same lines, and a page or a message if one has the same
/// bytes: nothing of it is missing then. One that is named like a copy of that file also moves if that goes on behind its
/// lines. [`Move::differing`] moves the others, too.
///
/// Before the first file is moved, a list of all files to move, `.dedupdb-moved`, is durable in the other folder. Files
/// are moved by a rename that replaces nothing. So, whenever a run is killed, each file is complete in one of the two
/// places, and [`Undo`] moves all of them back. Only one run at a time moves files to or from a folder and the folders
/// in it, if the file system supports locks on folders.
///
/// These are not moved: records; files that changed since the run began, or that resemble one that changed or is gone;
/// files to which a symbolic link in the folder leads; and files whose names are not UTF-8. With
/// [`Dedup::against_corpus`], files that are only read for comparison count as well, but no streams. With
/// [`Dedup::against`], a file only moves because of a stored document whose file exists, with the size and time that are
/// stored; of a record, the file that it came from must exist. Of copies in the folder itself, one stays.
///
/// ```
/// use dedupdb_corpus::dedup::{Dedup, Undo};
///
/// # let folder = tempfile::tempdir()?;
/// # let (notes, aside) = (folder.path().join("notes"), folder.path().join("aside"));
/// std::fs::create_dir(&notes)?;
/// std::fs::write(notes.join("a.txt"), "The night tram runs again from Friday on.")?;
/// std::fs::write(notes.join("b.txt"), "The night tram runs again from Friday on.\r\n")?;
/// let moved = Dedup::new([&notes]).move_to(&aside).run(|_| {})?;
/// assert_eq!(moved.files, 1);
/// assert!(!notes.join("b.txt").exists() && aside.join("b.txt").exists());
///
/// Undo::new(moved.manifest.unwrap()).run(|_| {})?;
/// assert!(notes.join("b.txt").exists() && !aside.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is done before it is run"]
pub struct Move {
    dedup: Dedup,
    target: PathBuf,
    differing: bool,
    pretend: bool,
}

/// An event for the observer of a [`Move`] or an [`Undo`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MoveEvent<'a> {
    /// An event of reading and judging the folder.
    Judging(&'a DedupEvent<'a>),
    /// A file was moved, or would be.
    Moved {
        /// Where it was.
        from: &'a Path,
        /// Where it is.
        to: &'a Path,
        /// The key of the document that it resembles.
        like: &'a str,
        /// Their similarity, 0 to 1.
        similarity: f64,
        /// Whether the two have the same text.
        exact_copy: bool,
    },
    /// A file was not moved.
    Left {
        /// Where it is.
        file: &'a Path,
        /// Why, and that it stays there, unless it no longer exists.
        why: &'a str,
        /// Whether this is a failure rather than a choice.
        is_failure: bool,
    },
}

/// The result of a [`Move`] or an [`Undo`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoveSummary {
    /// The number of files that were moved, or would be.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// The number of files that were left where they are on purpose.
    pub left: u64,
    /// The number of files that resemble one that stays, and stay because it has other lines.
    pub differing: u64,
    /// The number of files that could not be moved.
    pub failed: u64,
    /// The number of moved files, such as pages, of which only the extracted text is that of another file, not the bytes. It
    /// is 0 for an undo.
    pub other_bytes: u64,
    /// The number of records that would be dropped. They stay in their files.
    pub records: u64,
    /// The list for [`Undo`], if files were moved and it still exists.
    pub manifest: Option<PathBuf>,
    /// The result of judging the folder; `None` for an undo.
    pub done: Option<DedupSummary>,
}

impl Dedup {
    /// Moves the dropped files to the folder `target` instead of writing the kept ones. `target` must be new or
    /// empty and on the same file system. The only source must be a folder; symbolic links in it are not followed.
    pub fn move_to(self, target: impl Into<PathBuf>) -> Move {
        Move {
            dedup: self,
            target: target.into(),
            differing: false,
            pretend: false,
        }
    }
}

impl Move {
    /// Sets whether similar files move even if no file that stays has all their lines.
    pub fn differing(self, differing: bool) -> Move {
        Move { differing, ..self }
    }

    /// Sets whether to report everything but change nothing.
    pub fn pretend(self, pretend: bool) -> Move {
        Move { pretend, ..self }
    }

    /// Reads and judges the whole folder, and then moves files. The observer receives each event.
    ///
    /// # Errors
    ///
    /// Those of [`Dedup::run`]; [`Error::NoFolder`]; [`Error::Output`] if `target` cannot be used; [`Error::Held`] if
    /// another run moves files to or from one of the folders; [`Error::Stopped`], after which moved files stay moved,
    /// and an [`Undo`] moves them back.
    pub fn run(self, mut observe: impl FnMut(MoveEvent<'_>)) -> Result<MoveSummary, Error> {
        move_run::run(self, &mut observe)
    }
}

/// Counts the results, and reports to the observer.
struct MoveReporter<'a> {
    summary: MoveSummary,
    observe: &'a mut dyn FnMut(MoveEvent<'_>),
    progress: Progress,
}

impl MoveReporter<'_> {
    fn tell(&mut self, event: MoveEvent<'_>) -> Result<()> {
        (self.observe)(event);
        Ok(self.progress.go_on()?)
    }

    /// Counts and reports a file that stays.
    fn left(&mut self, file: &Path, left: &LeftReason) -> Result<()> {
        let count = if left.is_failure {
            &mut self.summary.failed
        } else {
            &mut self.summary.left
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
struct LeftReason {
    why: String,
    is_failure: bool,
    /// Whether the file does not exist.
    is_gone: bool,
}

impl LeftReason {
    fn choice(why: &str) -> LeftReason {
        LeftReason {
            why: format!("{why}; it stays there"),
            is_failure: false,
            is_gone: false,
        }
    }

    fn failure(why: impl std::fmt::Display) -> LeftReason {
        LeftReason {
            why: format!("{why}; it stays there"),
            is_failure: true,
            is_gone: false,
        }
    }

    /// Returns the reason for a file that changed while it was moved, and that cannot be moved back.
    fn moved(to: &Path) -> LeftReason {
        let to = to.display();
        LeftReason {
            why: format!(
                "it changed while it was moved; it is {to} now, because it cannot be moved back"
            ),
            is_failure: true,
            is_gone: false,
        }
    }

    /// Returns the reason for a file that does not exist.
    fn gone(why: impl Into<String>) -> LeftReason {
        LeftReason {
            why: why.into(),
            is_failure: true,
            is_gone: true,
        }
    }
}

/// Renames a file to an unused name. Missing folders are created like those on the way to the file.
fn rename(from: &Path, to: &Path) -> std::result::Result<(), LeftReason> {
    use std::io::ErrorKind;
    let folders = from.parent().zip(to.parent());
    let made = folders.map_or(Ok(()), |(from, to)| make_like(from, to));
    let renamed = made.and_then(|()| crate::publish::rename_to_free(from, to));
    renamed.map_err(|error| {
        LeftReason::failure(match error.kind() {
            ErrorKind::AlreadyExists => format!("{} exists already", to.display()),
            ErrorKind::CrossesDevices => {
                format!("{} is on another file system", to.display())
            }
            _ => format!("it cannot be moved: {error}"),
        })
    })
}

/// Creates a folder and its parents, each accessible to the same people as its counterpart: a file stays hidden from
/// those from whom it was hidden.
fn make_like(model: &Path, folder: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some((model, folder)) = model.parent().zip(folder.parent()) {
        make_like(model, folder)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            let model = std::fs::metadata(model)?;
            // Without the permission to change it, the owner is this user, as for a copied file.
            chown(folder, Some(model.uid()), Some(model.gid())).unwrap_or_default();
            // Files are still to be created in it, so the owner may write, whatever the mode of the model is.
            let mode = model.permissions().mode() | 0o700;
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode))
        }
    }
}

/// Returns all parent folders of these paths, the deepest first.
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

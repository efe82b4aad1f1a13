//! Replaces byte-identical files by links to one of them.

mod replace;
mod twins;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::Skipped;
use crate::dedup::claim::Claim;
use crate::dedup::error::{Error, Result};
use crate::dedup::link::replace::{Refusal, Replaced, leftover, replace};
use crate::dedup::link::twins::{Twin, twins};

/// What replaces a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// A hard link to the original. A change through one name changes both, and the time of the copy is lost.
    #[default]
    HardLink,
    /// A separate file with the time of the copy, which shares the bytes of the original on disk until one of the
    /// two changes. The file system must support this, as btrfs and XFS do.
    Reflink,
}

/// Lets the copies in a folder share their bytes.
///
/// A copy is replaced by a rename, so its name always leads to a file with these bytes. Right before that, it is
/// compared with the original byte for byte; it is left alone if one of them has changed. Files in stores, in
/// folders of version control, on other file systems and behind symbolic links are left alone, and so are copies
/// with another owner or mode, and those that would lose extended attributes, such as an access list. Only one run at a
/// time links or [moves](crate::dedup::Move) files of a folder, if the file system supports locks on folders.
///
/// ```
/// use std::ops::ControlFlow;
/// use dedupdb_corpus::dedup::Link;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("a.txt"), "The night tram runs again from Friday on.")?;
/// std::fs::copy(folder.join("a.txt"), folder.join("b.txt"))?;
/// let linked = Link::new(folder).run(|_| ControlFlow::Continue(()))?;
/// assert_eq!((linked.files, linked.copies), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is done before it is run"]
pub struct Link {
    folder: PathBuf,
    options: crate::Options,
    how: How,
    pretend: bool,
}

/// An event for the observer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LinkEvent<'a> {
    /// A copy was replaced, or would be.
    Linked {
        /// The copy.
        copy: &'a Path,
        /// The file of which it is a copy.
        original: &'a Path,
        /// The size of each, in bytes.
        bytes: u64,
    },
    /// A copy was left alone.
    Left {
        /// The copy.
        copy: &'a Path,
        /// The file of which it is a copy, or was when it was met.
        original: &'a Path,
        /// Why it was left alone.
        why: &'a str,
        /// Whether this is a failure rather than a choice.
        is_failure: bool,
    },
    /// A file or folder was not read.
    Skipped(&'a Skipped),
    /// The progress, after each file that was read.
    Progress {
        /// Files that were read.
        files: u64,
        /// Their bytes.
        bytes: u64,
    },
}

/// The result of a [`Link`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Linked {
    /// The number of files found.
    pub files: u64,
    /// The number of copies that were replaced, or would be.
    pub copies: u64,
    /// The bytes on disk that this freed or would free: those of copies without other names elsewhere.
    pub freed: u64,
    /// The number of copies that were left alone on purpose.
    pub left: u64,
    /// The number of files that could not be read and copies that could not be replaced.
    pub failed: u64,
}

impl Link {
    /// Selects all files of a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Link {
        Link {
            folder: folder.into(),
            options: crate::Options::new(),
            how: How::default(),
            pretend: false,
        }
    }

    /// Sets which files are read, by the patterns and the store of `options`; other options have no effect.
    /// Symbolic links are never followed.
    pub fn reading(self, options: crate::Options) -> Link {
        Link { options, ..self }
    }

    /// Sets what replaces copies.
    pub fn how(self, how: How) -> Link {
        Link { how, ..self }
    }

    /// Sets whether to report everything but change nothing.
    pub fn pretend(self, pretend: bool) -> Link {
        Link { pretend, ..self }
    }

    /// Reads the files that have the same size as another one, and replaces copies of the first of several identical
    /// files, in the order of their names. The observer may stop the run between two files.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::NoFolder`], also for a symbolic link; [`Error::Held`]; [`Error::Stopped`], after which replaced
    /// copies stay replaced.
    pub fn run(
        self,
        mut observe: impl FnMut(LinkEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Linked, Error> {
        let path = self.folder.clone();
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(Error::NoFolder { path }),
            Err(_) => return Err(Error::NotFound { path }),
        }
        let mut told = Told {
            linked: Linked::default(),
            observe: &mut observe,
        };
        let options = self.options.clone().follow(false);
        let _claim = match std::fs::canonicalize(&self.folder) {
            Ok(root) if !self.pretend => Some(Claim::of(&[&root])?),
            _ => None,
        };
        let groups = twins(&self.folder, &options, self.pretend, &mut told)?;
        for group in groups {
            self.link(&group, &mut told)?;
        }
        Ok(told.linked)
    }

    /// Replaces the copies of the first file of `group`.
    fn link(&self, group: &[Twin], told: &mut Told<'_>) -> Result<()> {
        let Some((mut original, copies)) = group.split_first() else {
            return Ok(());
        };
        for copy in copies {
            let mut left = copy.names.len();
            for name in &copy.names {
                let replaced = replace(original, copy, name, self.how, self.pretend);
                let event = match &replaced {
                    Ok(Replaced) => {
                        told.linked.copies += 1;
                        left -= 1;
                        LinkEvent::Linked {
                            copy: name,
                            original: original.name(),
                            bytes: copy.size,
                        }
                    }
                    Err(Refusal {
                        why, is_failure, ..
                    }) => {
                        let count = if *is_failure {
                            &mut told.linked.failed
                        } else {
                            &mut told.linked.left
                        };
                        *count += 1;
                        LinkEvent::Left {
                            copy: name,
                            original: original.name(),
                            why,
                            is_failure: *is_failure,
                        }
                    }
                };
                told.tell(event)?;
                if matches!(&replaced, Err(refusal) if refusal.is_full()) {
                    // The next ones become names of this copy.
                    original = copy;
                    break;
                }
            }
            let has_others = copy.links > copy.names.len() as u64;
            if left == 0 && !has_others {
                told.linked.freed += copy.size;
            }
        }
        Ok(())
    }
}

/// Counts the results, and reports to the observer.
pub(super) struct Told<'a> {
    linked: Linked,
    observe: &'a mut dyn FnMut(LinkEvent<'_>) -> ControlFlow<()>,
}

impl Told<'_> {
    fn tell(&mut self, event: LinkEvent<'_>) -> Result<()> {
        match (self.observe)(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }
}

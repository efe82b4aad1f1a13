//! Files that are the same byte for byte, made one file of several names.

mod replace;
mod twins;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::corpus::{self, Skipped};
use crate::dedup::error::{Error, Result};
use crate::dedup::link::replace::{Refusal, Replaced, leftover, replace};
use crate::dedup::link::twins::{Twin, twins};

/// What takes the place of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// Another name of the file that it is a copy of. To change one is to change both, and the time of the copy is
    /// gone.
    #[default]
    HardLink,
    /// A file of its own that shares its bytes on disk until one is changed, with the copy's time. The file system
    /// has to know that, as btrfs and XFS do.
    Reflink,
}

/// A folder in which copies are to share their bytes.
///
/// Copies are replaced by a rename, so that at any moment the name is that of a file with these bytes. A file is
/// compared with the one whose name it becomes byte for byte before that, and left as it is if it changed since
/// it was met. Files in stores, in the folders of version control, on other file systems and behind symbolic links
/// are left alone, and so are copies of another owner or mode.
///
/// ```
/// use std::ops::ControlFlow;
/// use dedupdb::dedup::Link;
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
    options: corpus::Options,
    how: How,
    pretend: bool,
}

/// An event for the observer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LinkEvent<'a> {
    /// A copy became a name of another file, or would.
    Linked {
        /// The copy.
        copy: &'a Path,
        /// The file that it is a copy of.
        original: &'a Path,
        /// Bytes of each.
        bytes: u64,
    },
    /// A copy is left as it is.
    Left {
        /// The copy.
        copy: &'a Path,
        /// The file that it is a copy of, or was when it was met.
        original: &'a Path,
        /// Why.
        why: &'a str,
        /// Whether that is a failure, and not a choice.
        is_failure: bool,
    },
    /// A file or folder is not looked at.
    Skipped(&'a Skipped),
    /// How far it is, told after each file that was read.
    Progress {
        /// Files that were read.
        files: u64,
        /// Their bytes.
        bytes: u64,
    },
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Linked {
    /// Files that were met.
    pub files: u64,
    /// Copies that became names of other files, or would.
    pub copies: u64,
    /// Bytes on disk that are free for that, or would be: of copies that had no other name outside.
    pub freed: u64,
    /// Copies that are left as they are by choice.
    pub left: u64,
    /// What failed: files that cannot be read, and copies that cannot be replaced.
    pub failed: u64,
}

impl Link {
    /// All files of a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Link {
        Link {
            folder: folder.into(),
            options: corpus::Options::new(),
            how: How::default(),
            pretend: false,
        }
    }

    /// Which files are looked at: the patterns and the store of `options` count. Symbolic links are never followed.
    pub fn reading(self, options: corpus::Options) -> Link {
        Link { options, ..self }
    }

    /// What takes the place of copies.
    pub fn how(self, how: How) -> Link {
        Link { how, ..self }
    }

    /// Whether everything is reported and nothing is changed.
    pub fn pretend(self, pretend: bool) -> Link {
        Link { pretend, ..self }
    }

    /// Reads the files that have the size of another one, and replaces copies of the first of each kind, in the
    /// order of their names. The observer may stop it, between two files.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::NoFolder`], also for a symbolic link; [`Error::Stopped`]: what was
    /// replaced stays.
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
        let groups = twins(&self.folder, &options, self.pretend, &mut told)?;
        for group in groups {
            self.link(&group, &mut told)?;
        }
        Ok(told.linked)
    }

    /// Replaces the copies of the first of `group`.
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
                    // The next ones become names of this one.
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

/// Counts, and tells the observer.
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

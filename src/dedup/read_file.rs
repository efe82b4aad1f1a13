//! A file that is one document, as it was when it was read.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use crate::corpus::{self, FileIdentity, Origin};

/// What shows whether a file is still the one that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadFile {
    /// Its size in bytes.
    pub(crate) size: u64,
    pub(crate) modified: Option<SystemTime>,
    /// `None` if only a store knows the file: it keeps sizes and times.
    pub(crate) moment: Option<FileIdentity>,
}

impl ReadFile {
    /// Returns what is known of the file of a document.
    pub(crate) fn of(origin: &Origin) -> ReadFile {
        ReadFile {
            size: origin.bytes,
            modified: origin.modified,
            moment: origin.moment,
        }
    }

    /// Whether the file at `path`, which has this metadata, is the one that was read, and unchanged.
    pub(crate) fn is(&self, path: &Path, metadata: &Metadata) -> bool {
        let is_it =
            |own| own == FileIdentity::of_moment(path, metadata) || has_passing_numbers(path);
        metadata.len() == self.size
            && corpus::modified(metadata) == self.modified
            && self.moment.is_none_or(is_it)
    }
}

/// Whether a file may get another number while it stays the same, as with FUSE, once the system has forgotten it.
#[cfg(target_os = "linux")]
fn has_passing_numbers(path: &Path) -> bool {
    /// The number of FUSE in statfs(2).
    const FUSE: i128 = 0x6573_5546;
    rustix::fs::statfs(path).is_ok_and(|found| i128::from(found.f_type) == FUSE)
}

#[cfg(not(target_os = "linux"))]
fn has_passing_numbers(_: &Path) -> bool {
    false
}

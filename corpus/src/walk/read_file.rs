//! A file, as it was when it was met.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use super::identity::FileIdentity;
use crate::number::times::modified;

/// What shows whether a file is still the one that was read, and unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadFile {
    /// Its size in bytes.
    pub(crate) size: u64,
    pub(crate) modified: Option<SystemTime>,
    /// Its identity, which all its names share.
    pub(crate) identity: FileIdentity,
    /// Its identity until anything about it changes.
    pub(crate) moment: FileIdentity,
    /// The hash of the bytes that were read, if the file is to be copied. It may be longer by then.
    pub(crate) hash: Option<[u8; 32]>,
}

impl ReadFile {
    /// Returns what is known of the file at `path`, which has this metadata.
    pub(crate) fn of(path: &Path, metadata: &Metadata) -> ReadFile {
        ReadFile {
            size: metadata.len(),
            modified: modified(metadata),
            identity: FileIdentity::of(path, metadata),
            moment: FileIdentity::of_moment(path, metadata),
            hash: None,
        }
    }

    /// Whether the file at `path`, which has this metadata, is the one that was read, and unchanged.
    pub(crate) fn is(&self, path: &Path, metadata: &Metadata) -> bool {
        let found = ReadFile::of(path, metadata);
        (found.size, found.modified) == (self.size, self.modified)
            && (found.moment == self.moment || has_passing_numbers(path))
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

//! The identity of the file that a name leads to.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::skipped::{Reason, Skipped};

/// An identity that all names of a file share, and no other file has.
///
/// It includes size and modification time, because some network file systems and snapshots give one inode number to
/// several files. The cost is small: if a file changes while a run meets two of its names, the run takes it for two
/// files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity([u8; FileIdentity::BYTES]);

impl FileIdentity {
    /// Returns the identity of the file at `path`, with this metadata.
    #[cfg(unix)]
    pub(crate) fn of(_: &Path, metadata: &Metadata) -> FileIdentity {
        FileIdentity::cut(&FileIdentity::hasher(metadata))
    }

    /// Returns the identity of the file at `path`, with this metadata, until anything about the file changes. That
    /// includes its number of names, and a content that changes while the modification time is set back.
    #[cfg(unix)]
    pub(crate) fn of_moment(_: &Path, metadata: &Metadata) -> FileIdentity {
        use std::os::unix::fs::MetadataExt;
        let mut hasher = FileIdentity::hasher(metadata);
        for time in [metadata.ctime(), metadata.ctime_nsec()] {
            hasher.update(&time.to_le_bytes());
        }
        FileIdentity::cut(&hasher)
    }

    /// The system does not tell when a file changed, except for its modification time.
    #[cfg(not(unix))]
    pub(crate) fn of_moment(path: &Path, metadata: &Metadata) -> FileIdentity {
        FileIdentity::of(path, metadata)
    }

    #[cfg(unix)]
    fn hasher(metadata: &Metadata) -> blake3::Hasher {
        use std::os::unix::fs::MetadataExt;
        let mut hasher = blake3::Hasher::new();
        for number in [metadata.dev(), metadata.ino(), metadata.size()] {
            hasher.update(&number.to_le_bytes());
        }
        for time in [metadata.mtime(), metadata.mtime_nsec()] {
            hasher.update(&time.to_le_bytes());
        }
        hasher
    }

    /// Hard links are not recognized here: the standard library has no file number.
    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path, _: &Metadata) -> FileIdentity {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut hasher = blake3::Hasher::new();
        hasher.update(path.as_os_str().as_encoded_bytes());
        FileIdentity::cut(&hasher)
    }

    /// The number of bytes of an identity.
    pub(crate) const BYTES: usize = 16;

    /// Reads the bytes that [`FileIdentity::bytes`] returned.
    pub(crate) fn read(reader: &mut impl Read) -> io::Result<FileIdentity> {
        let mut bytes = [0; FileIdentity::BYTES];
        reader.read_exact(&mut bytes)?;
        Ok(FileIdentity(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn cut(hasher: &blake3::Hasher) -> FileIdentity {
        let mut cut = [0; FileIdentity::BYTES];
        hasher.finalize_xof().fill(&mut cut);
        FileIdentity(cut)
    }
}

/// Returns whether two names lead to the same file. False if one of them leads to none.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some(FileIdentity::of(path, &metadata))
    };
    matches!((identity(a), identity(b)), (Some(a), Some(b)) if a == b)
}

/// The files that a run has met, under any name. Each takes 20 to 40 bytes of memory.
#[derive(Debug, Default)]
pub(crate) struct FileIdentities {
    seen: HashSet<FileIdentity>,
    /// The first names of files with several.
    linked: HashMap<FileIdentity, PathBuf>,
}

impl FileIdentities {
    /// Records a file. Returns the skipped item if it was met under another name.
    pub(crate) fn again(
        &mut self,
        path: &Path,
        metadata: &Metadata,
        identity: FileIdentity,
    ) -> Option<Skipped> {
        if self.seen.insert(identity) {
            if has_links(metadata) {
                self.linked.insert(identity, path.to_owned());
            }
            return None;
        }
        let linked = self.linked.get(&identity).cloned();
        let other = linked.or_else(|| fs::canonicalize(path).ok());
        Some(Skipped::other_name(path, other.as_deref()))
    }
}

impl Skipped {
    /// Returns the skipped item for `path`, which is another name of the file or folder `other`.
    pub fn other_name(path: &Path, other: Option<&Path>) -> Skipped {
        let detail = match other {
            Some(other) if other == path => "it was named before by another path".to_owned(),
            Some(other) => format!("another name of {}", other.display()),
            None => "another name of a file that was met".to_owned(),
        };
        Skipped {
            detail,
            ..Skipped::file(Reason::OtherName, path)
        }
    }
}

#[cfg(unix)]
fn has_links(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_links(_: &Metadata) -> bool {
    false
}

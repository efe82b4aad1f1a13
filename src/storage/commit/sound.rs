//! A store whose every checksum was verified, and that is protected from writers.

use std::path::Path;

use super::files::{linked_file, read_meta};
use crate::error::{Error, Result};
use crate::storage::columns::ColumnSpec;
use crate::storage::disk::File;
use crate::storage::format::Kind;
use crate::storage::index::{Index, NoWriter, existing_index};
use crate::storage::view::Snapshot;

/// A store that is protected from writers. Its columns are only read.
#[derive(Debug)]
pub(crate) struct Sound {
    pub(crate) snapshot: Snapshot,
    /// Keeps writers away from an index whose repairs exist in memory only. Otherwise the open index does.
    lock: Option<NoWriter>,
}

impl Sound {
    /// Opens and verifies the store in `folder`, and repairs its index if necessary.
    ///
    /// Writes nothing if the index is read-only, or if a file is also one of another folder.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Locked`], or those of the system.
    pub(crate) fn open(folder: &Path) -> Result<Sound> {
        let path = existing_index(folder)?;
        if linked_file(&path)?.is_some() {
            return Sound::as_it_is(folder, &path);
        }
        let mended = Index::open(&path).and_then(|index| verified(folder, &path, index));
        match mended {
            Ok(snapshot) => Ok(Sound {
                snapshot,
                lock: None,
            }),
            Err(error) if error.is_refusal_to_write() => Sound::as_it_is(folder, &path),
            Err(error) => Err(error),
        }
    }

    /// Opens and verifies a store without writing to any of its files.
    fn as_it_is(folder: &Path, path: &Path) -> Result<Sound> {
        let lock = NoWriter::of(folder)?;
        let snapshot = verified(folder, path, Index::open_pretended(path)?)?;
        Ok(Sound {
            snapshot,
            lock: Some(lock),
        })
    }

    /// Whether this process may write to the folder, and no other reads the index while it is checked.
    pub(crate) fn is_alone(&self) -> bool {
        self.lock.is_none()
    }
}

/// Verifies every checksum of an index, and reads the columns that it names in full.
fn verified(folder: &Path, path: &Path, mut index: Index) -> Result<Snapshot> {
    if !index.check()? {
        let reason = "its checksums were wrong; redb mended what it could";
        return Err(Error::damaged(path, reason));
    }
    let (meta, schema) = read_meta(&index.begin_read(path)?, path)?;
    for kind in Kind::ALL {
        let path = ColumnSpec::of(kind, &meta, &schema)?.path(folder);
        File::open(&path)?.read_through()?;
    }
    Snapshot::unverified(folder, path.to_owned(), index)
}

//! A store whose every checksum was verified.

use std::path::Path;

use super::files::{linked_file, read_meta};
use crate::error::{Error, Result};
use crate::storage::columns::ColumnSpec;
use crate::storage::disk::{File, TurnWait};
use crate::storage::format::{ColumnKind, HEADER_BYTES};
use crate::storage::index::{Index, NoWriter, existing_index, identity};
use crate::storage::view::Snapshot;

/// A commit of a store. Its columns are only read.
#[derive(Debug)]
pub(crate) struct SoundCommit {
    pub(crate) snapshot: Snapshot,
    /// Keeps writers away from an index whose repairs exist in memory only.
    _lock: Option<NoWriter>,
}

impl SoundCommit {
    /// Opens and verifies the store in `folder`, and repairs its index if necessary.
    ///
    /// Writes nothing if the index is read-only, or if a file is also one of another folder.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Locked`], or those of the system.
    pub(crate) fn open(folder: &Path, wait: &TurnWait) -> Result<SoundCommit> {
        /// How often the store is put in another place, or its generation replaced, before that counts as an error.
        const ATTEMPTS: usize = 3;

        let path = existing_index(folder)?;
        for _ in 0..ATTEMPTS {
            let before = identity(&path)?;
            let opened = SoundCommit::open_at(folder, &path, wait);
            // What the files of two indexes say about each other is not damage.
            if opened.is_ok() || identity(&path)? == before {
                return opened;
            }
        }
        Err(Error::Moved { path })
    }

    fn open_at(folder: &Path, path: &Path, wait: &TurnWait) -> Result<SoundCommit> {
        if linked_file(path)?.is_some() {
            return SoundCommit::as_it_is(folder, path);
        }
        let mended = Index::open(path, wait).and_then(|index| verified(folder, path, index));
        match mended {
            Ok(snapshot) => Ok(SoundCommit {
                snapshot,
                _lock: None,
            }),
            Err(error) if error.is_refusal_to_write() => SoundCommit::as_it_is(folder, path),
            Err(error) => Err(error),
        }
    }

    /// Opens and verifies a store without writing to any of its files.
    fn as_it_is(folder: &Path, path: &Path) -> Result<SoundCommit> {
        let lock = NoWriter::of(folder)?;
        let snapshot = verified(folder, path, Index::open_pretended(path)?)?;
        Ok(SoundCommit {
            snapshot,
            _lock: Some(lock),
        })
    }
}

/// Verifies every checksum of an index, and reads the columns that it names in full.
fn verified(folder: &Path, path: &Path, mut index: Index) -> Result<Snapshot> {
    if !index.check()? {
        let reason = "its checksums were wrong; redb mended what it could";
        return Err(Error::damaged(path, reason));
    }
    let (meta, schema) = read_meta(&index.begin_read(path)?, path)?;
    let column = |kind| -> Result<(File, u64)> {
        let spec = ColumnSpec::of(kind, &meta, &schema)?;
        Ok((File::open(&spec.path(folder))?, spec.len))
    };
    let columns: Vec<_> = ColumnKind::ALL
        .into_iter()
        .map(column)
        .collect::<Result<_>>()?;
    // What is committed is not overwritten, so others may write while it is read.
    index.end_turn();
    // Unreadable sectors must show here, as an error: in the map, they would kill the process.
    for (file, len) in columns {
        let held = file.len()?.saturating_sub(HEADER_BYTES as u64);
        file.read_through(HEADER_BYTES as u64 + len.min(held))?;
    }
    Snapshot::unverified(folder, path.to_owned(), index)
}

//! A store whose every checksum was verified, and that is protected from writers.

use std::path::Path;

use super::files::{Files, read_meta};
use crate::error::{Error, Result};
use crate::storage::columns::ColumnSpec;
use crate::storage::disk::File;
use crate::storage::format::Kind;
use crate::storage::index::{Index, NoWriter, existing_index};
use crate::storage::view::Snapshot;

/// A store that is protected from writers.
#[derive(Debug)]
pub(crate) enum Sound {
    /// The store is open for writing, and was repaired if necessary.
    Mended(Box<Files>),
    /// The store is read-only. Repairs exist in memory only.
    AsItIs {
        snapshot: Box<Snapshot>,
        _lock: NoWriter,
    },
}

impl Sound {
    /// Opens and verifies the store in `folder`. Writes nothing if it is read-only.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Locked`], or those of the system.
    pub(crate) fn open(folder: &Path) -> Result<Sound> {
        match Files::open_verified(folder) {
            Ok(files) => Ok(Sound::Mended(Box::new(files))),
            Err(error) if error.is_refusal_to_write() => {
                let path = existing_index(folder)?;
                let lock = NoWriter::of(folder)?;
                verify(folder, &path, &mut Index::open_pretended(&path)?)?;
                let snapshot = Box::new(Snapshot::open(folder)?);
                Ok(Sound::AsItIs {
                    snapshot,
                    _lock: lock,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// A snapshot of the store.
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot> {
        match self {
            Sound::Mended(files) => files.snapshot(),
            Sound::AsItIs { snapshot, .. } => Ok((**snapshot).clone()),
        }
    }
}

/// Verifies every checksum of an index, and reads the columns that it names in full.
pub(crate) fn verify(folder: &Path, path: &Path, index: &mut Index) -> Result<()> {
    if !index.check()? {
        let reason = "its checksums were wrong; redb mended what it could";
        return Err(Error::damaged(path, reason));
    }
    let (meta, schema) = read_meta(&index.begin_read(path)?, path)?;
    for kind in Kind::ALL {
        let path = ColumnSpec::of(kind, &meta, &schema)?.path(folder);
        File::open(&path)?.read_through()?;
    }
    Ok(())
}

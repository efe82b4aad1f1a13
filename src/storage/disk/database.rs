//! The index's file, which redb reads and writes.

use std::fs::OpenOptions;
use std::io;
use std::ops::Bound;
use std::path::Path;

use redb::backends::FileBackend;
use redb::{BackendError, Builder, Database, DatabaseError, StorageBackend, StorageError};

use super::File;
#[cfg(all(test, unix))]
use super::watch::backend;
use crate::error::{Error, Result};

/// Opens the database at `path`, which is made if it is not there.
pub(in crate::storage) fn create_database(
    builder: &Builder,
    path: &Path,
) -> Result<Database, DatabaseError> {
    builder.create_with_backend(backend(File::make(path, false)?)?)
}

/// Opens the database at `path`.
pub(in crate::storage) fn open_database(
    builder: &Builder,
    path: &Path,
) -> Result<Database, DatabaseError> {
    let mut options = OpenOptions::new();
    let file = File::open_as(path, options.read(true).write(true))?;
    // redb would make a database in it.
    if file.is_empty()? {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is empty").into());
    }
    builder.create_with_backend(backend(file)?)
}

#[cfg(not(all(test, unix)))]
fn backend(file: File) -> Result<FileBackend, DatabaseError> {
    FileBackend::new(file.into_inner())
}

/// The bytes, far past the end of a database, that redb locks for itself where it has it open for
/// writing. Its version is pinned for that.
const WRITER: (Bound<u64>, Bound<u64>) = (Bound::Included(1 << 62), Bound::Included((1 << 62) + 1));

/// What it locks where a system cannot lock ranges.
const WHOLE: (Bound<u64>, Bound<u64>) = (Bound::Unbounded, Bound::Unbounded);

/// A lock on a database, for as long as it is there.
#[derive(Debug)]
pub(in crate::storage) struct DatabaseLock {
    _file: FileBackend,
}

/// Keeps others from opening the database at `path` for writing, which is only read for it; none if
/// somebody has it open.
pub(in crate::storage) fn keep_writers_out(path: &Path) -> Result<Option<DatabaseLock>> {
    let file = FileBackend::new(File::open(path)?.into_inner());
    let file = file.map_err(|error| Error::index(path, error))?;
    let lock = |(start, end)| match file.try_lock_shared_range(start, end) {
        Err(BackendError::Unsupported) => Ok(None),
        Err(error) => Err(Error::index(path, StorageError::from(error))),
        Ok(is_locked) => Ok(Some(is_locked)),
    };
    let is_locked = match lock(WRITER)? {
        None => lock(WHOLE)?,
        some => some,
    };
    // Where there are no locks at all, redb does without them, too.
    Ok(is_locked
        .unwrap_or(true)
        .then_some(DatabaseLock { _file: file }))
}

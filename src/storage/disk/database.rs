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
    builder.create_with_backend(backend(File::make(path)?)?)
}

/// Makes a database at `path`, where nothing is, for the same users as the file at `like`.
pub(in crate::storage) fn create_database_like(
    builder: &Builder,
    path: &Path,
    like: &Path,
) -> Result<Database, DatabaseError> {
    builder.create_with_backend(backend(File::create_as(path, Some(like))?)?)
}

/// Opens the database at `path`.
pub(in crate::storage) fn open_database(
    builder: &Builder,
    path: &Path,
) -> Result<Database, DatabaseError> {
    builder.create_with_backend(backend(existing(path)?)?)
}

/// Opens the database at `path`, which is damaged and nobody else's.
///
/// What a damaged page points to may lie past the end of the file. redb reads nothing more after an
/// error of the system, so that there are zeros, which are no page.
pub(in crate::storage) fn open_damaged_database(
    builder: &Builder,
    path: &Path,
) -> Result<Database, DatabaseError> {
    builder.create_with_backend(Endless(backend(existing(path)?)?))
}

/// The file at `path`, in which there is something: else redb would make a database of it.
fn existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = File::open_as(path, options.read(true).write(true))?;
    if file.is_empty()? {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is empty",
        ));
    }
    Ok(file)
}

/// A file with zeros behind its end. It is not locked.
#[derive(Debug)]
struct Endless<B>(B);

impl<B: StorageBackend> StorageBackend for Endless<B> {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match self.0.read(offset, out) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                out.fill(0);
                Ok(())
            }
            read => read,
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_the_end_of_a_damaged_database_there_are_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged");
        std::fs::write(&path, [7; 100]).unwrap();
        let file = Endless(backend(File::open(&path).unwrap()).unwrap());
        let mut page = [1; 40];
        file.read(80, &mut page).unwrap();
        assert_eq!(page, [0; 40]);
        file.read(60, &mut page).unwrap();
        assert_eq!(page, [7; 40]);
    }
}

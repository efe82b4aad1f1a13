//! The file of the index, which redb reads and writes.

use std::fs::OpenOptions;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{
    BackendError, Builder, Database, DatabaseError, ReadOnlyDatabase, StorageBackend, StorageError,
};

use super::file::{File, FileAccess};
use super::overlay::Overlay;
use super::path::is_file;
use super::shared_file::{OpenState, SharedFile};
use super::turn::{Turn, TurnWait, Turns, WRITER, one};
#[cfg(all(test, unix))]
use super::watch::backend;
use crate::error::{Error, Result};

/// A database that is open for writing, and its turns, of which the opening took the first.
pub(in crate::storage) type OpenedDatabase = (Database, Turns, Turn);

/// Opens the database at `path`, creating it if it does not exist.
pub(in crate::storage) fn create_database(
    builder: &Builder,
    path: &Path,
) -> Result<OpenedDatabase, DatabaseError> {
    writable(builder, File::make(path)?, &TurnWait::NONE)
}

/// Creates a database at `path`, which must not exist, with the access rights of the file at `like`.
pub(in crate::storage) fn create_database_like(
    builder: &Builder,
    path: &Path,
    like: &Path,
) -> Result<OpenedDatabase, DatabaseError> {
    writable(
        builder,
        File::create_as(path, FileAccess::Of(like))?,
        &TurnWait::NONE,
    )
}

/// Opens the database at `path`, once no other process writes to it.
pub(in crate::storage) fn open_database(
    builder: &Builder,
    path: &Path,
    wait: &TurnWait,
) -> Result<OpenedDatabase, DatabaseError> {
    writable(builder, existing(path)?, wait)
}

fn writable(
    builder: &Builder,
    file: File,
    wait: &TurnWait,
) -> Result<OpenedDatabase, DatabaseError> {
    let (path, settled) = (file.path().clone(), OpenState::default());
    let file = SharedFile::new(backend(file)?, &path, settled.clone(), wait.time, false);
    let turns = file.turns();
    let turn = turns.take(wait).map_err(StorageError::from)?;
    let turn = turn.ok_or(DatabaseError::DatabaseAlreadyOpen)?;
    let opened = builder.create_with_backend(file)?;
    settled.set(true);
    Ok((opened, turns, turn))
}

/// Opens the database at `path` read-only, as it is.
///
/// Writes nothing, whatever a killed writer left.
pub(in crate::storage) fn read_database(
    builder: &Builder,
    path: &Path,
) -> Result<ReadOnlyDatabase, DatabaseError> {
    let file = File::open_as(path, OpenOptions::new().read(true))?;
    let path = file.path().clone();
    let file = SharedFile::new(
        backend(file)?,
        &path,
        OpenState::default(),
        Duration::ZERO,
        true,
    );
    builder.open_read_only_with_backend(file)
}

/// Opens the database at `path` as if for writing, but keeps all writes in memory.
pub(in crate::storage) fn pretend_database(
    builder: &Builder,
    path: &Path,
) -> Result<Database, DatabaseError> {
    let file = not_empty(File::open_as(path, OpenOptions::new().read(true))?)?;
    builder.create_with_backend(Overlay::new(backend(file)?)?)
}

/// Opens the damaged database at `path`, which no other process may use.
///
/// A damaged page may point past the end of the file. After an error of the system, redb reads nothing more, so reads
/// past the end return zeros instead, which are not a valid page.
pub(in crate::storage) fn open_damaged_database(
    builder: &Builder,
    path: &Path,
) -> Result<Database, DatabaseError> {
    builder.create_with_backend(ZeroExtendedFile(backend(existing(path)?)?))
}

/// Opens the file at `path`, which must not be empty: redb would turn an empty file into a database.
fn existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    not_empty(File::open_as(path, options.read(true).write(true))?)
}

fn not_empty(file: File) -> io::Result<File> {
    if file.is_empty()? {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is empty",
        ));
    }
    Ok(file)
}

/// A file that reads as zeros past its end. It is not locked.
#[derive(Debug)]
struct ZeroExtendedFile<B>(B);

impl<B: StorageBackend> StorageBackend for ZeroExtendedFile<B> {
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

/// The bytes that redb locks while a process writes, and the one that it locks while one may write alone.
const WRITERS: (Bound<u64>, Bound<u64>) = (Bound::Included(WRITER), Bound::Included(WRITER + 1));

/// The range that redb locks on systems without range locks.
const WHOLE: (Bound<u64>, Bound<u64>) = (Bound::Unbounded, Bound::Unbounded);

/// A lock on a database, held until dropped.
#[derive(Debug)]
pub(in crate::storage) struct DatabaseLock {
    _file: FileBackend,
}

/// Prevents other processes from writing to the database at `path`. Only reads it.
///
/// Returns `None` if a process has the right to write.
pub(in crate::storage) fn keep_writers_out(path: &Path) -> Result<Option<DatabaseLock>> {
    let file = FileBackend::new(File::open(path)?.into_inner());
    let file = file.map_err(|error| Error::index(path, error))?;
    let lock = |(start, end)| match file.try_lock_shared_range(start, end) {
        Err(BackendError::Unsupported) => Ok(None),
        Err(error) => Err(Error::index(path, StorageError::from(error))),
        Ok(is_locked) => Ok(Some(is_locked)),
    };
    let is_locked = match lock(WRITERS)? {
        None => lock(WHOLE)?,
        some => some,
    };
    // On systems without any locks, redb does without them too.
    Ok(is_locked
        .unwrap_or(true)
        .then_some(DatabaseLock { _file: file }))
}

/// Whether a process has the right to write to the database at `path`, if there is one.
///
/// Where ranges of a file cannot be locked, an existing one counts as being written.
pub(in crate::storage) fn is_written(path: &Path) -> Result<bool> {
    if !is_file(path)? {
        return Ok(false);
    }
    let file = FileBackend::new(File::open(path)?.into_inner());
    let file = file.map_err(|error| Error::index(path, error))?;
    let (start, end) = one(WRITER);
    match file.query_lock_range(start, end) {
        Err(BackendError::Unsupported) => Ok(true),
        Err(error) => Err(Error::index(path, StorageError::from(error))),
        is_locked => Ok(is_locked.unwrap_or(true)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::{Arc, Mutex};

    use redb::ConcurrencyMode;

    use super::super::shared_file::CONSISTENT;
    use super::*;

    type Range = (Bound<u64>, Bound<u64>);

    #[test]
    fn behind_the_end_of_a_damaged_database_there_are_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged");
        std::fs::write(&path, [7; 100]).unwrap();
        let file = ZeroExtendedFile(backend(File::open(&path).unwrap()).unwrap());
        let mut page = [1; 40];
        file.read(80, &mut page).unwrap();
        assert_eq!(page, [0; 40]);
        file.read(60, &mut page).unwrap();
        assert_eq!(page, [7; 40]);
    }

    /// Records which ranges redb locks exclusively, and which it queries.
    #[derive(Debug)]
    struct Noted {
        file: FileBackend,
        seen: Arc<Mutex<Seen>>,
    }

    #[derive(Debug, Default)]
    struct Seen {
        locked: Vec<Range>,
        shared: Vec<Range>,
        asked: Vec<Range>,
    }

    impl StorageBackend for Noted {
        fn len(&self) -> io::Result<u64> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.file.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.file.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.file.write(offset, data)
        }

        fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
            self.seen.lock().unwrap().locked.push((start, end));
            Ok(true)
        }

        fn try_lock_shared_range(
            &self,
            start: Bound<u64>,
            end: Bound<u64>,
        ) -> Result<bool, BackendError> {
            self.seen.lock().unwrap().shared.push((start, end));
            Ok(true)
        }

        fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
            self.try_lock_range(start, end).map(drop)
        }

        fn lock_shared_range(
            &self,
            start: Bound<u64>,
            end: Bound<u64>,
        ) -> Result<(), BackendError> {
            self.try_lock_shared_range(start, end).map(drop)
        }

        fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
            Ok(())
        }

        fn query_lock_range(
            &self,
            start: Bound<u64>,
            end: Bound<u64>,
        ) -> Result<bool, BackendError> {
            self.seen.lock().unwrap().asked.push((start, end));
            Ok(false)
        }
    }

    /// A release of redb that locks other bytes would let processes write at the same time, let a salvage run beside a
    /// writer, and prevent readers from reading what a killed writer left.
    #[test]
    fn redb_locks_the_bytes_that_are_named_here() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let seen = Arc::new(Mutex::new(Seen::default()));
        let file = File::make(&path).unwrap().into_inner();
        let noted = |file: std::fs::File| Noted {
            file: FileBackend::new(file).unwrap(),
            seen: seen.clone(),
        };
        let mut builder = Builder::new();
        builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
        let database = builder.create_with_backend(noted(file)).unwrap();
        let header = (Bound::Included(0), Bound::Excluded(320));
        let taken = std::mem::take(&mut *seen.lock().unwrap());
        let locked = taken.locked.iter().filter(|&&range| range != header);
        assert_eq!(
            locked.copied().collect::<HashSet<_>>(),
            [one(WRITER)].into()
        );
        for byte in [one(WRITER + 1), CONSISTENT] {
            assert!(taken.shared.contains(&byte), "{byte:?}");
        }
        drop(database.begin_write().unwrap());
        let taken = std::mem::take(&mut *seen.lock().unwrap());
        assert!(taken.locked.contains(&one(WRITER)));
        // The database is open, so its file is marked as not closed.
        let file = File::open(&path).unwrap().into_inner();
        let opened = builder.open_read_only_with_backend(noted(file));
        assert!(matches!(opened, Err(DatabaseError::RepairAborted)));
        assert_eq!(seen.lock().unwrap().asked.last(), Some(&CONSISTENT));
        drop(database);
    }
}

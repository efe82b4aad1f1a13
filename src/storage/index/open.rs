//! Opening the index.
//!
//! Any number of processes have it open for writing and for reading. They write by turns. redb's locks tell a writer
//! which commits are still being read, so that it does not reuse their pages. These are locks on ranges of the file. On
//! a system or file system without range locks, one writer or the readers lock the whole file.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use redb::{
    Builder, ConcurrencyMode, Database, DatabaseError, Key, ReadOnlyDatabase, ReadOnlyTable,
    ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageError, Value,
    WriteTransaction,
};

use super::guard::guarded;
use super::meta::Meta;
use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::storage::disk::Process;
use crate::storage::disk::{self, File, Turn, TurnWait, Turns, first_failure};
use crate::storage::format::{is_redb, may_be_unfinished_index};
use crate::storage::names::INDEX;

/// The memory in bytes that redb may use for cached pages.
const CACHE_BYTES: usize = 32 << 20;

/// The number of bytes at the start of an index that locate the rest.
const START_BYTES: usize = 4 << 10;

/// The open index.
pub(crate) struct Index {
    path: PathBuf,
    /// The identity of the file, if known.
    identity: Option<InodeIdentity>,
    process: Process,
    /// `None` once the index is closed.
    handle: Option<DatabaseHandle>,
    /// `None` if the index is open for reading only, or in memory.
    turns: Option<Turns>,
    /// The right to write, while this index has it.
    turn: Mutex<Option<Turn>>,
}

enum DatabaseHandle {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Drop for Index {
    /// Closes the index, at which redb may panic if the file is damaged.
    ///
    /// Committed data is safe, and the next open detects the unclean shutdown.
    fn drop(&mut self) {
        let handle = self.handle.take();
        if !self.process.is_current() {
            // Closing would release the locks of the process that has it open.
            let _open = ManuallyDrop::new((handle, self.turns.take()));
            return;
        }
        // redb saves its state when it closes. Nobody needs that of an index that a rebuild replaced, and processes that
        // have the old one open would wait for it.
        if let Some(turns) = self.turns.as_ref().filter(|_| self.is_replaced()) {
            turns.end();
        }
        guarded(&self.path, || {
            drop(handle);
            Ok(())
        })
        .unwrap_or_default();
    }
}

impl Index {
    /// Whether the store has another index, and this one has no name any more.
    fn is_replaced(&self) -> bool {
        let found = |path: &Path| identity(path).ok().flatten();
        let current = found(&self.path.with_file_name(INDEX));
        self.identity.is_some()
            && current.is_some_and(|current| Some(current) != self.identity)
            && found(&self.path) != self.identity
    }

    /// Creates the index at `path`, replacing the remains of a process that was killed while it created a store.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if anything else exists there.
    pub(crate) fn create(path: &Path) -> Result<Index> {
        let start = if disk::is_file(path)? {
            Some(File::open(path)?.start(START_BYTES)?)
        } else {
            None
        };
        let is_blank = start.as_deref().is_some_and(may_be_unfinished_index);
        let is_redb = start.as_deref().is_none_or(is_redb);
        let occupied = || Error::Occupied {
            path: path.to_owned(),
        };
        if !is_blank && !is_redb {
            return Err(occupied());
        }
        let create = || {
            let created = guarded(path, || {
                let created = shared(|builder| disk::create_database(builder, path));
                created.map_err(|error| Error::index(path, error))
            });
            Ok(Index::writable(path, created?))
        };
        // Whatever may be somebody's work is kept: only an index without tables or documents is replaced.
        match create() {
            Err(error @ Error::Locked { .. }) => Err(error),
            Ok(index) if start.is_none() || index.is_empty() => Ok(index),
            // The lock is held until the new index exists.
            Ok(leftover) if leftover.is_new() => {
                disk::remove(path)?;
                create()
            }
            Err(_) if is_blank => {
                disk::remove(path)?;
                create()
            }
            Err(error) if start.is_none() => {
                disk::remove(path).unwrap_or_default();
                Err(error)
            }
            _ => Err(occupied()),
        }
    }

    /// Creates the index at `path`, which must not exist, with the access rights of the one at `like`.
    pub(crate) fn create_like(path: &Path, like: &Path) -> Result<Index> {
        if disk::is_file(path)? {
            let path = path.to_owned();
            return Err(Error::Occupied { path });
        }
        let database = guarded(path, || {
            let created = shared(|builder| disk::create_database_like(builder, path, like));
            created.map_err(|error| Error::index(path, error))
        })?;
        Ok(Index::writable(path, database))
    }

    /// Whether this is the index of a store whose creation did not finish.
    fn is_new(&self) -> bool {
        let meta = self
            .begin_read(&self.path)
            .and_then(|transaction| guarded(&self.path, || Meta::read(&transaction, &self.path)));
        matches!(meta, Ok(Some(meta)) if meta.contents == 0 && meta.commit == 0)
    }

    /// Whether the index has no tables.
    pub(crate) fn is_empty(&self) -> bool {
        let tables = self.begin_read(&self.path).and_then(|transaction| {
            guarded(&self.path, || {
                let tables = transaction.list_tables();
                let tables = tables.map_err(|error| Error::index(&self.path, error))?;
                Ok(tables.count())
            })
        });
        matches!(tables, Ok(0))
    }

    /// Opens the index at `path` for writing, and has the right to write from then on.
    ///
    /// Retries if a rebuild replaced the index meanwhile.
    pub(crate) fn open(path: &Path, wait: &TurnWait) -> Result<Index> {
        loop {
            let before = identity(path)?;
            let opened = guarded(path, || {
                let opened = shared(|builder| disk::open_database(builder, path, wait));
                opened.map_err(|error| Error::index(path, error))
            })?;
            let index = Index::writable(path, opened);
            if identity(path)? == before {
                return Ok(index);
            }
        }
    }

    /// Opens the copy of a damaged index.
    ///
    /// If something that a writer needs is damaged, opens it read-only, which needs less.
    pub(crate) fn open_damaged(path: &Path) -> Result<Index> {
        let start = File::open(path)?.start(START_BYTES)?;
        let writable = guarded(path, || {
            let opened = shared(|builder| disk::open_damaged_database(builder, path));
            opened.map_err(|error| Error::index(path, error))
        });
        let handle = match writable {
            Err(error) if error.is_of_damage() => {
                // The failed writer has marked the file as open.
                File::open_writable(path)?.write(0, &start)?;
                let opened = guarded(path, || {
                    let opened = shared(|builder| disk::read_database(builder, path));
                    opened.map_err(|error| Error::index(path, error))
                });
                // The writer's error is about the file, not about its unclean shutdown.
                DatabaseHandle::ReadOnly(opened.map_err(|_| error)?)
            }
            opened => DatabaseHandle::Writable(opened?),
        };
        Ok(Index::of(path, handle))
    }

    fn of(path: &Path, handle: DatabaseHandle) -> Index {
        Index {
            path: path.to_owned(),
            identity: identity(path).unwrap_or_default(),
            process: Process::current(),
            handle: Some(handle),
            turns: None,
            turn: Mutex::default(),
        }
    }

    fn writable(path: &Path, (database, turns, turn): disk::OpenedDatabase) -> Index {
        let mut index = Index::of(path, DatabaseHandle::Writable(database));
        index.turns = Some(turns);
        index.turn = Mutex::new(Some(turn));
        index
    }

    /// Waits for the right to write, which lasts until [`Index::end_turn`].
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another process kept it, and [`Error::Stopped`] if the wait was stopped.
    pub(crate) fn take_turn(&self, wait: &TurnWait) -> Result<()> {
        self.process.check()?;
        let Some(turns) = &self.turns else {
            return Err(Error::ReadOnly);
        };
        let mut held = lock(&self.turn);
        if held.is_none() {
            let turn = turns.take(wait).map_err(StorageError::from);
            let turn = turn.map_err(|error| Error::index(&self.path, error))?;
            *held = Some(turn.ok_or_else(|| self.refusal(wait))?);
        }
        Ok(())
    }

    /// Why there was no turn.
    fn refusal(&self, wait: &TurnWait) -> Error {
        if wait.is_stopped() {
            return Error::Stopped;
        }
        Error::Locked {
            path: disk::parent(&self.path).to_owned(),
            holder: None,
        }
    }

    /// Whether the system refused something of an open index with this path. redb then reads and writes nothing more.
    pub(crate) fn has_failed(&self) -> bool {
        first_failure(&self.path).is_some()
    }

    /// Gives the right to write to others.
    pub(crate) fn end_turn(&self) {
        if self.process.is_current() {
            drop(lock(&self.turn).take());
        }
    }

    /// Whether this index has the right to write.
    pub(crate) fn has_turn(&self) -> bool {
        lock(&self.turn).is_some()
    }

    /// Whether this index has the right to write, and another process waits for it.
    pub(crate) fn is_awaited(&self) -> bool {
        lock(&self.turn).as_ref().is_some_and(Turn::is_awaited)
    }

    /// Whether the file at `path`, where the index was opened, is still the same one.
    pub(crate) fn is_at(&self, path: &Path) -> Result<bool> {
        Ok(self.identity.is_none() || identity(path)? == self.identity)
    }

    /// Checks that the file at `path`, where the index was opened, is still the same one.
    ///
    /// # Errors
    ///
    /// [`Error::Moved`]: an operation by that path would affect another store, or none.
    pub(crate) fn check_is_at(&self, path: &Path) -> Result<()> {
        if !self.is_at(path)? {
            let path = path.to_owned();
            return Err(Error::Moved { path });
        }
        Ok(())
    }

    /// Opens the index at `path` for reading, beside a writer and other readers.
    ///
    /// Writes nothing, even if a killed writer left it unclean: the last commit can be read.
    pub(crate) fn open_read_only(path: &Path) -> Result<Index> {
        let open = || {
            guarded(path, || {
                Ok(shared(|builder| disk::read_database(builder, path)))
            })
        };
        let mut opened = open()?;
        // If whole files are locked, redb does not read an unclean index before it is repaired.
        if matches!(opened, Err(DatabaseError::RepairAborted)) {
            drop(Index::open(path, &TurnWait::NONE)?);
            opened = open()?;
        }
        let database = opened.map_err(|error| Error::index(path, error))?;
        Ok(Index::of(path, DatabaseHandle::ReadOnly(database)))
    }

    /// Opens the index at `path` as if for writing, but keeps all writes in memory.
    ///
    /// The caller must keep writers away.
    pub(crate) fn open_pretended(path: &Path) -> Result<Index> {
        let database = guarded(path, || {
            let opened = shared(|builder| disk::pretend_database(builder, path));
            opened.map_err(|error| Error::index(path, error))
        })?;
        Ok(Index::of(path, DatabaseHandle::Writable(database)))
    }

    /// Begins a read transaction of the last commit. `path` is the path of the index.
    pub(crate) fn begin_read(&self, path: &Path) -> Result<ReadTransaction> {
        guarded(path, || {
            let transaction = match &self.handle {
                Some(DatabaseHandle::Writable(database)) => database.begin_read(),
                Some(DatabaseHandle::ReadOnly(database)) => database.begin_read(),
                None => Err(StorageError::DatabaseClosed.into()),
            };
            transaction.map_err(|error| Error::index(path, error))
        })
    }

    /// Begins a write transaction.
    pub(crate) fn begin_write(&self) -> Result<WriteTransaction> {
        self.process.check()?;
        let Some(DatabaseHandle::Writable(database)) = &self.handle else {
            return Err(Error::ReadOnly);
        };
        guarded(&self.path, || {
            let transaction = database.begin_write();
            let mut transaction = transaction.map_err(|error| Error::index(&self.path, error))?;
            // A store whose writer was killed then opens at once, and redb does not mistake a damaged header for a torn
            // commit that it may discard.
            transaction.set_quick_repair(true);
            Ok(transaction)
        })
    }

    /// Makes the last commit visible to readers. It must be this process's turn.
    ///
    /// redb shows a commit to readers once it is flushed. If a process is killed before that, readers see the commit before
    /// it, but the next write transaction builds on it. Beginning one flushes it and shows it to all.
    pub(crate) fn publish_last_commit(&self) -> Result<()> {
        let transaction = self.begin_write()?;
        guarded(&self.path, || {
            let aborted = transaction.abort();
            aborted.map_err(|error| Error::index(&self.path, error))
        })
    }

    /// Verifies redb's own checksums, repairs what it can, and returns whether no repair was necessary.
    pub(crate) fn check(&mut self) -> Result<bool> {
        let Some(DatabaseHandle::Writable(database)) = &mut self.handle else {
            return Err(Error::ReadOnly);
        };
        guarded(&self.path, || {
            let checked = database.check_integrity();
            checked.map_err(|error| Error::index(&self.path, error))
        })
    }
}

/// Keeps a store from being written to until dropped.
#[derive(Debug)]
pub(crate) struct NoWriter {
    /// `None` if there is no index to open.
    _lock: Option<disk::DatabaseLock>,
}

impl NoWriter {
    /// Keeps writers away from the store in `folder`, whatever state it is in. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if there is a writer, and those of the system.
    pub(crate) fn of(folder: &Path) -> Result<NoWriter> {
        let path = folder.join(INDEX);
        loop {
            if !disk::is_file(&path)? {
                return Ok(NoWriter { _lock: None });
            }
            let before = identity(&path)?;
            let Some(lock) = disk::keep_writers_out(&path)? else {
                let path = folder.to_owned();
                return Err(Error::Locked { path, holder: None });
            };
            if identity(&path)? == before {
                return Ok(NoWriter { _lock: Some(lock) });
            }
        }
    }
}

/// The path of the index of the store in `folder`, if there is one.
pub(crate) fn existing_index(folder: &Path) -> Result<PathBuf> {
    let index = folder.join(INDEX);
    if disk::is_file(&index)? {
        Ok(index)
    } else {
        let path = folder.to_owned();
        Err(Error::NotAStore { path })
    }
}

/// The device and inode number of a file.
pub(crate) type InodeIdentity = (u64, u64);

/// Distinguishes a file from another that replaces it.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Result<Option<InodeIdentity>> {
    use std::os::unix::fs::MetadataExt;
    let file = disk::metadata(path)?;
    Ok(file.map(|file| (file.dev(), file.ino())))
}

/// On these systems, an open file cannot be replaced.
#[cfg(not(unix))]
pub(crate) fn identity(_: &Path) -> Result<Option<InodeIdentity>> {
    Ok(None)
}

/// Opens an index that other processes may read and, by turns, write.
///
/// If file ranges cannot be locked, a writer opens it exclusively.
fn shared<T>(open: impl Fn(&Builder) -> Result<T, DatabaseError>) -> Result<T, DatabaseError> {
    let open_as = |mode| {
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        builder.set_concurrency_mode(mode);
        open(&builder)
    };
    match open_as(ConcurrencyMode::MultiWriter) {
        Err(DatabaseError::Storage(StorageError::Unsupported)) => {
            open_as(ConcurrencyMode::ExclusiveWriter)
        }
        opened => opened,
    }
}

/// The number of bytes in the pages of a table.
///
/// redb computes them without a depth limit, and would never return if a damaged page pointed to itself. Iterating over
/// the entries, which has a depth limit, fails at such a page first.
pub(crate) fn page_bytes<K: Key + 'static, V: Value + 'static>(
    table: &ReadOnlyTable<K, V>,
) -> Result<u64, StorageError> {
    for entry in table.iter()? {
        entry?;
    }
    let stats = table.stats()?;
    Ok(stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::Bound;

    use redb::backends::FileBackend;
    use redb::{StorageBackend, TableDefinition};

    use super::*;

    #[test]
    fn a_writer_and_those_who_keep_writers_out_exclude_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(INDEX);
        assert!(NoWriter::of(folder.path()).is_ok());
        let index = Index::create(&path).unwrap();
        let is_locked = |done: Result<()>| matches!(done, Err(Error::Locked { .. }));
        assert!(is_locked(NoWriter::of(folder.path()).map(drop)));
        drop(index);
        // The same holds for the lock of a folder that may not be writable.
        let held = [(); 2].map(|()| NoWriter::of(folder.path()).unwrap());
        assert!(is_locked(Index::open(&path, &TurnWait::NONE).map(drop)));
        drop(held);
        assert!(Index::open(&path, &TurnWait::NONE).is_ok());
    }

    /// The index of a store that is open for writing, and a copy of it as a kill leaves it.
    fn killed(folder: &Path) -> PathBuf {
        let index = Index::create(&folder.join("open")).unwrap();
        for number in 0..3 {
            let transaction = index.begin_write().unwrap();
            let numbers = TableDefinition::<u64, u64>::new("numbers");
            let mut table = transaction.open_table(numbers).unwrap();
            table.insert(number, number).unwrap();
            drop(table);
            transaction.commit().unwrap();
        }
        let left = folder.join(INDEX);
        fs::copy(folder.join("open"), &left).unwrap();
        left
    }

    #[test]
    fn who_reads_what_a_killed_writer_left_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = killed(folder.path());
        let left = fs::read(&path).unwrap();
        let index = Index::open_read_only(&path).unwrap();
        let transaction = index.begin_read(&path).unwrap();
        assert_eq!(transaction.list_tables().unwrap().count(), 1);
        assert_eq!(fs::read(&path).unwrap(), left);
        // A new writer leaves the pages of this read transaction alone.
        drop(Index::open(&path, &TurnWait::NONE).unwrap());
        assert_ne!(fs::read(&path).unwrap(), left);
        assert_eq!(transaction.list_tables().unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn an_index_that_was_replaced_is_closed_without_a_write() {
        for is_replaced in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let [path, old] = [INDEX, "old"].map(|name| folder.path().join(name));
            let index = Index::create(&path).unwrap();
            index.begin_write().unwrap().commit().unwrap();
            fs::hard_link(&path, &old).unwrap();
            if is_replaced {
                let next = Index::create_like(&folder.path().join("next"), &path).unwrap();
                fs::rename(folder.path().join("next"), &path).unwrap();
                drop(next);
            }
            let before = fs::read(&old).unwrap();
            drop(index);
            assert_eq!(fs::read(&old).unwrap() == before, is_replaced);
            assert!(Index::open(&path, &TurnWait::NONE).is_ok());
        }
    }

    #[test]
    fn what_is_only_pretended_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = killed(folder.path());
        let left = fs::read(&path).unwrap();
        let mut index = Index::open_pretended(&path).unwrap();
        assert!(index.check().unwrap());
        drop(index);
        assert_eq!(fs::read(&path).unwrap(), left);
    }

    #[test]
    fn bytes_that_stay_locked_are_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(INDEX);
        drop(Index::create(&path).unwrap());
        let other = fs::File::options().read(true).write(true).open(&path);
        let other = FileBackend::new(other.unwrap()).unwrap();
        let bytes = (Bound::Included(0), Bound::Excluded(320));
        assert!(other.try_lock_shared_range(bytes.0, bytes.1).unwrap());
        let error = Index::open(&path, &TurnWait::NONE).unwrap_err();
        assert!(
            matches!(&error, Error::Blocked { path: named, reason }
                if *named == path && reason.starts_with("bytes 0 to 319 stay locked by ")),
            "{error}"
        );
        other.unlock_range(bytes.0, bytes.1).unwrap();
        assert!(Index::open(&path, &TurnWait::NONE).is_ok());
        assert!(other.try_lock_range(bytes.0, bytes.1).unwrap());
        let error = Index::open_read_only(&path).unwrap_err().to_string();
        assert!(error.contains("the last step of a commit"), "{error}");
        assert!(error.contains("end it if it is stopped"), "{error}");
    }
}

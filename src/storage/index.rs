//! Opening the index.
//!
//! One process has it open for writing, and any number read it at the same time: redb's locks tell
//! the writer which commits are still being read, so that it leaves their pages alone. Those are
//! locks on ranges of the file. Where a system or a file system has none, the whole file is locked,
//! by a writer or by readers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{
    Builder, ConcurrencyMode, Database, DatabaseError, ReadOnlyDatabase, ReadTransaction,
    ReadableDatabase, StorageError,
};

use super::disk;
use crate::clock::Patience;
use crate::error::{Error, Result};

pub(super) const INDEX: &str = "index.redb";

/// Memory that redb may use for cached pages.
const CACHE_BYTES: usize = 128 << 20;

/// How long a reader waits for a writer that is opening an index which a crash left unclean.
const MENDING: Duration = Duration::from_secs(30);

/// The open index.
pub(crate) enum Index {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Index::Writable(_) => "Writable",
            Index::ReadOnly(_) => "ReadOnly",
        })
    }
}

impl Index {
    /// Makes the index at `path`, or takes over what a killed process left of one.
    pub(super) fn create(path: &Path) -> Result<Index> {
        create_index(path).map(Index::Writable)
    }

    /// Opens the index at `path` for reading, beside a writer and other readers.
    ///
    /// One that a killed writer left unclean is mended first, by whoever comes first.
    pub(super) fn open_read_only(path: &Path) -> Result<Index> {
        let mut patience = Patience::new(MENDING);
        loop {
            match shared(|builder| builder.open_read_only(path)) {
                Err(DatabaseError::RepairAborted) => {}
                Ok(database) => return Ok(Index::ReadOnly(database)),
                Err(error) => return Err(Error::index(path, error)),
            }
            match open_index(path) {
                Err(Error::Locked { .. }) if patience.pause() => {}
                Err(error) => return Err(error),
                Ok(mended) => drop(mended),
            }
        }
    }

    /// Begins to read the last commit.
    pub(super) fn begin_read(&self) -> Result<ReadTransaction, redb::Error> {
        let transaction = match self {
            Index::Writable(database) => database.begin_read(),
            Index::ReadOnly(database) => database.begin_read(),
        };
        Ok(transaction?)
    }
}

/// The path of the index of the store in `folder`, if there is one.
pub(super) fn existing_index(folder: &Path) -> Result<PathBuf> {
    let index = folder.join(INDEX);
    if disk::is_file(&index)? {
        Ok(index)
    } else {
        let path = folder.to_owned();
        Err(Error::NotAStore { path })
    }
}

/// Makes the index at `path`, or takes over what a killed process left of one.
pub(super) fn create_index(path: &Path) -> Result<Database> {
    let create = || shared(|builder| disk::create_database(builder, path));
    let created = match create() {
        Err(DatabaseError::DatabaseAlreadyOpen) => Err(DatabaseError::DatabaseAlreadyOpen),
        Err(_) => {
            disk::remove(path)?;
            create()
        }
        created => created,
    };
    created.map_err(|error| Error::index(path, error))
}

/// Opens the index for writing; once more, if a rebuild put another in its place before it was
/// locked.
pub(super) fn open_index(path: &Path) -> Result<Database> {
    loop {
        let before = identity(path)?;
        let open = || shared(|builder| disk::open_database(builder, path));
        let database = guarded(path, open)?;
        if identity(path)? == before {
            return Ok(database);
        }
    }
}

/// Tells a file from another that gets its name.
#[cfg(unix)]
fn identity(path: &Path) -> Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt;
    let file = disk::metadata(path)?;
    Ok(file.map(|file| (file.dev(), file.ino())))
}

/// A file that is open cannot be replaced.
#[cfg(not(unix))]
fn identity(_: &Path) -> Result<()> {
    Ok(())
}

/// Does something with the index at which redb panics if the file is damaged.
pub(super) fn guarded<T, E: Into<redb::Error>>(
    path: &Path,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| Error::index(path, error)),
        Err(_) => Err(Error::damaged(path, "redb cannot make sense of it")),
    }
}

/// Opens an index so that others may read it beside a writer, or, where ranges of a file cannot be
/// locked, for this process alone.
fn shared<T>(open: impl Fn(&Builder) -> Result<T, DatabaseError>) -> Result<T, DatabaseError> {
    let open_as = |mode| {
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        builder.set_concurrency_mode(mode);
        open(&builder)
    };
    match open_as(ConcurrencyMode::SingleWriter) {
        Err(DatabaseError::Storage(StorageError::Unsupported)) => {
            open_as(ConcurrencyMode::ExclusiveWriter)
        }
        opened => opened,
    }
}

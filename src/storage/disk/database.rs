//! The index's file, which redb reads and writes.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use redb::{Builder, Database, DatabaseError};

use super::File;
#[cfg(all(test, unix))]
use super::watch::backend;

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
fn backend(file: File) -> Result<redb::backends::FileBackend, DatabaseError> {
    redb::backends::FileBackend::new(file.into_inner())
}

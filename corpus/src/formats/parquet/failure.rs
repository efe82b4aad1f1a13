//! Why rows of a table were not copied.

use std::io;

use parquet::errors::ParquetError;

/// Why rows were not copied: because of the table, the file or the caller.
#[derive(Debug)]
pub(crate) enum CopyFailure {
    /// The table cannot be read.
    Read(io::Error),
    /// The file cannot be written.
    Written(io::Error),
    /// The caller stopped it.
    Stopped,
}

/// Reports a failure to write.
pub(crate) fn failed(error: ParquetError) -> CopyFailure {
    CopyFailure::Written(written(error))
}

/// Returns the system's error if there is one.
pub(crate) fn written(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error.to_string()),
        },
        error => io::Error::other(error),
    }
}

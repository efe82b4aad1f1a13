//! Why rows of a table were not copied.

use std::io;

use parquet::errors::ParquetError;

/// Why rows were not copied: because of the table, the file, or whoever asked for it.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The table cannot be read.
    Read(io::Error),
    /// The file cannot be written.
    Written(io::Error),
    /// Nobody wants it any more.
    Stopped,
}

/// It cannot be written.
pub(crate) fn failed(error: ParquetError) -> Failure {
    Failure::Written(written(error))
}

/// What the system says, if it is that.
pub(crate) fn written(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error.to_string()),
        },
        error => io::Error::other(error),
    }
}

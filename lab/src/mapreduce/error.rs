//! Why lines cannot be reduced.

use std::sync::Arc;
use std::{error, fmt, io};

/// Why lines cannot be reduced, with a variant for each situation that a caller can act on.
///
/// The message of every variant is one line. It begins with the name of the stream and, if there is one, the number
/// of the line, from 1: `standard input:7`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A line was not written by a [`Mapper`](super::Mapper).
    NoLine {
        /// The stream and the line.
        place: String,
    },
    /// The last line is incomplete: its writer stopped early.
    NoEnd {
        /// The stream and the line.
        place: String,
        /// The name of the stream.
        name: String,
    },
    /// A line belongs to another schema.
    OtherParameters {
        /// The stream and the line.
        place: String,
        /// The expected parameters, those of the reducer's schema.
        expected: String,
    },
    /// The lines of a bucket are not adjacent.
    NotSorted {
        /// The stream and the line.
        place: String,
        /// The name of the bucket, which occurred before.
        bucket: String,
    },
    /// The shingles of a line do not belong to its bucket: the line has changed since it was written.
    OtherBucket {
        /// The stream and the line.
        place: String,
    },
    /// The stream cannot be read.
    Read {
        /// The name of the stream.
        name: String,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The parameters are invalid for reducing.
    Schema(dedupdb::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoLine { place } => write!(
                f,
                "{place}: this is not a line of dedupdb map, or it is damaged; give reduce the sorted output of map"
            ),
            Error::NoEnd { place, name } => write!(
                f,
                "{place}: the line is incomplete: the writer of {name} stopped early"
            ),
            Error::OtherParameters { place, expected } => write!(
                f,
                "{place}: map had other parameters, not {expected}; give map and reduce the same \
                 options"
            ),
            Error::NotSorted { place, bucket } => write!(
                f,
                "{place}: the key {bucket} comes again after others: the input is not sorted by key; \
                 pipe it through sort"
            ),
            Error::OtherBucket { place } => write!(
                f,
                "{place}: its shingles do not belong to this bucket: the line has changed since map wrote it"
            ),
            Error::Read { name, source } => write!(f, "{name} cannot be read: {source}"),
            Error::Schema(error) => write!(f, "{error}"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Read { source, .. } => source.source(),
            Error::Schema(error) => error.source(),
            _ => None,
        }
    }
}

/// The result of an operation of this module.
pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

impl From<dedupdb::Error> for Error {
    fn from(error: dedupdb::Error) -> Error {
        Error::Schema(error)
    }
}

//! Why a corpus was not written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::corpus::{self, Format};
use crate::publish::error as publish;

/// Why a corpus was not written, one variant for each situation a caller can act on.
///
/// The message of every variant is one line that has the cause in it. Nothing is written in any of these
/// cases, and what stood in the place of the output stands there still.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The observer asked to stop. The same run may begin anew, and gives the same output.
    Stopped,
    /// A file or record could not be read, which ends a run that is
    /// [strict](crate::corpus::Options::strict). The observer was told which.
    FirstFailure,
    /// An input is not there.
    NotFound {
        /// Its path.
        path: PathBuf,
    },
    /// A stream is one document, which has no name to be written under.
    StreamOfText {
        /// The name of the stream.
        name: String,
    },
    /// What is read does not go into what is to be written.
    Unfit {
        /// The file.
        place: String,
        /// Why it does not.
        unfit: Unfit,
    },
    /// Two inputs go to the same place in a folder of output.
    SamePlace {
        /// The second of them.
        source: PathBuf,
        /// The place in the folder.
        place: PathBuf,
    },
    /// A file has the name of the list that a folder of output has in it.
    ReservedName {
        /// The file.
        path: PathBuf,
    },
    /// A table of which rows are kept cannot be read as a whole.
    Input {
        /// The file.
        path: PathBuf,
        /// Which part of it, and why.
        source: Arc<io::Error>,
    },
    /// A file of columns was asked for, and there is no table to tell which.
    NoTable,
    /// A folder was asked for, and this is none, or a symbolic link to one.
    NoFolder {
        /// Its path.
        path: PathBuf,
    },
    /// An input is, holds or is in what it would be compared with alone, and would be dropped for its own sake.
    OwnCounterpart {
        /// The input.
        path: PathBuf,
        /// What it would be compared with, and what to do.
        reason: String,
    },
    /// A list of moved files is none, or is not as it was written.
    BadManifest {
        /// The list.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// A file changed while it was read.
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// What is kept on disk meanwhile takes more than it may.
    TemporaryLimit {
        /// The folder that it is in.
        folder: PathBuf,
        /// Bytes that it may take.
        limit: u64,
    },
    /// What is kept on disk meanwhile cannot be written.
    Temporary {
        /// The folder that it is in.
        folder: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The stream that the output goes to takes no more.
    Stream {
        /// Its reason.
        source: Arc<io::Error>,
    },
    /// The output cannot take its place.
    Output(publish::Error),
    /// The corpus cannot be read at all.
    Corpus(corpus::Error),
    /// The store did not answer, or takes nothing.
    Store(crate::Error),
    /// A defect of this crate.
    Defect {
        /// What should not be.
        what: &'static str,
    },
}

/// Why what is read does not go into what is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// A list has the paths of files that are one document each, and this one has records.
    RecordsInList,
    /// A table has one schema, and this one's is not that of the tables before it.
    OtherColumns,
    /// A file of records has records of one format.
    OtherFormat {
        /// The format of this one.
        found: Format,
        /// The format of the file.
        expected: Format,
    },
    /// A table has one header, and this one's is not that of the tables before it.
    OtherHeader,
    /// A file that is one document does not go into a file of records.
    DocumentInRecords,
    /// What is said of documents goes into records of JSONL, CSV and Parquet, and of TSV with a header.
    NoMarks,
    /// A table has a column, or a record a field, of the name that one of the marks would have.
    MarkedBefore,
}

/// The result of what can fail here.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stopped => f.write_str("stopped; nothing is written"),
            Error::FirstFailure => f.write_str("stopped at the first failure; nothing is written"),
            Error::NotFound { path } => {
                write!(f, "{}: there is no such file or folder", path.display())
            }
            Error::StreamOfText { name } => write!(f, "{name}: a stream of text is one document"),
            Error::Unfit { place, unfit } => write!(f, "{place}: {unfit}"),
            Error::SamePlace { source, place } => write!(
                f,
                "{}: another input goes to {} too; give them one at a time",
                source.display(),
                place.display()
            ),
            Error::ReservedName { path } => write!(
                f,
                "{}: an output has a file of its own under this name; rename it",
                path.display()
            ),
            Error::Input { path, source } => write!(
                f,
                "{}: {source}; nothing is written, and without this file the rest is",
                path.display()
            ),
            Error::NoFolder { path } => write!(
                f,
                "{}: this is not a folder, and links are not followed",
                path.display()
            ),
            Error::OwnCounterpart { path, reason } | Error::BadManifest { path, reason } => {
                write!(f, "{}: {reason}", path.display())
            }
            Error::NoTable => {
                f.write_str("no table could be read, so the columns of the output are not known")
            }
            Error::Changed { path } => write!(
                f,
                "{}: it changed while it was read; try again",
                path.display()
            ),
            Error::TemporaryLimit { folder, limit } => write!(
                f,
                "{}: the temporary texts and records take more than {limit} bytes",
                folder.display()
            ),
            Error::Temporary { folder, source } => write!(
                f,
                "{}: the temporary texts and records do not fit there: {source}",
                folder.display()
            ),
            Error::Stream { source } => write!(f, "the stream of the output: {source}"),
            Error::Output(error) => write!(f, "{error}"),
            Error::Corpus(error) => write!(f, "{error}"),
            Error::Store(error) => write!(f, "{error}"),
            Error::Defect { what } => write!(f, "{what}, which is a defect of this program"),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::RecordsInList => {
                f.write_str("a list has files that are one document each, and this one has records")
            }
            Unfit::OtherColumns => f.write_str(
                "its columns are not those of the tables before it; write to a folder, or give it alone",
            ),
            Unfit::OtherFormat { found, expected } => write!(
                f,
                "its records are {found} and do not go into a file of {expected} records; write to a \
                 folder, or give one format at a time"
            ),
            Unfit::OtherHeader => f.write_str(
                "its header is not that of the tables before it; write to a folder, or give it alone",
            ),
            Unfit::NoMarks => f.write_str(
                "it has no columns to mark; JSONL, CSV and Parquet have, and TSV with a header",
            ),
            Unfit::MarkedBefore => f.write_str(
                "it has a field or a column of the name of a mark already; choose another name",
            ),
            Unfit::DocumentInRecords => f.write_str(
                "a file that is one document does not go into a file of records; write to a folder, \
                 or say what records it has",
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Temporary { source, .. }
            | Error::Stream { source }
            | Error::Input { source, .. } => source.source(),
            Error::Output(error) => error.source(),
            Error::Corpus(error) => error.source(),
            Error::Store(error) => error.source(),
            _ => None,
        }
    }
}

impl From<publish::Error> for Error {
    fn from(error: publish::Error) -> Error {
        Error::Output(error)
    }
}

impl From<corpus::Error> for Error {
    fn from(error: corpus::Error) -> Error {
        Error::Corpus(error)
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        Error::Store(error)
    }
}

impl Error {
    /// The table at `path` cannot be read as a whole.
    pub(crate) fn input(path: PathBuf, source: io::Error) -> Error {
        Error::Input {
            path,
            source: Arc::new(source),
        }
    }

    /// The system refused to read or write what is temporary in the folder.
    pub(crate) fn temporary(folder: &Path, source: io::Error) -> Error {
        Error::Temporary {
            folder: folder.to_owned(),
            source: Arc::new(source),
        }
    }
}

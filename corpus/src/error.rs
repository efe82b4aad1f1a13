//! Why a corpus cannot be read at all.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use crate::formats::format::Format;
use crate::number::grouped;

/// Why a corpus cannot be read at all, or not to its end.
///
/// A single unreadable file or record is a [`Skipped`](crate::skipped::Skipped) instead, and reading
/// continues.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// No format has this name.
    UnknownFormat {
        /// The name.
        name: String,
    },
    /// No encoding has this name.
    UnknownEncoding {
        /// The name.
        name: String,
    },
    /// A pattern is invalid.
    InvalidGlob {
        /// The pattern.
        glob: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The system allows no further thread.
    Thread {
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The store that was asked for a document failed.
    Store {
        /// Its reason.
        source: dedupdb::Error,
    },
    /// A file is not a sketch file, is damaged, or has other parameters.
    Sketches {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Most files of the requested documents are not found from the current folder.
    FilesNotFound {
        /// The number of missing files.
        missing: u64,
        /// The number of files that were looked for.
        files: u64,
    },
    /// Reading stopped because of a bug in this crate or in a dependency.
    Defect,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownFormat { name } => {
                let names = Format::ALL.map(Format::name).join(", ");
                write!(
                    f,
                    "{name}: there is no such format; these are read: {names}"
                )
            }
            Error::UnknownEncoding { name } => write!(
                f,
                "{name}: there is no such encoding; windows-1252, shift_jis, gbk and utf-16le are some"
            ),
            Error::InvalidGlob { glob, detail } => write!(f, "{glob}: {detail}"),
            Error::Thread { .. } => {
                f.write_str("the system allows no further thread (see `ulimit -u` and `ulimit -v`)")
            }
            Error::Store { source } => write!(f, "{source}"),
            Error::Sketches { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::FilesNotFound { missing, files } => {
                let all = grouped(*files);
                let are = match (missing, files) {
                    (_, 1) => "the file is not".to_owned(),
                    (missing, files) if missing == files => format!("none of {all} files is"),
                    (missing, _) => format!("{} of {all} files are not", grouped(*missing)),
                };
                write!(
                    f,
                    "{are} found from this folder; run this where they were added from"
                )
            }
            Error::Defect => f.write_str("reading stopped because of a bug in this program"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Thread { source } => Some(source),
            Error::Store { source } => source.source(),
            Error::UnknownFormat { .. }
            | Error::UnknownEncoding { .. }
            | Error::InvalidGlob { .. }
            | Error::Sketches { .. }
            | Error::FilesNotFound { .. }
            | Error::Defect => None,
        }
    }
}

impl From<dedupdb::Error> for Error {
    fn from(source: dedupdb::Error) -> Error {
        Error::Store { source }
    }
}

impl Error {
    /// The system allows no further thread.
    pub fn thread(source: io::Error) -> Error {
        Error::Thread {
            source: Arc::new(source),
        }
    }
}

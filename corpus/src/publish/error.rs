//! Why an output was not published.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why an output was not published, with a variant for each situation that a caller can act on.
///
/// The message of every variant is one line with the path and the cause. An earlier file or folder is still in its
/// place, or the message tells where it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The path exists and must not be replaced.
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// The existing file or folder, or the folder in which the output is built, was not written by dedupdb or has
    /// changed since.
    ///
    /// It is left alone.
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// The existing file or folder changed while the output was built.
    ///
    /// It is left alone.
    Changed {
        /// The file or folder that changed.
        path: PathBuf,
        /// What happened to it, and what is not replaced.
        reason: String,
    },
    /// Another process is writing the same output.
    Busy {
        /// The place.
        path: PathBuf,
    },
    /// The path is over, in or around an input, a store or another output.
    Overlaps {
        /// The place.
        path: PathBuf,
        /// What it would overlap, and what to do.
        reason: String,
    },
    /// The path does not end in a name, such as `..`.
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The name does not have the extension of a known format.
    NoForm {
        /// The path.
        path: PathBuf,
        /// The formats and their extensions.
        reason: String,
    },
    /// The operating system refused something.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operation and its remains, where the path and the reason are not clear enough.
        context: Option<String>,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The search for stores failed.
    Store(dedupdb::Error),
}

/// The result of an operation of this module.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exists { path } => write!(f, "{}: this exists already", path.display()),
            Error::Foreign { path, reason }
            | Error::Changed { path, reason }
            | Error::NoForm { path, reason }
            | Error::Overlaps { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::Busy { path } => write!(
                f,
                "{}: another process is writing it; wait until it is done",
                path.display()
            ),
            Error::NoName { path } => write!(
                f,
                "{}: this is not a name for a file or folder",
                path.display()
            ),
            Error::Io {
                path,
                context: Some(context),
                source,
            } => write!(f, "{}: {context}: {source}", path.display()),
            Error::Io { path, source, .. } => write!(f, "{}: {source}", path.display()),
            Error::Store(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => source.source(),
            Error::Store(error) => error.source(),
            _ => None,
        }
    }
}

impl From<dedupdb::Error> for Error {
    fn from(error: dedupdb::Error) -> Error {
        Error::Store(error)
    }
}

impl Error {
    pub(crate) fn foreign(path: &Path, reason: impl Into<String>) -> Error {
        Error::Foreign {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    pub(super) fn overlaps(path: &Path, reason: impl Into<String>) -> Error {
        Error::Overlaps {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

/// Adds a path to an error of the system.
pub(crate) trait WithPath<T> {
    /// Adds the file or folder that the error is about.
    ///
    /// # Errors
    ///
    /// The original error, with the path.
    fn of(self, path: &Path) -> Result<T>;

    /// Adds the file or folder that the error is about, and the operation.
    ///
    /// # Errors
    ///
    /// The original error, with the path and the context.
    fn of_doing(self, path: &Path, context: impl FnOnce() -> String) -> Result<T>;
}

impl<T> WithPath<T> for io::Result<T> {
    fn of(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io {
            path: path.to_owned(),
            context: None,
            source: Arc::new(source),
        })
    }

    fn of_doing(self, path: &Path, context: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::Io {
            path: path.to_owned(),
            context: Some(context()),
            source: Arc::new(source),
        })
    }
}

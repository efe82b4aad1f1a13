//! The one error type of the crate.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What can go wrong, one variant for each situation a caller can act on.
///
/// The message of each variant is one line that says what is wrong and, if possible, what to do. It includes the cause.
/// [`source`](std::error::Error::source) returns only the causes behind that one, so printing the whole chain repeats
/// nothing; [`Error::io_kind`] gives its kind. Errors are cheap to clone, because callers that share a commit also share its failure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A schema parameter is outside its range, or two of them contradict each other.
    InvalidSchema {
        /// The parameter's name as the command line and [`Schema`](crate::Schema) spell it.
        parameter: &'static str,
        /// What is wrong with the value and which values fit.
        reason: String,
    },
    /// A parameter of a query is outside its range.
    InvalidQuery {
        /// The parameter's name.
        parameter: &'static str,
        /// What is wrong with the value and which values fit.
        reason: String,
    },
    /// The store does not have the parameters that were [expected](crate::Options::expect), or not those of another store
    /// or of sketches.
    SchemaMismatch {
        /// The first parameter that differs.
        parameter: &'static str,
        /// Its value in the store.
        stored: String,
        /// Its value in the call.
        given: String,
    },
    /// A text does not have the form its schema asks for (only [`Shingling::Ids`] restricts it).
    ///
    /// [`Shingling::Ids`]: crate::sketching::Shingling::Ids
    InvalidText {
        /// What was expected and what was found, with its position.
        reason: String,
    },
    /// A set of shingles is not of the kind that the store's schema makes.
    ///
    /// A set of at most 16 shingles needs 64 bits for each. A set that was made from a text or from integers records
    /// how it was made; see [`ShingleSet`](crate::sketching::ShingleSet).
    InvalidShingles {
        /// What is wrong with the set.
        reason: String,
    },
    /// A column given to a function of [`batch`](crate::batch) does not have the form that it needs.
    InvalidColumn {
        /// The column's name.
        column: &'static str,
        /// The first row that is wrong, from 0.
        row: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A key is empty or longer than [`MAX_KEY_BYTES`](crate::write::MAX_KEY_BYTES).
    InvalidKey {
        /// Length of the key in bytes.
        bytes: usize,
    },
    /// No document of the store has this key.
    NoSuchDocument {
        /// The key.
        key: String,
    },
    /// The call compares shingles, but the store keeps none.
    NoShingles,
    /// There is no store in the folder.
    NotAStore {
        /// The folder that was to be opened.
        path: PathBuf,
    },
    /// The folder in which a new store was to be made already holds a store.
    AlreadyAStore {
        /// The folder of the existing store.
        path: PathBuf,
    },
    /// The folder in which a new store was to be made is not empty.
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// The name of one of its entries.
        holds: String,
    },
    /// Something that is not part of a store has a name that a store needs.
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// A new store would be inside the folder of another one.
    InsideStore {
        /// The folder of the new store.
        path: PathBuf,
        /// The folder of the other one.
        store: PathBuf,
    },
    /// Another process writes to the store, or another handle of this one, and did not finish within
    /// [`Options::wait`](crate::Options::wait).
    Locked {
        /// The store's folder.
        path: PathBuf,
        /// The process that writes, if known. Linux tells which one it is. Elsewhere it may be a process that was
        /// killed. Where ranges of a file cannot be locked, it may be any process that has the store open.
        holder: Option<Holder>,
    },
    /// Another process rebuilds the store, as [`Store::rebuild`](crate::Store::rebuild) does, and did not finish within
    /// [`Options::wait`](crate::Options::wait). Writing goes on beside it.
    Rebuilding {
        /// The store's folder.
        path: PathBuf,
        /// The process that rebuilds it, if known. Linux tells which one it is.
        process: Option<u32>,
    },
    /// Another process holds a lock on bytes of a file that the call needs for a moment only.
    ///
    /// Any process that may read the file can lock them.
    Blocked {
        /// The file.
        path: PathBuf,
        /// What is held up, or which bytes are locked, and by which process, if the system tells.
        reason: String,
    },
    /// The store was opened read-only and the call would change it.
    ReadOnly,
    /// The store was written by a newer release.
    NewerFormat {
        /// The file that says so.
        path: PathBuf,
        /// The format this release reads.
        supported: u32,
        /// The format of the file.
        found: u32,
    },
    /// The store was written in an earlier format, which this release does not read.
    OlderFormat {
        /// The file that says so.
        path: PathBuf,
        /// The format this release reads.
        supported: u32,
        /// The format of the file.
        found: u32,
    },
    /// A file of the store does not hold what its catalog says it holds.
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An unfinished rebuild has a different target.
    Unfinished {
        /// The target of the unfinished rebuild.
        what: String,
    },
    /// The caller stopped the call, and none of its work is kept.
    Stopped,
    /// Documents whose texts are needed are gone or have changed.
    MissingSources {
        /// Their keys, in order.
        keys: Vec<String>,
    },
    /// An earlier access to the store's files failed, so it is unknown what they hold.
    ///
    /// A writer commits nothing more: drop it and take [another one](crate::Store::writer), which opens the files again and
    /// continues from the last commit. [`Store::refresh`](crate::Store::refresh) of a store that is open for writing does
    /// so for readers. A store that was opened read-only must be opened again.
    Poisoned,
    /// The call would wait for a [`Writer`](crate::Writer) that is not in use: this thread has it, or feeds the
    /// [`Pipeline`](crate::write::Pipeline) that has it, or it was not used for
    /// [`Options::idle_writer`](crate::Options::idle_writer).
    WriterHeld,
    /// This process is a fork of the one that made the handle.
    OtherProcess,
    /// The store's folder was moved, replaced or deleted while the store was open.
    ///
    /// Its path no longer leads to this store, and nothing more is written. Open the store again at its new place.
    Moved {
        /// Where the index was when the store was opened.
        path: PathBuf,
    },
    /// The document is from another store, or from before a rebuild renumbered the contents.
    OldDocument {
        /// Its key.
        key: String,
    },
    /// The store is full: content ids have 32 bits.
    Full,
    /// The operating system refused to read or write a file.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The index file could not be read or written.
    Index {
        /// The index file.
        path: PathBuf,
        /// The reason that redb, the database of the index, gives.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

/// The process that has the right to write to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The process ID.
    pub process: u32,
    /// Since when it has that right, to the second, if it left a note. Calls that take a moment leave none.
    pub since: Option<SystemTime>,
}

impl fmt::Display for Holder {
    /// Writes which process it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process)
    }
}

/// The result of every fallible call of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns a key in quotes; of a long one, the first characters.
fn shown(key: &str) -> String {
    const SHOWN: usize = 500;
    match key.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}... ({} bytes)", &key[..end], key.len()),
        None => format!("{key:?}"),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidSchema { .. }
            | Error::InvalidQuery { .. }
            | Error::SchemaMismatch { .. }
            | Error::InvalidText { .. }
            | Error::InvalidShingles { .. }
            | Error::InvalidColumn { .. }
            | Error::InvalidKey { .. } => self.given(f),
            Error::NoSuchDocument { key } => {
                write!(f, "{}: no document of the store has this key", shown(key))
            }
            Error::NoShingles => write!(
                f,
                "the store keeps no shingles, so nothing can be compared exactly; make one that does"
            ),
            Error::NotAStore { .. }
            | Error::AlreadyAStore { .. }
            | Error::Occupied { .. }
            | Error::NotEmpty { .. }
            | Error::InsideStore { .. } => self.place(f),
            Error::Locked { path, holder } => locked(path, *holder, f),
            Error::Rebuilding { path, process } => rebuilding(path, *process, f),
            Error::Blocked { path, reason } => blocked(path, reason, f),
            Error::ReadOnly => write!(f, "the store was opened read-only"),
            Error::NewerFormat { .. } | Error::OlderFormat { .. } => other_format(self, f),
            Error::Damaged { path, reason } => damaged(path, reason, f),
            Error::Unfinished { what } => write!(
                f,
                "there is an unfinished rebuild to {what}; finish it or cancel it first"
            ),
            Error::Stopped => write!(f, "stopped before the end"),
            Error::MissingSources { keys } => missing(keys, f),
            Error::Poisoned => write!(
                f,
                "an earlier read or write of the store failed; drop the writer and take another one, or open the store again, which continues from the last commit"
            ),
            Error::WriterHeld => write!(
                f,
                "this process holds the writer of the store and does not use it; first drop it, or close its pipeline"
            ),
            Error::OtherProcess => write!(
                f,
                "this process is a fork of the one that opened the store; open it again here"
            ),
            Error::Moved { path } => write!(
                f,
                "{}: the store's folder was moved, replaced or deleted while the store was open; open it \
                 again at its new place",
                path.display()
            ),
            Error::OldDocument { key } => write!(
                f,
                "{}: this document is from another store, or from before a rebuild renumbered the contents; \
                 get it again from this store",
                shown(key)
            ),
            Error::Full => write!(f, "the store holds 2^32 - 2 contents and takes no more"),
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Index { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl Error {
    /// Writes the message of an error about an argument.
    fn given(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidSchema { parameter, reason }
            | Error::InvalidQuery { parameter, reason } => {
                write!(f, "{parameter}: {reason}")
            }
            Error::SchemaMismatch {
                parameter,
                stored,
                given,
            } => mismatch(parameter, stored, given, f),
            Error::InvalidText { reason } | Error::InvalidShingles { reason } => {
                write!(f, "{reason}")
            }
            Error::InvalidColumn {
                column,
                row,
                reason,
            } => write!(f, "{column}, row {row}: {reason}"),
            Error::InvalidKey { bytes: 0 } => {
                write!(f, "the key is empty; a key has 1 to 65536 bytes")
            }
            Error::InvalidKey { bytes } => {
                write!(f, "the key has {bytes} bytes; a key has 1 to 65536 bytes")
            }
            _ => Ok(()),
        }
    }

    /// Writes the message of an error about the place of a store.
    fn place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotAStore { path } => {
                write!(f, "{}: there is no dedupdb store here", path.display())
            }
            Error::AlreadyAStore { path } => write!(
                f,
                "{}: there is a dedupdb store here already; use it, or choose another folder",
                path.display()
            ),
            Error::Occupied { path } => write!(
                f,
                "{}: a store needs this name, and what has it is not part of the store; move it away or choose another folder",
                path.display()
            ),
            Error::NotEmpty { path, holds } => write!(
                f,
                "{}: this folder holds {holds:?}, and a store is made in a folder that is absent or empty; choose another, such as {}",
                path.display(),
                path.join("store").display()
            ),
            Error::InsideStore { path, store } => write!(
                f,
                "{}: this is inside the store {}; choose a place outside",
                path.display(),
                store.display()
            ),
            _ => Ok(()),
        }
    }
}

fn mismatch(parameter: &str, stored: &str, given: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "the parameters differ: {parameter} is {stored} in the store, not {given}"
    )
}

fn other_format(error: &Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (path, found, supported, writer, remedy) = match error {
        Error::NewerFormat {
            path,
            supported,
            found,
        } => (path, found, supported, "a newer", "use the newer release"),
        Error::OlderFormat {
            path,
            supported,
            found,
        } => {
            let remedy = "make a new store and add the texts again";
            (path, found, supported, "an earlier", remedy)
        }
        _ => return Ok(()),
    };
    write!(
        f,
        "{}: written in format {found} by {writer} dedupdb; this one reads format {supported}, so {remedy}",
        path.display()
    )
}

fn locked(path: &Path, holder: Option<Holder>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = path.display();
    match holder {
        Some(holder) if holder.process == std::process::id() => {
            write!(
                f,
                "{path}: another handle of this process is writing to the store"
            )
        }
        Some(holder) => write!(
            f,
            "{path}: {holder} is writing to the store; wait until it is done"
        ),
        None => write!(
            f,
            "{path}: another process is writing to the store; wait until it is done"
        ),
    }
}

fn rebuilding(path: &Path, process: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = path.display();
    match process {
        Some(process) => write!(f, "{path}: process {process} is rebuilding the store")?,
        None => write!(f, "{path}: another process is rebuilding the store")?,
    }
    f.write_str("; wait until it is done")
}

fn damaged(path: &Path, reason: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{}: damaged: {reason}; restore the store from a backup or build it again",
        path.display()
    )
}

fn blocked(path: &Path, reason: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = path.display();
    write!(
        f,
        "{path}: {reason}; continue or end it if it is stopped, or try again when it is done"
    )
}

fn missing(keys: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(first) = keys.first() {
        write!(f, "{first:?}")?;
    }
    if keys.len() > 1 {
        write!(f, " and {} more", keys.len() - 1)?;
    }
    f.write_str(
        ": the text is gone or is another now, and the store keeps no shingles of it; add it again, or remove the document",
    )
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => source.source(),
            Error::Index { source, .. } => source.source(),
            _ => None,
        }
    }
}

/// The errors about a path, as a pattern.
macro_rules! about {
    ($path:ident) => {
        Error::NotAStore { path: $path }
            | Error::AlreadyAStore { path: $path }
            | Error::NotEmpty { path: $path, .. }
            | Error::Occupied { path: $path }
            | Error::InsideStore { path: $path, .. }
            | Error::Locked { path: $path, .. }
            | Error::Rebuilding { path: $path, .. }
            | Error::Blocked { path: $path, .. }
            | Error::NewerFormat { path: $path, .. }
            | Error::OlderFormat { path: $path, .. }
            | Error::Damaged { path: $path, .. }
            | Error::Moved { path: $path }
            | Error::Io { path: $path, .. }
            | Error::Index { path: $path, .. }
    };
}

impl Error {
    /// Returns the file or folder that the error is about, if it is about one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            about!(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the kind of the system's error, if the system refused to read or write.
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("file");
    /// std::fs::write(&file, "")?;
    /// let error = Store::create(file.join("store"), &Schema::default()).unwrap_err();
    /// assert_eq!(error.io_kind(), Some(ErrorKind::AlreadyExists));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Error::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }

    /// Wraps an error of the system about `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Error {
        Error::Io {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    /// Wraps an error of redb about the index at `path`.
    pub(crate) fn index(path: &Path, source: impl Into<redb::Error>) -> Error {
        match source.into() {
            redb::Error::DatabaseAlreadyOpen => Error::Locked {
                path: path.parent().unwrap_or(path).to_owned(),
                holder: None,
            },
            redb::Error::Corrupted(reason) => Error::damaged(path, reason),
            redb::Error::PreviousIo => Error::Poisoned,
            redb::Error::Io(source) if source.kind() == io::ErrorKind::ResourceBusy => {
                Error::Blocked {
                    path: path.to_owned(),
                    reason: source.to_string(),
                }
            }
            redb::Error::Io(source) => Error::io(path, source),
            // Tables keep their types, so another one was read from a damaged page.
            source @ (redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TableIsNotMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. }
            | redb::Error::TableDoesNotExist(_)) => Error::damaged(path, source.to_string()),
            source => Error::Index {
                path: path.to_owned(),
                source: Arc::new(source),
            },
        }
    }

    /// Adds who writes, if that is in the way and not known yet.
    pub(crate) fn held_by(self, find: impl FnOnce() -> Option<Holder>) -> Error {
        match self {
            Error::Locked { path, holder: None } => Error::Locked {
                holder: find(),
                path,
            },
            error => error,
        }
    }

    /// Whether the error means that the data is of no use, not that it cannot be read just now.
    pub(crate) fn is_of_damage(&self) -> bool {
        use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
        let source = match self {
            Error::Locked { .. }
            | Error::Rebuilding { .. }
            | Error::Blocked { .. }
            | Error::Poisoned
            | Error::NewerFormat { .. }
            | Error::OlderFormat { .. } => return false,
            Error::Io { source, .. } => source,
            _ => return true,
        };
        matches!(source.kind(), InvalidData | NotFound | UnexpectedEof)
    }

    /// Whether the error means that the system refused to write; reading may still be possible.
    pub(crate) fn is_refusal_to_write(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        matches!(
            self.io_kind(),
            Some(PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
        )
    }

    /// The same error about `original`, of which the file that was read is a copy.
    pub(crate) fn of_original(self, original: &Path) -> Error {
        let path = original.to_owned();
        match self {
            Error::Io { source, .. } => Error::Io { path, source },
            Error::Index { source, .. } => Error::Index { path, source },
            Error::Damaged { reason, .. } => Error::Damaged { path, reason },
            error => error,
        }
    }

    /// Spells the path of the error as the caller gave it.
    ///
    /// `place` is the absolute path of `folder`. A path in `place` becomes one in `folder`. Another path becomes
    /// relative to the current directory, if `folder` is relative.
    pub(crate) fn named_as_given(mut self, place: &Path, folder: &Path) -> Error {
        let Some(path) = self.path_mut() else {
            return self;
        };
        let given = match path.strip_prefix(place) {
            // Joining an empty path would add a separator.
            Ok(rest) if rest == Path::new("") => Some(folder.to_owned()),
            Ok(rest) => Some(folder.join(rest)),
            Err(_) if folder.is_relative() => {
                let here = whole_path(Path::new("."));
                let rest = path.strip_prefix(here).ok();
                rest.filter(|rest| *rest != Path::new(""))
                    .map(Path::to_owned)
            }
            Err(_) => None,
        };
        if let Some(given) = given {
            *path = given;
        }
        self
    }

    fn path_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            about!(path) => Some(path),
            _ => None,
        }
    }

    /// Says that `path` is damaged, and how.
    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Error {
        Error::Damaged {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

/// The absolute path of the same place. Links in it are not resolved.
pub(crate) fn whole_path(path: &Path) -> PathBuf {
    // This fails only if the current directory is gone, and then the next use of the path says so.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Error;

    #[test]
    fn a_table_that_has_another_type_is_damaged() {
        let changed = redb::Error::TypeDefinitionChanged {
            name: redb::TypeName::new("u64"),
            alignment: 1,
            width: None,
        };
        for source in [changed, redb::Error::TableDoesNotExist("names".into())] {
            let error = Error::index(Path::new("index.redb"), source);
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
    }
}

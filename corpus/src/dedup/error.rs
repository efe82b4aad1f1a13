//! Why a corpus was not written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::publish::error as publish;
use crate::{Format, Glob, Hint, hint, nothing_at};

/// Why a corpus was not written, with a variant for each situation that a caller can act on.
/// Each message is one line and includes the cause. In all these cases, nothing is written and an existing output stays
/// as it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The run was stopped. The same run may be started again and gives the same output.
    Stopped,
    /// A file or record could not be read, which ends a [strict](crate::Options::strict) run. The observer
    /// received an event that names it.
    FirstFailure,
    /// An input that was named could not be read, or not to its end. The observer received an event with the reason.
    /// [`Dedup::skip_unreadable`](crate::dedup::Dedup::skip_unreadable) goes on without it.
    Unreadable {
        /// The file.
        place: String,
    },
    /// An input does not exist.
    NotFound {
        /// Its path.
        path: PathBuf,
    },
    /// A stream is a single document, which has no name for an output file.
    StreamOfText {
        /// The name of the stream.
        name: String,
    },
    /// An input does not fit into the output.
    Unfit {
        /// The file.
        place: String,
        /// Why it does not fit.
        unfit: Unfit,
    },
    /// Two inputs would have the same path in the output folder.
    SamePlace {
        /// The second one.
        source: PathBuf,
        /// The place in the folder.
        place: PathBuf,
    },
    /// A table whose rows are to be copied cannot be read completely.
    Input {
        /// The file.
        path: PathBuf,
        /// The affected part, and the reason.
        source: Arc<io::Error>,
    },
    /// A Parquet file was requested, but no table could be read.
    NoTable,
    /// A folder is needed, and this is not one, or is a symbolic link to one.
    NoFolder {
        /// Its path.
        path: PathBuf,
    },
    /// An input would be compared with itself and dropped: it is, contains or lies in what it is compared with.
    OwnCounterpart {
        /// The input.
        path: PathBuf,
        /// What it would be compared with, and what to do.
        reason: String,
    },
    /// [Containment](crate::dedup::Dedup::containment) does not go together with another setting, or is out of range.
    Containment {
        /// What it does not go with.
        conflict: ContainmentConflict,
    },
    /// An [order by fields](crate::dedup::Dedup::keep_by) does not go together with another setting, or the documents have no
    /// such values.
    KeepBy {
        /// What is wrong, and where.
        reason: String,
    },
    /// [Units](crate::dedup::Dedup::unit) or [passages](crate::dedup::Dedup::cut_passages) do not go together with another setting, or one of theirs is out of range.
    Units {
        /// What they do not go with.
        reason: &'static str,
    },
    /// The [passages](crate::dedup::Dedup::cut_passages) of the input take more than
    /// [`Dedup::memory`](crate::dedup::Dedup::memory).
    PassageMemory {
        /// The maximum number of bytes.
        limit: u64,
    },
    /// A [benchmark](crate::decontaminate) has no item that can be checked, or what is asked of it is out of range.
    Benchmark {
        /// What is wrong.
        reason: String,
    },
    /// No record of a file of a [benchmark](crate::decontaminate) has a text in a field. Its items would seem to be
    /// nowhere.
    LacksField {
        /// The file.
        path: PathBuf,
        /// The field, if it was named for the benchmark.
        field: Option<String>,
    },
    /// None of the documents to compare the input with could be read. The observer received events with the reasons.
    NothingToCompare,
    /// The store to compare the input with has documents of a run that was interrupted or goes on. What is dropped because
    /// of them would be nowhere if they are forgotten.
    UnpublishedCounterpart {
        /// The folder of the store.
        path: PathBuf,
    },
    /// A source to compare the input with does not exist, or is a file of records that cannot be read completely.
    /// Documents that resemble it would be kept.
    UnreadCounterpart {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A pattern of [`Dedup::protect`](crate::dedup::Dedup::protect) matches no file name.
    ProtectsNothing {
        /// The pattern.
        glob: Glob,
    },
    /// A file is not a list of moved files, or was changed after it was written.
    BadManifest {
        /// The list.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// Another process is moving files to or from the folder, or a folder in it.
    Held {
        /// The folder.
        path: PathBuf,
        /// The process, if known, and what it does.
        holder: String,
    },
    /// A file changed while it was read, or before an output that names it was in its place.
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Temporary texts and records take more space than the limit.
    TemporaryLimit {
        /// The folder that contains them.
        folder: PathBuf,
        /// The maximum number of bytes.
        limit: u64,
    },
    /// Temporary texts and records cannot be written.
    Temporary {
        /// The folder that contains them.
        folder: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The output stream cannot be written.
    Stream {
        /// Its reason.
        source: Arc<io::Error>,
    },
    /// The output cannot be put in its place.
    Output(publish::Error),
    /// The corpus cannot be read.
    Corpus(crate::Error),
    /// The store cannot be read or written.
    Store(dedupdb::Error),
    /// A bug in this crate.
    Defect {
        /// What should not happen.
        what: &'static str,
    },
}

/// Why an input does not fit into the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// A list has the paths of files with one document each, but this file has records.
    RecordsInList,
    /// All tables of an output need the same schema, and this one differs from the tables before it.
    OtherColumns,
    /// Records keep their format, but the name of the output says another one.
    NotConverted {
        /// The format of the records.
        found: Format,
        /// The format that the name says.
        named: Format,
    },
    /// All records of an output need the same format.
    OtherFormat {
        /// The format of this one.
        found: Format,
        /// The format of the file.
        expected: Format,
    },
    /// All tables of an output need the same header, and this one differs from the tables before it.
    OtherHeader,
    /// A file with one document cannot be written into a file of records.
    DocumentInRecords,
    /// Only records of JSONL, CSV and Parquet, and of TSV with a header, can be marked.
    NoMarks,
    /// A table or record already has a column or field with the name of a mark.
    MarkedBefore,
    /// Its text cannot be cut, because it was extracted: only records of JSON, CSV, TSV and Parquet, and files of plain text,
    /// have theirs as it is.
    NoText,
}

/// What [containment](crate::dedup::Dedup::containment) does not go with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainmentConflict {
    /// A share that is not above 0 and at most 1.
    Share,
    /// A store.
    Store,
    /// Another place to compare with.
    Against,
    /// Documents that are protected, or keys of those that may be dropped.
    Protection,
    /// A [`Keep`](crate::dedup::Keep) other than the longest.
    Keep,
    /// A schema that keeps no shingles.
    NoShingles,
    /// Moving files.
    Move,
}

/// The result of a fallible function of this module.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stopped => f.write_str("stopped; nothing is written"),
            Error::FirstFailure => f.write_str("stopped at the first failure; nothing is written"),
            Error::Unreadable { place } => write!(f, "{place}: unreadable; nothing is written"),
            Error::NotFound { path } => {
                write!(f, "{}: {}", path.display(), nothing_at(path))
            }
            Error::StreamOfText { name } => write!(f, "{name}: a stream of text is one document"),
            Error::Unfit { place, unfit } => write!(f, "{place}: {unfit}"),
            Error::SamePlace { source, place } => write!(
                f,
                "{}: another input goes to {} too; give them one at a time",
                source.display(),
                place.display()
            ),
            Error::Input { path, source } => input(f, path, source),
            Error::NoFolder { path } => write!(
                f,
                "{}: a folder is needed here, not a file or a symbolic link",
                path.display()
            ),
            Error::UnpublishedCounterpart { path } => unpublished(f, path),
            Error::OwnCounterpart { path, reason }
            | Error::UnreadCounterpart { path, reason }
            | Error::BadManifest { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::Containment { conflict } => write!(f, "containment: {conflict}"),
            Error::KeepBy { reason } => f.write_str(reason),
            Error::Units { reason } => f.write_str(reason),
            Error::PassageMemory { limit } => passage_memory(f, *limit),
            Error::Benchmark { reason } => write!(f, "the benchmark: {reason}"),
            Error::LacksField { path, field } => lacks_field(f, path, field.as_deref()),
            Error::NothingToCompare => f.write_str(
                "nothing could be read of what to compare with, and nothing is written; its records need the \
                 fields that the input has for key and text",
            ),
            Error::ProtectsNothing { glob } => write!(
                f,
                "{glob}: no file has a name that this pattern protects, so nothing is dropped or written"
            ),
            Error::Held { path, holder } => {
                write!(f, "{}: {holder}; wait until it ends", path.display())
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
                "{}: the temporary texts and records {} there: {source}",
                folder.display(),
                failure(source)
            ),
            Error::Stream { source } => write!(f, "the stream of the output: {source}"),
            Error::Output(error) => write!(f, "{error}"),
            Error::Corpus(error) => write!(f, "{error}"),
            Error::Store(error) => write!(f, "{error}"),
            Error::Defect { what } => write!(f, "{what}, which is a defect of this program"),
        }
    }
}

impl fmt::Display for ContainmentConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ContainmentConflict::Share => "its share is above 0 and at most 1",
            ContainmentConflict::Store => {
                "it compares one input with itself; leave the store out (one that finds passages keeps out what a \
                 stored text contains)"
            }
            ContainmentConflict::Against => {
                "it compares one input with itself; give both places as input"
            }
            ContainmentConflict::Protection => "it can drop any document; protect none, and list none",
            ContainmentConflict::Keep => {
                "the longer text is always kept; leave out which one to keep, or choose the longest"
            }
            ContainmentConflict::NoShingles => "it compares shingles, and the parameters keep none",
            ContainmentConflict::Move => {
                "files are moved by similarity only; write the kept ones instead"
            }
        })
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
            Unfit::NotConverted { found, named } => write!(
                f,
                "its records are {found}, and are not converted to {named}; name the output .{found}, or \
                 write to a folder"
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
                "it has a field or a column of this name already; choose another name for the marks",
            ),
            Unfit::NoText => f.write_str(
                "its text cannot be cut, because it was extracted, or is in a list or in several fields; what is left of a text in one field \
                 of JSON, CSV, TSV or Parquet goes back there",
            ),
            Unfit::DocumentInRecords => f.write_str(
                "a file that is one document does not go into a file of records; write to a folder, \
                 leave it out, or say what records it has",
            ),
        }
    }
}

fn input(f: &mut fmt::Formatter<'_>, path: &Path, source: &io::Error) -> fmt::Result {
    let hint = hint(source).map_or("", Hint::words);
    write!(f, "{}: {source}{hint}; nothing is written", path.display())
}

fn unpublished(f: &mut fmt::Formatter<'_>, store: &Path) -> fmt::Result {
    write!(
        f,
        "{}: a dedup into this store was interrupted or goes on, and what it stored may be forgotten; repeat it or \
         wait for it; nothing is written",
        store.display()
    )
}

fn passage_memory(f: &mut fmt::Formatter<'_>, limit: u64) -> fmt::Result {
    let limit = crate::number::bytes(limit);
    write!(
        f,
        "the passages of the input take more than {limit} of memory; allow more, or cut longer ones"
    )
}

fn lacks_field(f: &mut fmt::Formatter<'_>, path: &Path, field: Option<&str>) -> fmt::Result {
    write!(f, "{}: no record has a text", path.display())?;
    if let Some(field) = field {
        write!(f, " in {field:?}")?;
    }
    f.write_str("; nothing is written")
}

/// What temporary data could not do, given the error of the system.
fn failure(error: &io::Error) -> &'static str {
    if is_full(error) {
        "do not fit"
    } else {
        "cannot be kept"
    }
}

/// Whether an error of the system says that there is no room.
pub(super) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
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

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        match error {
            crate::Error::Store { source } => source.into(),
            error => Error::Corpus(error),
        }
    }
}

impl From<dedupdb::Error> for Error {
    fn from(error: dedupdb::Error) -> Error {
        match error {
            dedupdb::Error::Stopped => Error::Stopped,
            error => Error::Store(error),
        }
    }
}

impl Error {
    /// Returns what would help, if known.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            Error::Input { source, .. } => hint(source),
            _ => None,
        }
    }

    /// Returns the error for the table at `path`, which cannot be read completely.
    pub(crate) fn input(path: PathBuf, source: io::Error) -> Error {
        Error::Input {
            path,
            source: Arc::new(source),
        }
    }

    /// Returns the error for a stream that cannot be written.
    pub(crate) fn stream(source: io::Error) -> Error {
        Error::Stream {
            source: Arc::new(source),
        }
    }

    /// Returns the error for temporary data in the folder that the system refused to read or write.
    pub(crate) fn temporary(folder: &Path, source: io::Error) -> Error {
        Error::Temporary {
            folder: folder.to_owned(),
            source: Arc::new(source),
        }
    }
}

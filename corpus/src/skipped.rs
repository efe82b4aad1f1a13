//! Files and records that are skipped, and why.

use std::path::Path;
use std::{error, fmt, io};

/// A file or record that was not read as a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The reason.
    pub reason: Reason,
    /// The file and, for a record, its line or number.
    pub place: String,
    /// Details beyond the name of the reason.
    pub detail: String,
    /// What would help, if known.
    pub hint: Option<Hint>,
    /// Whether it is a source itself that could not be read, or not to its end, and not a file in a folder. The only
    /// record of a source counts as the source.
    pub named: bool,
    /// The record, if it is complete but not a document, and records are wanted verbatim.
    pub(crate) record: Option<Box<UnreadRecord>>,
}

/// The number of a record in its file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nth {
    /// A line.
    Line(u64),
    /// A row of a table, or a record of an archive.
    Record(u64),
}

impl Nth {
    /// Returns the number alone.
    pub fn number(self) -> u64 {
        match self {
            Nth::Line(number) | Nth::Record(number) => number,
        }
    }
}

impl fmt::Display for Nth {
    /// Writes the number as it follows a file's path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nth::Line(number) => write!(f, ":{number}"),
            Nth::Record(number) => write!(f, "#{number}"),
        }
    }
}

/// A record that was cut from its file but is not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreadRecord {
    pub(crate) nth: Nth,
    /// The record as it is in its file; empty for a row of a table that is read again.
    pub(crate) verbatim: Vec<u8>,
}

/// Why a record is not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordFault {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
    /// What would make the record readable.
    pub(crate) hint: Option<Hint>,
}

impl RecordFault {
    /// Returns the fault of a malformed record.
    pub(crate) fn bad(detail: impl Into<String>) -> RecordFault {
        RecordFault {
            reason: Reason::BadRecord,
            detail: detail.into(),
            hint: None,
        }
    }

    /// Returns the skipped item for this fault.
    pub(crate) fn skipped(self, place: String) -> Skipped {
        Skipped {
            hint: self.hint,
            ..Skipped::new(self.reason, place, self.detail)
        }
    }

    /// Returns the fault of a record that is larger than requested.
    pub(crate) fn too_large() -> RecordFault {
        RecordFault {
            reason: Reason::TooLarge,
            detail: Reason::TooLarge.name().to_owned(),
            hint: None,
        }
    }
}

/// The message if reading panicked.
pub(crate) const DEFECT: &str = "it cannot be read, by a defect of this program; please report it";

/// What would make a skipped file or record readable, in the words of this crate.
///
/// ```
/// use dedupdb_corpus::{Corpus, Hint};
///
/// # let folder = tempfile::tempdir()?;
/// # let lines = folder.path().join("lines.jsonl");
/// std::fs::write(&lines, "{\"id\": 1, \"body\": \"The night tram\"}\n")?;
/// let skipped = Corpus::open([&lines])?.next().unwrap().unwrap_err();
/// assert_eq!(skipped.hint, Some(Hint::TextField));
/// assert!(skipped.to_string().ends_with("it has \"id\", \"body\" (choose one for the text)"));
/// let told = skipped.told(|_| "; name one in the settings");
/// assert!(told.ends_with("it has \"id\", \"body\"; name one in the settings"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// Another field has the text: [`Options::text_field`](crate::Options::text_field).
    TextField,
    /// Other fields have the items of a benchmark: [`Decontaminate::fields`](crate::decontaminate::Decontaminate::fields).
    ItemField,
    /// Another field has the key: [`Options::id_field`](crate::Options::id_field).
    IdField,
    /// Other columns have the key and the text, by name or by number:
    /// [`Options::text_field`](crate::Options::text_field) and
    /// [`Options::id_field`](crate::Options::id_field).
    Columns,
    /// Another program can write it with commas or tabs between its cells.
    Separator,
    /// Two files have the same id: choose an [`IdScope`](dedupdb::write::IdScope).
    IdScope,
    /// Two folders have a file of the same relative path.
    Folder,
    /// It may be in another encoding: [`Options::encoding`](crate::Options::encoding).
    Encoding,
    /// It is UTF-16 without a byte order mark, the low byte first: [`Options::encoding`](crate::Options::encoding).
    Utf16Le,
    /// The same with the high byte first.
    Utf16Be,
    /// More memory would decompress it: [`Options::memory`](crate::Options::memory).
    Memory,
}

impl Hint {
    /// Returns the words that follow the detail, including the first punctuation.
    pub fn words(self) -> &'static str {
        match self {
            Hint::TextField => " (choose one for the text)",
            Hint::ItemField => " (name the fields of the benchmark)",
            Hint::IdField => "; choose another one for the key",
            Hint::Columns => "; choose columns by name or by number",
            Hint::Separator => "; convert it to commas or tabs",
            Hint::IdScope => "; is it the same document, or does each file have its own ids?",
            Hint::Folder => "; add both by absolute paths, or from a folder above both",
            Hint::Encoding => "; name its encoding if it has another one",
            Hint::Utf16Le => "; if it is UTF-16, name the encoding utf-16le",
            Hint::Utf16Be => "; if it is UTF-16, name the encoding utf-16be",
            Hint::Memory => "; allow more, or decompress it first",
        }
    }
}

/// Why a file or record was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// It is not text: it has a NUL byte, or begins like a file of another kind.
    Binary,
    /// It is larger than the limit. A record of a source itself is then a [bad one](Reason::BadRecord).
    TooLarge,
    /// The system refused to read it.
    Unreadable,
    /// It was named but does not exist.
    NotFound,
    /// It is a device.
    Device,
    /// It is a named pipe.
    Pipe,
    /// It is a socket.
    Socket,
    /// It is a symbolic link, which is not followed.
    Link,
    /// It is a symbolic link that leads back to itself.
    SymlinkLoop,
    /// It is a symbolic link to nothing.
    BrokenLink,
    /// It is the folder of a store.
    Store,
    /// It is the folder of a version-control system, or a file in place of one.
    VersionControl,
    /// Hadoop, Spark or a `dedup` wrote it beside their output: `_SUCCESS`, checksums, folders of unfinished files.
    JobFile,
    /// It is a file that `move` put aside, the list of such files, or their folder if that list is damaged.
    Aside,
    /// Its name does not match the patterns.
    Excluded,
    /// It was named but is the folder of a store.
    StoreNamed,
    /// Two arguments lead to it.
    NamedTwice,
    /// It is another name of an earlier file or folder.
    OtherName,
    /// Its key is the id of an earlier record with another text, of this run or of another file in the store, or the path
    /// from another folder to another file in the store.
    RepeatedKey,
    /// It is a line that is not a record.
    BadRecord,
    /// It is a file with several records, and none is a document. Each is skipped, too.
    AllBad,
    /// It was named, and is a file of records without a record.
    NoRecords,
    /// It has too few words for what is asked.
    TooShort,
    /// It is a record of a web archive without a page: a request, an image, an error.
    NoPage,
    /// Reading stopped early: the system, a store or the program failed.
    Stopped,
    /// The store refuses its key.
    BadKey,
    /// The store refuses its text.
    BadText,
}

impl Reason {
    /// All reasons.
    pub const ALL: &[Reason] = &[
        Reason::Binary,
        Reason::TooLarge,
        Reason::Unreadable,
        Reason::NotFound,
        Reason::Device,
        Reason::Pipe,
        Reason::Socket,
        Reason::Link,
        Reason::SymlinkLoop,
        Reason::BrokenLink,
        Reason::Store,
        Reason::VersionControl,
        Reason::JobFile,
        Reason::Aside,
        Reason::Excluded,
        Reason::StoreNamed,
        Reason::NamedTwice,
        Reason::OtherName,
        Reason::RepeatedKey,
        Reason::BadRecord,
        Reason::AllBad,
        Reason::NoRecords,
        Reason::TooShort,
        Reason::NoPage,
        Reason::Stopped,
        Reason::BadKey,
        Reason::BadText,
    ];

    /// Returns the name of the reason, as summaries show it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Binary => "binary",
            Reason::TooLarge => "too large",
            Reason::Unreadable => "unreadable",
            Reason::NotFound => "not found",
            Reason::Device => "device",
            Reason::Pipe => "pipe",
            Reason::Socket => "socket",
            Reason::Link => "symbolic link",
            Reason::SymlinkLoop => "symlink loop",
            Reason::BrokenLink => "broken link",
            Reason::Store | Reason::StoreNamed => "dedupdb store",
            Reason::VersionControl => "version control",
            Reason::JobFile => "job file",
            Reason::Aside => "put aside",
            Reason::Excluded => "excluded",
            Reason::NamedTwice => "named twice",
            Reason::OtherName => "other name",
            Reason::RepeatedKey => "repeated key",
            Reason::BadRecord => "bad record",
            Reason::AllBad => "all records bad",
            Reason::NoRecords => "no records",
            Reason::TooShort => "too short",
            Reason::NoPage => "no page",
            Reason::Stopped => "stopped",
            Reason::BadKey => "bad key",
            Reason::BadText => "bad text",
        }
    }

    /// Returns whether the reason is a failure rather than a choice, wherever the file or record is.
    pub fn is_failure(self) -> bool {
        match self {
            Reason::Unreadable
            | Reason::NotFound
            | Reason::StoreNamed
            | Reason::RepeatedKey
            | Reason::BadRecord
            | Reason::AllBad
            | Reason::Stopped
            | Reason::BadKey
            | Reason::BadText => true,
            Reason::Binary
            | Reason::TooLarge
            | Reason::Device
            | Reason::Pipe
            | Reason::Socket
            | Reason::Link
            | Reason::SymlinkLoop
            | Reason::BrokenLink
            | Reason::Store
            | Reason::VersionControl
            | Reason::JobFile
            | Reason::Aside
            | Reason::Excluded
            | Reason::NamedTwice
            | Reason::OtherName
            | Reason::NoRecords
            | Reason::TooShort
            | Reason::NoPage => false,
        }
    }
}

impl Reason {
    /// Whether it says that a file has no text to read. In a folder, there may be such files.
    fn is_of_content(self) -> bool {
        matches!(
            self,
            Reason::Binary
                | Reason::TooLarge
                | Reason::Device
                | Reason::Pipe
                | Reason::Socket
                | Reason::SymlinkLoop
                | Reason::BrokenLink
        )
    }
}

impl Skipped {
    /// Returns the skipped item for the file `path`, whose key is that of the stored file `other`.
    pub(crate) fn of_another_folder(path: &Path, key: &str, other: &Path) -> Skipped {
        let other = other.display();
        Skipped {
            hint: Some(Hint::Folder),
            ..Skipped::new(
                Reason::RepeatedKey,
                path.display().to_string(),
                format!("the key {key:?} is that of {other} in the store"),
            )
        }
    }

    pub(crate) fn new(reason: Reason, place: String, detail: impl Into<String>) -> Skipped {
        Skipped {
            reason,
            place,
            detail: detail.into(),
            hint: None,
            named: false,
            record: None,
        }
    }

    /// Returns the skipped item for the file at `path`.
    pub fn file(reason: Reason, path: &Path) -> Skipped {
        Skipped::new(reason, path.display().to_string(), reason.name())
    }

    /// Returns the skipped item for the file at `path`, which the system refused to read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Skipped {
        Skipped {
            detail: error.to_string(),
            hint: hint(error),
            ..Skipped::file(Reason::Unreadable, path)
        }
    }

    /// Returns whether something requested was not done: for its [reason](Reason::is_failure), or because a source that
    /// was named is no text and cannot be read.
    pub fn is_failure(&self) -> bool {
        self.reason.is_failure() || self.named && self.reason.is_of_content()
    }

    /// Returns whether it could be read, but no text or key was found in its fields: other fields or columns have them, or
    /// other separators are between them.
    pub fn is_of_fields(&self) -> bool {
        matches!(
            self.hint,
            Some(Hint::TextField | Hint::IdField | Hint::Columns | Hint::Separator)
        )
    }

    /// Returns the details, without the hint; empty if the reason says everything.
    pub fn detail(&self) -> &str {
        if self.detail == self.reason.name() {
            ""
        } else {
            &self.detail
        }
    }

    /// Returns a one-line message: the place, the problem, and the hint.
    pub fn message(&self) -> String {
        self.told(Hint::words)
    }

    /// Returns the [`message`](Skipped::message), with the caller's words for the hint.
    pub fn told(&self, words: impl FnOnce(Hint) -> &'static str) -> String {
        let (place, detail) = (&self.place, &self.detail);
        let words = self.hint.map_or("", words);
        if self.reason.is_failure() || self.detail().is_empty() {
            return format!("{place}: {detail}{words}");
        }
        format!("{place}: {}, {detail}{words}", self.reason.name())
    }
}

impl fmt::Display for Skipped {
    /// Writes its [`message`](Skipped::message).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl error::Error for Skipped {}

/// Returns the hint that a read error carries, if any.
pub(crate) fn hint(error: &io::Error) -> Option<Hint> {
    let wrong: &HintedError = error.get_ref()?.downcast_ref()?;
    Some(wrong.hint)
}

/// A read error with a hint.
#[derive(Clone, Debug)]
pub(crate) struct HintedError {
    pub(crate) detail: String,
    pub(crate) hint: Hint,
}

impl fmt::Display for HintedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl error::Error for HintedError {}

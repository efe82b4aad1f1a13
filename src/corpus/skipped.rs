//! What is left out, and why.

use std::path::Path;
use std::{error, fmt, io};

/// Something that was named or met and is not read as a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Why.
    pub reason: Reason,
    /// The file, and the line of a record.
    pub place: String,
    /// More than the reason's name says.
    pub detail: String,
    /// What would let it be read, if that is known.
    pub hint: Option<Hint>,
}

/// What would let something be read that is left out; its words are those of this crate.
///
/// ```
/// use dedupdb::corpus::{Corpus, Hint};
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
    /// Another field has the text: [`Options::text_field`](crate::corpus::Options::text_field).
    TextField,
    /// Other columns have the key and the text, by name or by number:
    /// [`Options::text_field`](crate::corpus::Options::text_field) and
    /// [`Options::id_field`](crate::corpus::Options::id_field).
    Columns,
    /// Ids may hold in each file only: [`IdScope::File`](crate::corpus::IdScope::File).
    IdScope,
}

impl Hint {
    /// What follows the detail, from its first punctuation on.
    pub fn words(self) -> &'static str {
        match self {
            Hint::TextField => " (choose one for the text)",
            Hint::Columns => "; choose columns by name or by number",
            Hint::IdScope => "; ids may hold in each file only",
        }
    }
}

/// Why something is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// It is no text: it has a NUL byte, or begins as files of another kind do.
    Binary,
    /// It has more bytes than are asked for.
    TooLarge,
    /// The system refused to read it.
    Unreadable,
    /// The command line names it and it does not exist.
    NotFound,
    /// It is a device.
    Device,
    /// It is a named pipe.
    Pipe,
    /// It is a socket.
    Socket,
    /// It is a symbolic link, and these are not followed.
    Link,
    /// It is a symbolic link that leads back to itself.
    SymlinkLoop,
    /// It is a symbolic link to nothing.
    BrokenLink,
    /// It is the folder of a store.
    Store,
    /// It is the folder of a version-control system, or a file that stands for one.
    VersionControl,
    /// It says what dedupdb wrote into a folder.
    Manifest,
    /// Its name is not one of those that are asked for.
    Excluded,
    /// The command line names it and it is the folder of a store.
    StoreNamed,
    /// Two arguments lead to it.
    NamedTwice,
    /// It is another name of a file or folder that was met.
    OtherName,
    /// It is a record whose key came before in this run, with another text.
    RepeatedKey,
    /// It is a line that is no record.
    BadRecord,
    /// It is a record of a web archive without a page: a request, an image, an error.
    NoPage,
    /// Reading ended before its end: the system, a store or the program failed.
    Stopped,
    /// Its key is one that the store does not take.
    BadKey,
    /// Its text is one that the store does not take.
    BadText,
}

impl Reason {
    /// The name that is counted under.
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
            Reason::Manifest => "dedupdb manifest",
            Reason::Excluded => "excluded",
            Reason::NamedTwice => "named twice",
            Reason::OtherName => "other name",
            Reason::RepeatedKey => "repeated key",
            Reason::BadRecord => "bad record",
            Reason::NoPage => "no page",
            Reason::Stopped => "stopped",
            Reason::BadKey => "bad key",
            Reason::BadText => "bad text",
        }
    }

    /// Whether it means that something was not done that was asked for.
    pub fn is_failure(self) -> bool {
        match self {
            Reason::Unreadable
            | Reason::NotFound
            | Reason::StoreNamed
            | Reason::RepeatedKey
            | Reason::BadRecord
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
            | Reason::Manifest
            | Reason::Excluded
            | Reason::NamedTwice
            | Reason::OtherName
            | Reason::NoPage => false,
        }
    }
}

impl Skipped {
    /// Leaves out the file at `path`.
    pub fn file(reason: Reason, path: &Path) -> Skipped {
        Skipped {
            reason,
            place: path.display().to_string(),
            detail: reason.name().to_owned(),
            hint: None,
        }
    }

    /// Leaves out the file at `path`, which the system refused to read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Skipped {
        Skipped {
            detail: error.to_string(),
            hint: hint(error),
            ..Skipped::file(Reason::Unreadable, path)
        }
    }

    /// What there is to say beside the reason, without the hint; nothing if that says it all.
    pub fn detail(&self) -> &str {
        if self.detail == self.reason.name() {
            ""
        } else {
            &self.detail
        }
    }

    /// One line: the place, what is wrong there, and what would help.
    pub fn message(&self) -> String {
        self.told(Hint::words)
    }

    /// Its [`message`](Skipped::message), with `words` of the caller's for what would help.
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

/// What would help against an error of reading, which brought it along.
pub(crate) fn hint(error: &io::Error) -> Option<Hint> {
    let wrong: &Hinted = error.get_ref()?.downcast_ref()?;
    Some(wrong.hint)
}

/// An error of reading that knows what would help.
#[derive(Clone, Debug)]
pub(crate) struct Hinted {
    pub(crate) detail: String,
    pub(crate) hint: Hint,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl error::Error for Hinted {}

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
    /// The command line names it and it is the folder of a store.
    StoreNamed,
    /// Two arguments lead to it.
    NamedTwice,
    /// It is another name of a file or folder that was met.
    OtherName,
    /// Another file has the same key.
    SameKey,
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
            Reason::NamedTwice => "named twice",
            Reason::OtherName => "other name",
            Reason::SameKey => "same key",
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
            | Reason::SameKey
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
        }
    }

    /// Leaves out the file at `path`, which the system refused to read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Skipped {
        Skipped {
            detail: error.to_string(),
            ..Skipped::file(Reason::Unreadable, path)
        }
    }

    /// What there is to say beside the reason; nothing if that says it all.
    pub fn detail(&self) -> &str {
        if self.detail == self.reason.name() {
            ""
        } else {
            &self.detail
        }
    }

    /// One line: the place and what is wrong there.
    pub fn message(&self) -> String {
        if self.reason.is_failure() || self.detail().is_empty() {
            return format!("{}: {}", self.place, self.detail);
        }
        format!("{}: {}, {}", self.place, self.reason.name(), self.detail)
    }
}

impl fmt::Display for Skipped {
    /// Writes its [`message`](Skipped::message).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl error::Error for Skipped {}

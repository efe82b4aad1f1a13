//! What reading gives: documents with all that is known of them, and what became of everything else.

use std::fs::Metadata;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::Input;
use crate::clock;
use crate::corpus::formats::format::Format;
use crate::corpus::formats::parquet::table::TableSource;
use crate::corpus::formats::record::Nth;
use crate::corpus::read::repeats::Id;
use crate::corpus::skipped::{Hint, Reason, Skipped};

/// A text that was read, and where it comes from.
///
/// It is an [`Input`] once nobody asks for its origin any more: `Input::from(sourced)`.
/// The fields of its [`Origin`] are also fields of this.
#[derive(Clone, Debug)]
pub struct Sourced {
    text: String,
    /// It may have the hash of the text, so nobody else puts the two together.
    pub(crate) origin: Origin,
}

impl Sourced {
    /// A text of this origin.
    pub(crate) fn new(text: String, origin: Origin) -> Sourced {
        Sourced { text, origin }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text alone.
    pub fn into_text(self) -> String {
        self.text
    }

    /// All that is known of it beside the text.
    pub fn into_origin(self) -> Origin {
        self.origin
    }

    /// What a store takes, and all that is known of it beside the text.
    pub fn split(self) -> (Input, Origin) {
        let Sourced { text, origin } = self;
        let mut input = Input::new(origin.key.clone(), text);
        if let Some(bytes) = origin.size {
            input = input.size(bytes);
        }
        if let Some(time) = origin.modified {
            input = input.modified(time);
        }
        if let Some(id) = origin.id {
            input = input.hashed(id.text);
        }
        (input, origin)
    }
}

impl Deref for Sourced {
    type Target = Origin;

    fn deref(&self) -> &Origin {
        &self.origin
    }
}

impl AsRef<Origin> for Sourced {
    fn as_ref(&self) -> &Origin {
        &self.origin
    }
}

impl From<Sourced> for Input {
    fn from(sourced: Sourced) -> Input {
        sourced.split().0
    }
}

/// What is wrong with an id that came before with another text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeated {
    /// Where it came before.
    pub detail: String,
    /// What would keep the two apart, if that is known.
    pub hint: Option<Hint>,
}

/// All that is known of a document beside its text.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Origin {
    /// The key: an id, the path of a file, or `PATH#NUMBER`.
    pub key: String,
    /// The file that it is in, or the name of the stream.
    pub source: PathBuf,
    /// Which record of its file it is, if the file has records.
    pub record: Option<Nth>,
    /// Bytes of a file that is one document, as it is on disk.
    pub size: Option<u64>,
    /// Bytes of the file that is one document, or else of the text.
    pub bytes: u64,
    /// Time of the last change of a file that is one document.
    pub modified: Option<SystemTime>,
    /// Name of the encoding that the text was in, such as `UTF-8`.
    pub encoding: &'static str,
    /// Whether bytes that are no characters were replaced in the text, by U+FFFD.
    pub replaced: bool,
    /// Whether U+FFFD stands in the key for what is no character.
    pub lossy_key: bool,
    /// Whether the file had become longer when it was read; the text is that of the [size](Origin::size) it had first.
    pub has_grown: bool,
    /// Whether it is a record that brought an id.
    pub has_id: bool,
    /// What is wrong with its id, if it came before with another text and
    /// [`Repeats::Tell`](crate::corpus::Repeats::Tell) was chosen.
    pub repeated: Option<Repeated>,
    /// The record as it is in its file, if that is wanted
    /// ([`Options::verbatim`](crate::corpus::Options::verbatim)); nothing of a file that is one document.
    pub verbatim: Vec<u8>,
    /// Its id, where somebody looks for ids that come again.
    pub(crate) id: Option<Id>,
}

impl Origin {
    /// A document of this key from the file or stream `source`, in UTF-8.
    pub(crate) fn new(key: String, source: PathBuf) -> Origin {
        Origin {
            key,
            source,
            record: None,
            size: None,
            bytes: 0,
            modified: None,
            encoding: encoding_rs::UTF_8.name(),
            replaced: false,
            lossy_key: false,
            has_grown: false,
            has_id: false,
            repeated: None,
            verbatim: Vec::new(),
            id: None,
        }
    }

    /// Where it came from, for messages: a path, and `:LINE` or `#NUMBER` of a record.
    pub fn place(&self) -> String {
        place(&self.source, self.record)
    }

    /// Leaves the document out, which the store does not take because of `error`.
    pub fn refused(&self, error: &crate::Error) -> Skipped {
        let reason = match (error, self.record) {
            (crate::Error::InvalidKey { .. }, Some(_)) => Reason::BadRecord,
            (crate::Error::InvalidKey { .. }, None) => Reason::BadKey,
            _ => Reason::BadText,
        };
        Skipped {
            reason,
            place: self.place(),
            detail: error.to_string(),
            hint: None,
        }
    }
}

impl AsRef<Origin> for Origin {
    fn as_ref(&self) -> &Origin {
        self
    }
}

/// Where something came from, for messages.
pub(crate) fn place(source: &Path, line: Option<Nth>) -> String {
    match line {
        Some(nth) => format!("{}{nth}", source.display()),
        None => source.display().to_string(),
    }
}

/// What became of one file or record: `D` is what is left of a document.
#[derive(Debug)]
#[non_exhaustive]
pub enum Item<D = Sourced> {
    /// It is read.
    Document(D),
    /// A file that is as it was when it was stored, and was not read.
    Unchanged,
    /// It is left out.
    Skipped(Skipped),
    /// A file of records begins, which are wanted as they are.
    Opened(Opened),
}

/// A file of records, partly read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// The file, or the name of the stream.
    pub source: PathBuf,
    /// What its records are.
    pub format: Format,
    /// The header of a table as it is.
    pub header: Vec<u8>,
    /// The file of columns that it is, which can be read again.
    pub(crate) table: Option<Arc<TableSource>>,
}

/// Items, in the order of the input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Batch {
    /// The items.
    pub items: Vec<Item>,
    /// Bytes that were read or spared for them.
    pub bytes: u64,
}

impl Batch {
    /// The items, whose bytes are those of their texts.
    pub(crate) fn of(items: Vec<Item>) -> Batch {
        let text = |item: &Item| match item {
            Item::Document(document) => document.text.len() as u64,
            Item::Unchanged | Item::Skipped(_) | Item::Opened(_) => 0,
        };
        Batch {
            bytes: items.iter().map(text).sum(),
            items,
        }
    }
}

/// The time of a file's last change, as far as it can be stored.
pub(crate) fn modified(metadata: &Metadata) -> Option<SystemTime> {
    let modified = metadata.modified().ok();
    modified.filter(|modified| clock::nanoseconds(*modified).is_some())
}

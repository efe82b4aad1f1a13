//! What the reader hands on.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::corpus::formats::format::Format;
use crate::corpus::formats::record::Nth;
use crate::corpus::read::repeats::Id;
use crate::corpus::skipped::Skipped;

/// A document to be added or asked about.
#[derive(Clone, Debug)]
pub struct Document {
    /// The key: an id, the path of a file, or `PATH#NUMBER`.
    pub key: String,
    /// The text.
    pub text: String,
    /// Bytes of a file.
    pub size: Option<u64>,
    /// Nanoseconds from 1970 to a file's last change.
    pub modified: Option<i64>,
    /// Name of the encoding that the text was in.
    pub encoding: &'static str,
    /// Whether bytes that are no characters were replaced in the text.
    pub replaced: bool,
    /// Whether bytes that are no characters were replaced in the key.
    pub lossy_key: bool,
    /// Which record of its file it is, if the file has records.
    pub line: Option<Nth>,
    /// Whether it is a record that brought an id.
    pub has_id: bool,
    /// The file that it is in, or the name of the stream.
    pub source: PathBuf,
    /// Its id, where somebody looks for ids that come again.
    pub id: Option<Id>,
    /// What is wrong with its id, if it came before with another text.
    pub repeated: Option<String>,
    /// A record as it is in its file, if that is wanted; nothing of a file that is one document.
    pub verbatim: Vec<u8>,
}

impl Document {
    /// Where it came from, for messages.
    pub fn place(&self) -> String {
        place(&self.source, self.line)
    }
}

/// Where something came from, for messages.
pub fn place(source: &Path, line: Option<Nth>) -> String {
    match line {
        Some(nth) => format!("{}{nth}", source.display()),
        None => source.display().to_string(),
    }
}

/// What became of one file or record.
#[derive(Debug)]
pub enum Item {
    /// It is read.
    Document(Document),
    /// A file that is as it was when it was stored, and was not read.
    Unchanged,
    /// It is left out.
    Skipped(Skipped),
    /// A file of records begins, which are wanted as they are.
    Opened(Opened),
}

/// A file of records that was begun to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The file, or the name of the stream.
    pub source: PathBuf,
    /// What its records are.
    pub format: Format,
    /// The header of a table as it is.
    pub header: Vec<u8>,
}

/// Items, in the order of the arguments, and the bytes that were read or spared for them.
#[derive(Debug, Default)]
pub struct Batch {
    /// The items.
    pub items: Vec<Item>,
    /// Bytes that were read or spared for them.
    pub bytes: u64,
}

impl Batch {
    /// The items, whose bytes are those of their texts.
    pub fn of(items: Vec<Item>) -> Batch {
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

/// Nanoseconds from 1970 to a file's last change.
pub fn modified(metadata: &Metadata) -> Option<i64> {
    match metadata.modified().ok()?.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos())
            .ok()
            .map(|nanos| -nanos),
    }
}

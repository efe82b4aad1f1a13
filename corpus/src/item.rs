//! The results of reading: documents with their origin, and items for everything else.

use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::formats::format::Format;
use crate::formats::parquet::table::TableSource;
use crate::formats::record_fields::RecordFields;
use crate::formats::text_place::TextPlace;
use crate::formats::unsplit::Unsplit;
use crate::read::places::short_hash;
use crate::read::stored::StoredKey;
use crate::skipped::{Hint, Nth, Reason, Skipped};
use crate::walk::identity::FileIdentity;
use crate::walk::key::{Key, may_lead_to};
use crate::walk::read_file::ReadFile;
use dedupdb::Input;
use dedupdb::find::Subject;
use dedupdb::write::{IdScope, SourceFile};

/// A text with its origin, to which it dereferences.
///
/// `Input::from(sourced)` drops the origin and makes an [`Input`] of the text.
#[derive(Clone, Debug)]
pub struct SourcedText {
    text: String,
    /// May hold the hash of the text, so only this module pairs the two.
    pub(crate) origin: Origin,
}

impl SourcedText {
    /// Returns a text of this origin.
    pub(crate) fn new(text: String, origin: Origin) -> SourcedText {
        SourcedText { text, origin }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the hash that stands for the text in a store: that of the text or, for a text without words that was
    /// extracted from a page or by a converter, that of its source.
    pub fn hash(&self) -> [u8; 32] {
        let hash = || *blake3::hash(self.text.as_bytes()).as_bytes();
        self.origin
            .source_hash
            .as_deref()
            .copied()
            .unwrap_or_else(hash)
    }

    /// Returns the text as the subject of a question to a store.
    pub fn subject(&self) -> Subject<'_> {
        match &self.origin.source_hash {
            Some(hash) => Subject::Hashed {
                text: &self.text,
                hash: **hash,
            },
            None => Subject::Text(&self.text),
        }
    }

    /// Returns the text without the origin.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the origin.
    pub fn into_origin(self) -> Origin {
        self.origin
    }

    /// Splits it into the input for a store and the origin.
    pub fn split(self) -> (Input, Origin) {
        let SourcedText { text, origin } = self;
        let mut input = Input::new(origin.key.clone(), text);
        if let Some(file) = &origin.file {
            input = input.source(file.clone());
        }
        let stored_as = origin.stored_as.as_ref();
        if let Some(earlier) = stored_as.and_then(|stored| stored.instead_of.as_ref()) {
            input = input.instead_of(earlier);
        }
        if let Some(bytes) = origin.size {
            input = input.size(bytes);
        }
        if let Some(time) = origin.modified {
            input = input.modified(time);
        }
        let hash = origin.source_hash.as_deref().copied();
        if let Some(hash) = hash.or(origin.id.map(|id| id.text)) {
            input = input.hashed(hash);
        }
        (input, origin)
    }
}

impl From<SourcedText> for (Input, Origin) {
    fn from(sourced: SourcedText) -> (Input, Origin) {
        sourced.split()
    }
}

impl Deref for SourcedText {
    type Target = Origin;

    fn deref(&self) -> &Origin {
        &self.origin
    }
}

impl AsRef<Origin> for SourcedText {
    fn as_ref(&self) -> &Origin {
        &self.origin
    }
}

impl From<SourcedText> for Input {
    fn from(sourced: SourcedText) -> Input {
        sourced.split().0
    }
}

/// The problem with an id that came before with another text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedId {
    /// The earlier place.
    pub detail: String,
    /// What would distinguish the two, if known.
    pub hint: Option<Hint>,
}

/// Everything known about a document except its text.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Origin {
    /// The key: an id, the path of a file, or `PATH#NUMBER`.
    pub key: String,
    /// The file of the document, or the name of the stream.
    pub source: PathBuf,
    /// The number of the record, if the file has records.
    pub record: Option<Nth>,
    /// The size on disk in bytes of a file that is one document.
    pub size: Option<u64>,
    /// The size in bytes of a file that is one document, or of the text otherwise.
    pub bytes: u64,
    /// The modification time of a file that is one document.
    pub modified: Option<SystemTime>,
    /// Its file, as it was when it was met. None for a stream.
    pub(crate) read: Option<ReadFile>,
    /// The file of a record, by the path without links, or the folder from which the key of a file leads to it. None for a
    /// stream.
    pub(crate) file: Option<SourceFile>,
    /// The key under which the store has its file, or the start of the keys of the file's records, if that is not the key of
    /// the path.
    pub(crate) stored_as: Option<Arc<StoredKey>>,
    /// The name of the text's encoding, such as `UTF-8`.
    pub encoding: &'static str,
    /// Whether undecodable bytes of the text were replaced by U+FFFD.
    pub replaced: bool,
    /// Whether undecodable bytes of the key were replaced by U+FFFD.
    pub lossy_key: bool,
    /// Whether the text is not in the file as it is: it was extracted from a page, or by a converter.
    pub(crate) is_extracted: bool,
    /// Whether the file grew while it was read. The text is that of its first [size](Origin::size).
    pub has_grown: bool,
    /// Whether it is a record with an id.
    pub has_id: bool,
    /// The records that it seems to have, although it was read as one text. None if a format was
    /// [chosen](crate::Options::format).
    pub unsplit: Option<Unsplit>,
    /// The problem with its id, if it came before with another text and
    /// [`Repeats::Tell`](crate::Repeats::Tell) was chosen.
    pub repeated: Option<RepeatedId>,
    /// The record as it is in its file, with [`Options::verbatim`](crate::Options::verbatim). Empty for a
    /// file that is one document.
    pub verbatim: Vec<u8>,
    /// The fields of a record that [`Options::fields`](crate::Options::fields) wants.
    pub fields: Option<Box<RecordFields>>,
    /// The hashes of its key and text, if repeated ids are detected.
    pub(crate) id: Option<RecordId>,
    /// The hash used in place of that of its text, if the text has no words. Few have one, so it is boxed.
    pub(crate) source_hash: Option<Box<[u8; 32]>>,
    /// The hash of what its source has besides the text. Documents are copies only if these hashes are equal.
    pub(crate) attachments: Option<Box<[u8; 32]>>,
    /// The strings in its text, if that is a list, which is read only if it is wanted.
    pub(crate) strings: Option<Vec<Range<usize>>>,
}

impl Origin {
    /// Returns the origin of a document with this key from the file or stream `source`, in UTF-8.
    pub(crate) fn new(key: String, source: PathBuf) -> Origin {
        Origin {
            key,
            source,
            record: None,
            size: None,
            bytes: 0,
            modified: None,
            read: None,
            file: None,
            stored_as: None,
            encoding: encoding_rs::UTF_8.name(),
            replaced: false,
            lossy_key: false,
            is_extracted: false,
            has_grown: false,
            has_id: false,
            unsplit: None,
            repeated: None,
            verbatim: Vec::new(),
            fields: None,
            id: None,
            source_hash: None,
            attachments: None,
            strings: None,
        }
    }

    /// Returns the place for messages: a path and, for a record, `:LINE` or `#NUMBER`.
    pub fn place(&self) -> String {
        place(&self.source, self.record)
    }

    /// Returns the hash of the attachments, if it is a message that has some.
    pub fn attachments(&self) -> Option<[u8; 32]> {
        self.attachments.as_deref().copied()
    }

    /// Returns the identity of a file that is one document, when it was met.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        let file = self.read.filter(|_| self.record.is_none());
        file.map(|file| file.identity)
    }

    /// Returns the part of a record's key from the `#` after the key of its file.
    pub(crate) fn after_file(&self) -> Option<&str> {
        // Most ids have none, and to find the key of the file takes longer.
        if !self.key.contains('#') {
            return None;
        }
        let rest = match &self.stored_as {
            Some(stored) => self.key.strip_prefix(&*stored.key),
            None => self.key.strip_prefix(&*Key::of(&self.source).text),
        };
        rest.filter(|rest| rest.starts_with('#'))
    }

    /// Returns the id of a record whose key is that of its file with the id.
    pub(crate) fn id_in_file(&self) -> Option<&str> {
        let id = self.after_file()?.strip_prefix('#')?;
        let is_key =
            self.key.len() > id.len() && id.starts_with(&self.key[..self.key.len() - id.len()]);
        (self.has_id && !is_key).then_some(id)
    }

    /// Returns the skipped item for this document, whose key has another text from the file `other`.
    pub(crate) fn taken(&self, other: &str, id_scope: IdScope) -> Skipped {
        let other_path = Path::new(other);
        // The id of a record may be the path of a file.
        let is_path = self.record.is_none() && may_lead_to(&self.key, other_path);
        if id_scope == IdScope::File || is_path {
            return Skipped::of_another_folder(&self.source, &self.key, other_path);
        }
        Skipped {
            hint: Some(Hint::IdScope),
            ..Skipped::new(
                Reason::RepeatedKey,
                self.place(),
                format!("{} in {other}", came_before(&self.key)),
            )
        }
    }

    /// Returns the skipped item for this document, which the store refuses with `error`.
    pub fn refused(&self, error: &dedupdb::Error) -> Skipped {
        let reason = match (error, self.record) {
            (dedupdb::Error::InvalidKey { .. }, Some(_)) => Reason::BadRecord,
            (dedupdb::Error::InvalidKey { .. }, None) => Reason::BadKey,
            _ => Reason::BadText,
        };
        Skipped::new(reason, self.place(), error.to_string())
    }
}

/// The hashes of a record's key and text. At least part of the key comes from the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordId {
    pub(crate) key: u64,
    /// The BLAKE3 hash of the text.
    pub(crate) text: [u8; 32],
}

impl RecordId {
    /// Returns the id of a key and a text.
    pub(crate) fn of(key: &str, text: &str) -> RecordId {
        RecordId {
            key: short_hash(key),
            text: *blake3::hash(text.as_bytes()).as_bytes(),
        }
    }
}

impl AsRef<Origin> for Origin {
    fn as_ref(&self) -> &Origin {
        self
    }
}

/// The problem with a key whose text differs; a place follows.
pub(crate) fn came_before(key: &str) -> String {
    format!("the key {key:?} came before with another text,")
}

/// Formats a place for messages.
pub(crate) fn place(source: &Path, line: Option<Nth>) -> String {
    match line {
        Some(nth) => format!("{}{nth}", source.display()),
        None => source.display().to_string(),
    }
}

/// The result of reading one file or record. `D` is the type of a document.
#[derive(Debug)]
#[non_exhaustive]
pub enum Item<D = SourcedText> {
    /// The document was read.
    Document(D),
    /// A file that has not changed since it was stored under this key, and was not read.
    Unchanged(String),
    /// The file or record was skipped.
    Skipped(Skipped),
    /// A file of records begins, and its records are kept verbatim.
    Opened(OpenedFile),
}

impl<D> Item<D> {
    /// Returns the document, if it is one.
    pub(crate) fn document(&self) -> Option<&D> {
        match self {
            Item::Document(document) => Some(document),
            Item::Unchanged(_) | Item::Skipped(_) | Item::Opened(_) => None,
        }
    }
}

/// A file of records that is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenedFile {
    /// The file, or the name of the stream.
    pub source: PathBuf,
    /// The format of its records.
    pub format: Format,
    /// The header of a table, verbatim.
    pub header: Vec<u8>,
    /// The names of the columns of a table, if it has names.
    pub(crate) columns: Vec<String>,
    /// Where its records have their text.
    pub(crate) text: TextPlace,
    /// The Parquet file, which can be read again.
    pub(crate) table: Option<Arc<TableSource>>,
}

/// Items, in the order of the input.
#[derive(Debug)]
#[non_exhaustive]
pub struct ItemBatch<D = SourcedText> {
    /// The items.
    pub items: Vec<Item<D>>,
    /// Bytes of their sources, read or not.
    pub bytes: u64,
}

impl<D> Default for ItemBatch<D> {
    fn default() -> ItemBatch<D> {
        ItemBatch {
            items: Vec::new(),
            bytes: 0,
        }
    }
}

impl ItemBatch {
    /// Returns a batch of items, whose bytes are those of their texts.
    pub(crate) fn of(items: Vec<Item>) -> ItemBatch {
        let text = |item: &Item| match item {
            Item::Document(document) => document.text.len() as u64,
            Item::Unchanged(_) | Item::Skipped(_) | Item::Opened(_) => 0,
        };
        ItemBatch {
            bytes: items.iter().map(text).sum(),
            items,
        }
    }
}

/// Returns the number of documents and skipped items.
pub(crate) fn count_items<D>(items: &[Item<D>]) -> u64 {
    let met = items.iter().filter(|item| !matches!(item, Item::Opened(_)));
    met.count() as u64
}

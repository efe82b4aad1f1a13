//! What goes into a store, and what became of it.

use std::time::SystemTime;

use crate::clock;
use crate::store::compare::Match;

/// A key has at most this many bytes.
pub const MAX_KEY_BYTES: usize = 1 << 16;

/// A document to be added.
///
/// ```
/// use dedupdb::Input;
///
/// let page = Input::new("https://example.org/", "Hello, world");
/// let file = Input::new("a.txt", "Hello, world").size(13).modified(std::time::UNIX_EPOCH);
/// assert_eq!(file.key(), "a.txt");
/// ```
#[derive(Clone, Debug)]
pub struct Input {
    pub(crate) key: String,
    pub(crate) text: String,
    size: Option<u64>,
    modified: Option<SystemTime>,
    /// BLAKE3 hash of the text, where it was needed before.
    hash: Option<[u8; 32]>,
}

impl Input {
    /// A document of which nothing but key and text is known. A key is any string of 1 to
    /// [`MAX_KEY_BYTES`](crate::MAX_KEY_BYTES) bytes.
    pub fn new(key: impl Into<String>, text: impl Into<String>) -> Input {
        Input {
            key: key.into(),
            text: text.into(),
            size: None,
            modified: None,
            hash: None,
        }
    }

    /// Its source has so many bytes. Without this, it has those of the text.
    #[must_use]
    pub fn size(self, bytes: u64) -> Input {
        let size = Some(bytes);
        Input { size, ..self }
    }

    /// Its source changed last at this time, which is stored to the nanosecond, up to the year 2262.
    #[must_use]
    pub fn modified(self, time: SystemTime) -> Input {
        let modified = Some(time);
        Input { modified, ..self }
    }

    /// Its text has this BLAKE3 hash, which need not be computed again.
    #[must_use]
    #[cfg(feature = "corpus")]
    pub(crate) fn hashed(self, hash: [u8; 32]) -> Input {
        let hash = Some(hash);
        Input { hash, ..self }
    }

    /// The document's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// BLAKE3 hash of the text.
    pub(crate) fn hash(&self) -> [u8; 32] {
        self.hash
            .unwrap_or_else(|| *blake3::hash(self.text.as_bytes()).as_bytes())
    }

    /// Bytes of the source.
    pub(crate) fn source_bytes(&self) -> u64 {
        self.size.unwrap_or(self.text.len() as u64)
    }

    /// Nanoseconds from 1970 to the last change of the source.
    pub(crate) fn modified_nanoseconds(&self) -> Option<i64> {
        self.modified.and_then(clock::nanoseconds)
    }
}

/// What became of an [`Input`].
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it did to the store.
    pub change: Change,
    /// How it relates to the documents that were there before it.
    pub relation: Relation,
    /// The most similar earlier document, where [`Relation`] says that there is one and the writer
    /// was asked for it by [`Writer::evidence`](crate::Writer::evidence).
    pub earlier: Option<Match>,
}

/// What an [`Input`] did to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Its key is new.
    Added,
    /// Its key had another text before.
    Updated,
    /// Its key has this text already.
    Unchanged,
    /// It was not stored, because the writer keeps out what is like an earlier document.
    KeptOut,
}

/// How an [`Input`] relates to the documents that were there before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// None of them reaches the threshold.
    Novel,
    /// At least one of them reaches the threshold.
    NearDuplicate,
    /// One of them has the same text.
    ExactCopy,
}

/// The answer of [`Store::insert_unless_duplicate`](crate::Store::insert_unless_duplicate).
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing like it was stored; now it is.
    Inserted,
    /// The key has this text already.
    Unchanged,
    /// It was not stored: this document, the most similar one, was there before.
    Duplicate(Match),
}

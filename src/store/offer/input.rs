//! What goes into a store, and what became of it.

use crate::store::compare::Match;

/// A key has at most this many bytes.
pub const MAX_KEY_BYTES: usize = 1 << 16;

/// A document to be added.
///
/// ```
/// use dedupdb::Input;
///
/// let page = Input::new("https://example.org/", "Hello, world");
/// let file = Input { size: Some(12), modified: None, ..Input::new("a.txt", "Hello, world") };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The document's key: any string of 1 to [`MAX_KEY_BYTES`](crate::MAX_KEY_BYTES) bytes.
    pub key: String,
    /// The text.
    pub text: String,
    /// Size of the source in bytes, where it is not that of the text.
    pub size: Option<u64>,
    /// Time of the source's last change, in nanoseconds since 1970.
    pub modified: Option<i64>,
}

impl Input {
    /// A document of which nothing but key and text is known.
    pub fn new(key: impl Into<String>, text: impl Into<String>) -> Input {
        Input {
            key: key.into(),
            text: text.into(),
            size: None,
            modified: None,
        }
    }

    /// Bytes of the source.
    pub(crate) fn source_bytes(&self) -> u64 {
        self.size.unwrap_or(self.text.len() as u64)
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

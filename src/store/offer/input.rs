//! What goes into a store.

use std::time::SystemTime;

use super::body::Body;
use crate::clock;
use crate::text::ShingleSet;

/// A key has at most this many bytes.
pub const MAX_KEY_BYTES: usize = 1 << 16;

/// A document to be added: a key, and a text or the shingles that stand for one.
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
    pub(crate) body: Body,
    size: Option<u64>,
    modified: Option<SystemTime>,
    /// Hash of the body, where it was needed before.
    hash: Option<[u8; 32]>,
}

impl Input {
    /// A document of which nothing but its key is known and its text, or its shingles. A key is any
    /// string of 1 to [`MAX_KEY_BYTES`] bytes.
    pub fn new(key: impl Into<String>, body: impl Into<Body>) -> Input {
        Input {
            key: key.into(),
            body: body.into(),
            size: None,
            modified: None,
            hash: None,
        }
    }

    /// Its source has so many bytes. Without this, it has those of the text, or 0 if none was given.
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

    /// The text, if that was given.
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Shingles(_) => None,
        }
    }

    /// The shingles, if they were given in place of a text.
    pub fn shingles(&self) -> Option<&ShingleSet> {
        match &self.body {
            Body::Text(_) => None,
            Body::Shingles(shingles) => Some(shingles),
        }
    }

    /// Hash of the content that it is: of its text, or of its shingles.
    pub(crate) fn hash(&self) -> [u8; 32] {
        self.hash.unwrap_or_else(|| self.body.borrowed().hash())
    }

    /// Bytes of the source.
    pub(crate) fn source_bytes(&self) -> u64 {
        let of_text = || self.text().map_or(0, |text| text.len() as u64);
        self.size.unwrap_or_else(of_text)
    }

    /// Nanoseconds from 1970 to the last change of the source.
    pub(crate) fn modified_nanoseconds(&self) -> Option<i64> {
        self.modified.and_then(clock::nanoseconds)
    }
}

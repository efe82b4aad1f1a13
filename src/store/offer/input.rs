//! Documents to add.

use std::time::SystemTime;

use super::body::Body;
use crate::clock;
use crate::error::{Error, Result};
use crate::storage::SourceFile;
use crate::text::ShingleSet;

/// The maximum number of bytes of a key.
pub const MAX_KEY_BYTES: usize = 1 << 16;

/// Checks that a document can have this key.
///
/// # Errors
///
/// [`Error::InvalidKey`].
pub(crate) fn check_key(key: &str) -> Result<()> {
    match key.len() {
        1..=MAX_KEY_BYTES => Ok(()),
        bytes => Err(Error::InvalidKey { bytes }),
    }
}

/// A document to add: a key, and a text or shingles instead of a text.
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
    /// The hash of the body, if it is known.
    hash: Option<[u8; 32]>,
    pub(crate) source: Option<SourceFile>,
    /// The number of the source of documents that it replaces; 0 for none.
    pub(crate) instead_of: u64,
}

impl Input {
    /// Makes a document from a key, any string of 1 to [`MAX_KEY_BYTES`] bytes, and a text or shingles.
    pub fn new(key: impl Into<String>, body: impl Into<Body>) -> Input {
        Input {
            key: key.into(),
            body: body.into(),
            size: None,
            modified: None,
            hash: None,
            source: None,
            instead_of: 0,
        }
    }

    /// Sets the size of its source in bytes. By default, it is the size of the text, or 0 without a text.
    #[must_use]
    pub fn size(self, bytes: u64) -> Input {
        let size = Some(bytes);
        Input { size, ..self }
    }

    /// Sets the time of the last change of its source. It is stored to the nanosecond, up to the year 2262.
    #[must_use]
    pub fn modified(self, time: SystemTime) -> Input {
        let modified = Some(time);
        Input { modified, ..self }
    }

    /// Sets the file that it came from, if the file has more documents: a path, best an absolute one. For a file that is
    /// one document, and has a relative path as its key, it is the [folder](SourceFile::folder) where that path begins.
    ///
    /// The store notes it, and does not replace a document of one file by another text from another file, unless the
    /// [`IdScope`](crate::write::IdScope) says that ids name the same document in all files; a path in another folder is always
    /// of another file. [`Input::instead_of`] says which file it was before.
    ///
    /// ```
    /// use dedupdb::write::{Change, IdScope, SourceFile};
    /// use dedupdb::{Input, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// let [news, tickets] = ["/news.jsonl", "/tickets.jsonl"].map(SourceFile::new);
    /// let news = Input::new("1", "the night tram runs again").source(news);
    /// let ticket = Input::new("1", "the printer is on fire").source(tickets);
    /// let outcomes = writer.add_all(vec![news, ticket.clone()])?;
    /// assert_eq!(outcomes[1].as_ref().unwrap().change, Change::Refused);
    /// writer.set_id_scope(IdScope::All);
    /// assert_eq!(writer.add_all(vec![ticket])?[0].as_ref().unwrap().change, Change::Updated);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn source(self, file: SourceFile) -> Input {
        self.of_file(Some(file))
    }

    /// Sets the file or folder that a document with its key came from so far, if that is its own [source](Input::source) at an
    /// earlier place. Then it replaces a document from there, and no other one that came meanwhile.
    ///
    /// ```
    /// use dedupdb::write::{Change, SourceFile};
    /// use dedupdb::{Input, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let [old, new] = ["/old", "/new"].map(SourceFile::folder);
    /// let note = |text, folder: &SourceFile| {
    ///     let note = Input::new("a.txt", text).modified(std::time::UNIX_EPOCH);
    ///     note.source(folder.clone())
    /// };
    /// let mut writer = store.writer()?;
    /// let notes = vec![
    ///     note("the night tram", &old),
    ///     note("the first tram", &new),
    ///     note("the last tram", &new).instead_of(&old),
    /// ];
    /// let outcomes = writer.add_all(notes)?;
    /// let changes = outcomes.into_iter().map(|outcome| Ok(outcome?.change));
    /// let changes = changes.collect::<dedupdb::Result<Vec<_>>>()?;
    /// assert_eq!(changes, [Change::Added, Change::Refused, Change::Updated]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn instead_of(self, source: &SourceFile) -> Input {
        let instead_of = source.number;
        Input { instead_of, ..self }
    }

    pub(crate) fn of_file(self, source: Option<SourceFile>) -> Input {
        Input { source, ..self }
    }

    /// Sets the BLAKE3 hash of its text, so that it need not be computed.
    ///
    /// With the shingles and the hash of a text, as a [`Sketcher`](crate::batch::Sketcher) makes them, it is a document
    /// with this text, and a copy of every other document with the same text. dedupdb cannot check the hash: the
    /// caller must give the right one.
    ///
    /// ```
    /// use dedupdb::{Input, Schema, Store, batch::{KeyWidth, Sketcher}};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = Schema::default();
    /// let text = "the night tram runs again from Friday on";
    /// let sketcher = Sketcher::new(&schema, KeyWidth::Bits64)?;
    /// let sketched = Input::new("a", sketcher.shingles(text)?).hashed(sketcher.sketch(text)?.hash);
    /// let store = Store::create(folder.path().join("store"), &schema)?;
    /// let mut writer = store.writer()?;
    /// writer.add_all(vec![sketched.size(text.len() as u64)])?;
    /// writer.commit()?;
    /// assert_eq!(store.get("a")?.unwrap().hash, *blake3::hash(text.as_bytes()).as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hashed(self, hash: [u8; 32]) -> Input {
        let hash = Some(hash);
        Input { hash, ..self }
    }

    /// Returns the document's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the text, if one was given.
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Shingles(_) => None,
        }
    }

    /// Returns the shingles, if they were given in place of a text.
    pub fn shingles(&self) -> Option<&ShingleSet> {
        match &self.body {
            Body::Text(_) => None,
            Body::Shingles(shingles) => Some(shingles),
        }
    }

    /// The hash of its content, from its text or its shingles.
    pub(crate) fn hash(&self) -> [u8; 32] {
        self.hash.unwrap_or_else(|| self.body.borrowed().hash())
    }

    /// The size of the source in bytes.
    pub fn source_bytes(&self) -> u64 {
        let of_text = || self.text().map_or(0, |text| text.len() as u64);
        self.size.unwrap_or_else(of_text)
    }

    /// The time of the last change of the source, in nanoseconds since 1970.
    pub(crate) fn modified_nanoseconds(&self) -> Option<i64> {
        self.modified.and_then(clock::nanoseconds)
    }
}

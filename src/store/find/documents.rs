//! The documents of a store, one by one and in order.

use std::sync::Arc;
use std::time::SystemTime;

use crate::clock;
use crate::error::{Error, Result};
use crate::storage::{DocumentRow, Snapshot, SourceFile};
use crate::store::handle::Store;
use crate::store::offer::second_key;
use crate::text::ShingleSet;

/// A stored document, without its text.
///
/// A compaction renumbers contents. After that, calls refuse a document from before it ([`Error::OldDocument`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// Its key.
    pub key: String,
    /// The id of its content; exact copies have the same one.
    pub content: u32,
    /// The BLAKE3 hash of the text, or [`ShingleSet::content_hash`] if the document was given as shingles.
    pub hash: [u8; 32],
    /// The number of distinct shingles.
    pub shingles: u32,
    /// The size of its source in bytes.
    pub size: u64,
    /// The time of its source's last change, if known.
    pub modified: Option<SystemTime>,
    /// The time at which its text was added under this key, to the second.
    pub added: SystemTime,
    /// The day when it was last offered to the store, as the start of that day in UTC: when it was added, replaced,
    /// offered again with the same text or with one that was kept out, or [touched](Store::touch).
    pub last_seen: SystemTime,
    /// Whether it is published. False if it was stored by a run that is still open; see
    /// [`Writer::begin_run`](crate::Writer::begin_run).
    pub is_published: bool,
    /// The file that it came from, by an absolute path in the form of a key, if it is one record of
    /// a file. Of a file that is one document, the key is the path.
    pub source: Option<String>,
    /// The folder from which its key leads to its file, if it came with [one](SourceFile::folder): an absolute path that
    /// ends in `/`.
    pub folder: Option<String>,
}

impl Document {
    /// Returns the document `key`, which has this row.
    pub(crate) fn of_row(
        snapshot: &Snapshot,
        key: &str,
        row: Option<DocumentRow>,
    ) -> Result<Option<Document>> {
        let Some(row) = row else { return Ok(None) };
        let source = snapshot.source(row.source)?;
        Document::new(snapshot, key.to_owned(), row, source).map(Some)
    }

    /// Returns the key under which the document was offered: its key, unless that is a
    /// [second one](crate::write::Outcome::second_key), which ends in the hash of the text.
    pub fn first_key(&self) -> &str {
        let first = self.key.strip_suffix(&second_key("", &self.hash));
        first.unwrap_or(&self.key)
    }

    fn new(
        snapshot: &Snapshot,
        key: String,
        row: DocumentRow,
        source: Option<SourceFile>,
    ) -> Result<Document> {
        let content = snapshot.content(row.content)?;
        let path = |source: SourceFile| source.path.to_string();
        let (folder, file) = match source {
            Some(folder) if folder.is_folder() => (Some(folder), None),
            file => (None, file),
        };
        Ok(Document {
            key,
            content: row.content,
            hash: content.hash,
            shingles: content.shingle_count,
            size: row.size,
            modified: row.modified.map(clock::at_nanoseconds),
            added: clock::at_seconds(row.added),
            last_seen: clock::day(row.last_seen),
            is_published: !snapshot.tables.meta.runs.is_open(row.run),
            source: file.map(path),
            folder: folder.map(path),
        })
    }

    /// Refuses a document that has another content in `snapshot`.
    fn check_current(&self, snapshot: &Snapshot) -> Result<()> {
        if self.content < snapshot.len && snapshot.content(self.content)?.hash == self.hash {
            return Ok(());
        }
        let key = self.key.clone();
        Err(Error::OldDocument { key })
    }
}

/// An iterator over documents, ordered by key, as of the commit when it was made.
///
/// It keeps the store open, and locked if it was opened for writing, even after all handles of the store are
/// dropped.
pub struct Documents {
    snapshot: Arc<Snapshot>,
    rows: Box<dyn Iterator<Item = Result<(String, DocumentRow)>> + Send>,
    failed: bool,
    /// The number of the last document's file or folder, and which it is.
    source: (u64, Option<SourceFile>),
    /// Dropped last: the store is closed with its last handle.
    store: Store,
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Documents").finish_non_exhaustive()
    }
}

impl Iterator for Documents {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.store.shared.process.check() {
            let is_first = !std::mem::replace(&mut self.failed, true);
            return is_first.then_some(Err(error));
        }
        let row = self.rows.next()?;
        Some(row.and_then(|(key, row)| {
            let source = self.source(row.source)?;
            Document::new(&self.snapshot, key, row, source)
        }))
    }
}

impl Documents {
    /// The file or folder with this number.
    fn source(&mut self, number: u64) -> Result<Option<SourceFile>> {
        if self.source.0 != number {
            self.source = (number, self.snapshot.source(number)?);
        }
        Ok(self.source.1.clone())
    }
}

impl Store {
    /// Returns the document `key`, if it is stored.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn get(&self, key: &str) -> Result<Option<Document>> {
        let snapshot = self.published()?;
        Document::of_row(&snapshot, key, snapshot.document(key)?)
    }

    /// Returns all documents, ordered by the bytes of their keys.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn documents(&self) -> Result<Documents> {
        self.documents_with_prefix("")
    }

    /// Returns the documents whose keys begin with `prefix`, ordered by the bytes of their keys.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn documents_with_prefix(&self, prefix: &str) -> Result<Documents> {
        let snapshot = self.published()?;
        let rows = snapshot.documents_with_prefix(prefix)?;
        Ok(Documents {
            snapshot,
            rows: Box::new(rows),
            failed: false,
            source: (0, None),
            store: self.clone(),
        })
    }

    /// Returns the [folders](Document::folder) from which the keys of documents lead to their files, in no order. A folder may
    /// stay listed when its documents are gone.
    ///
    /// ```
    /// use dedupdb::write::SourceFile;
    /// use dedupdb::{Input, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let notes = SourceFile::folder("/notes");
    /// let mut writer = store.writer()?;
    /// writer.add_all(vec![
    ///     Input::new("a.txt", "one text").source(notes),
    ///     Input::new("1", "a record").source(SourceFile::new("/data/a.jsonl")),
    /// ])?;
    /// writer.commit()?;
    /// assert_eq!(store.folders()?, ["/notes/"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn folders(&self) -> Result<Vec<String>> {
        self.published()?.folders()
    }

    /// Whether documents came from this [file](Document::source) or [folder](Document::folder). It may stay known when they are
    /// gone.
    ///
    /// ```
    /// use dedupdb::write::SourceFile;
    /// use dedupdb::{Input, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let news = SourceFile::new("/data/news.jsonl");
    /// let mut writer = store.writer()?;
    /// writer.add_all(vec![Input::new("1", "a record").source(news.clone())])?;
    /// writer.commit()?;
    /// assert!(store.has_source(&news)?);
    /// assert!(!store.has_source(&SourceFile::new("/data/tickets.jsonl"))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn has_source(&self, source: &SourceFile) -> Result<bool> {
        let known = self.published()?.source(source.number)?;
        Ok(known.as_ref() == Some(source))
    }

    /// Returns the shingles of a document.
    ///
    /// # Errors
    ///
    /// [`Error::NoShingles`] if the store keeps none, [`Error::OldDocument`] after a compaction, or those of reading
    /// the store.
    pub fn shingles(&self, document: &Document) -> Result<ShingleSet> {
        let snapshot = self.published()?;
        if !snapshot.schema.keeps_shingles() {
            return Err(Error::NoShingles);
        }
        document.check_current(&snapshot)?;
        let mut shingles = ShingleSet::default();
        snapshot.shingles(document.content, &mut shingles)?;
        Ok(shingles.made_by(snapshot.schema.shingler()?))
    }

    /// Returns the keys of all documents with the same text as `document`, itself included, in order.
    ///
    /// # Errors
    ///
    /// [`Error::OldDocument`] after a compaction, or those of reading the store.
    pub fn copies(&self, document: &Document) -> Result<Vec<String>> {
        let snapshot = self.published()?;
        document.check_current(&snapshot)?;
        snapshot.names(document.content)?.collect()
    }
}

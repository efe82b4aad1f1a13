//! Stored documents that are the one that was read.

use std::fs;
use std::path::PathBuf;

use crate::item::{Origin, SourcedText};
use crate::presence::paths_of_document;
use crate::read::stored::of_another_folder;
use crate::walk::identity::{FileIdentity, is_same_file};
use crate::walk::key::Key;
use crate::walk::others::OtherKeys;
use dedupdb::overlap::{PassageQuery, Passages, PassagesOfDocument};
use dedupdb::write::IdScope;
use dedupdb::{Document, Match, Query, Result, Store};

impl SourcedText {
    /// Returns the answer to a query about this text, without the document itself: a file is no copy of itself, however
    /// it was named when it was stored, and neither is a record. Nothing says that a text from a stream was stored before,
    /// except the id of a record.
    ///
    /// ```
    /// use dedupdb_corpus::{Add, Corpus};
    /// use dedupdb::{Query, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let [a, b] = ["a.txt", "b.txt"].map(|name| folder.path().join(name));
    /// for file in [&a, &b] {
    ///     std::fs::write(file, "the night tram runs again from Friday on")?;
    /// }
    /// Add::new([&a, &b]).run(&store, |_| {})?;
    /// let read = Corpus::open([&a])?.next().unwrap()?;
    /// let found = read.others(&store, &Query::text(read.text()))?;
    /// assert_eq!(found.len(), 1);
    /// assert!(found[0].key.ends_with("b.txt"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::query`].
    pub fn others(&self, store: &Store, query: &Query<'_>) -> Result<Vec<Match>> {
        let most = query.most();
        let mut limit = most;
        loop {
            let found = store.query(&query.clone().limit(limit))?;
            let is_all = found.len() < limit;
            let mut others = Vec::with_capacity(found.len());
            for found in found {
                if !is_itself(self, &found.key, |_| found.exact_copy, store)? {
                    others.push(found);
                }
            }
            if is_all || others.len() >= most {
                others.truncate(most);
                return Ok(others);
            }
            limit = limit.saturating_mul(2);
        }
    }

    /// Returns the passages that this text shares with stored documents, without the document itself. `query` asks for
    /// those of this text.
    ///
    /// # Errors
    ///
    /// Those of [`Store::passages`].
    pub fn passages(&self, store: &Store, query: PassageQuery<'_>) -> Result<Passages> {
        let is_own = |key: &str| {
            let is_exact_copy = |stored: &Document| stored.hash == self.hash();
            is_itself(self, key, is_exact_copy, store)
        };
        // Nearly always it was stored under its key, so that one question is enough.
        let mut own = Vec::new();
        if is_own(&self.key)? {
            own.push(self.key.clone());
        }
        loop {
            let found = store.passages(&query.except(&own))?;
            let known = own.len();
            for PassagesOfDocument { key, .. } in &found.documents {
                if is_own(key)? {
                    own.push(key.clone());
                }
            }
            if own.len() == known {
                return Ok(found);
            }
        }
    }
}

/// Whether a stored document is the one that was read, as far as its key and its file show.
pub(crate) fn is_itself(
    origin: &Origin,
    key: &str,
    is_exact_copy: impl FnOnce(&Document) -> bool,
    store: &Store,
) -> Result<bool> {
    if origin.read.is_none() && !origin.has_id {
        return Ok(false);
    }
    if origin.record.is_some() {
        return is_same_record(origin, key, store);
    }
    if origin.key == key {
        let stored = store.get(key)?.zip(origin.identity());
        return Ok(stored.is_none_or(|(stored, own)| of_another_folder(&stored, own).is_none()));
    }
    let Some(stored) = store.get(key)? else {
        return Ok(false);
    };
    let paths = paths_of_document(&stored, store);
    if paths.is_empty() {
        return Ok(false);
    }
    let identity = |path: &PathBuf| Some(FileIdentity::of(path, &fs::metadata(path).ok()?));
    let found: Vec<FileIdentity> = paths.iter().filter_map(identity).collect();
    if origin.identity().is_some_and(|own| found.contains(&own)) {
        // The key of a record may be the name of a file.
        return Ok(stored.source.is_none());
    }
    if !found.is_empty() || !is_exact_copy(&stored) {
        return Ok(false);
    }
    // It may have been another folder above the file, or one beside such a folder.
    let rest = key.trim_start_matches("../");
    let mut keys = OtherKeys::new();
    if origin.key != rest && !keys.above(&origin.source).iter().any(|key| key == rest) {
        return Ok(false);
    }
    Ok(stored.modified == origin.modified)
}

/// Whether the stored document `key` is the record that was read. An id names a record of its file, unless it holds in
/// all files; what came from no file, on either side, has only its id.
fn is_same_record(origin: &Origin, key: &str, store: &Store) -> Result<bool> {
    let is_named = origin.key == key;
    if !is_named && !origin.after_file().is_some_and(|rest| key.ends_with(rest)) {
        return Ok(false);
    }
    let source = store.get(key)?.and_then(|stored| stored.source);
    Ok(match (source, &origin.file) {
        (Some(stored), Some(own)) => {
            *stored == *own.path()
                || is_named && store.id_scope() == IdScope::All
                || Key::path(&stored).is_some_and(|path| is_same_file(&path, &origin.source))
        }
        _ => is_named,
    })
}

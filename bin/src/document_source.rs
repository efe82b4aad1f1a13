//! What is known of the files of the documents that a command prints.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use dedupdb::Store;
use dedupdb_corpus::Presence;

use crate::args::Args;
use crate::console::Console;
use crate::number::counted;
use crate::output::escape;

/// The number of documents to remember. A document of many pairs is looked at once.
const MOST: usize = 1 << 16;

/// Where a document came from, and whether that is still as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentSource {
    /// The file of a record.
    pub(crate) source: Option<String>,
    /// `gone` or `changed`, if the document is a file and this is so.
    pub(crate) file: Option<&'static str>,
}

/// Looks at the files of documents, and counts those that are not as they were.
pub(crate) struct SourceChecker<'a> {
    store: &'a Store,
    known: HashMap<String, DocumentSource>,
    gone: KeyTally,
    changed: KeyTally,
}

/// Documents that one message is about: the hashes of their keys, and the first key.
#[derive(Default)]
pub(crate) struct KeyTally {
    keys: HashSet<u64>,
    first: Option<String>,
}

impl KeyTally {
    /// Counts a document.
    pub(crate) fn push(&mut self, key: &str) {
        let hash = blake3::hash(key.as_bytes());
        let start = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        self.keys.insert(u64::from_le_bytes(start));
        self.first.get_or_insert_with(|| key.to_owned());
    }

    /// How many documents there are, with the first key, if there is one.
    pub(crate) fn note(&self, one: &str, many: &str, remedy: &str) -> Option<String> {
        let first = escape(self.first.as_ref()?);
        let files = counted(self.keys.len() as u64, one, many);
        Some(format!("{files} (first: {first}){remedy}"))
    }
}

impl SourceChecker<'_> {
    /// Returns what will be known of the documents of this store.
    pub(crate) fn of(store: &Store) -> SourceChecker<'_> {
        SourceChecker {
            store,
            known: HashMap::new(),
            gone: KeyTally::default(),
            changed: KeyTally::default(),
        }
    }

    /// Looks at the document `key`.
    pub(crate) fn look(&mut self, key: &str) -> Result<DocumentSource> {
        if let Some(known) = self.known.get(key) {
            return Ok(known.clone());
        }
        let document = self.store.get(key)?;
        let standing =
            document.map_or_else(DocumentSource::default, |document| self.check(document));
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key.to_owned(), standing.clone());
        Ok(standing)
    }

    /// Looks at a document that was read from the store.
    pub(crate) fn check(&mut self, document: dedupdb::Document) -> DocumentSource {
        let file = match Presence::of(&document) {
            Presence::Gone => {
                self.gone.push(&document.key);
                Some("gone")
            }
            Presence::Changed => {
                self.changed.push(&document.key);
                Some("changed")
            }
            _ => None,
        };
        DocumentSource {
            source: document.source,
            file,
        }
    }

    /// Says how many files of the documents are gone or have changed, and what to do.
    pub(crate) fn note(&self, args: &Args, console: &Console) {
        let command = crate::store::command(args);
        let gone = self.gone.note(
            "of these files no longer exists",
            "of these files no longer exist",
            &format!(
                ", as seen from this folder; `{command} remove --missing --dry-run` lists all"
            ),
        );
        let changed = self.changed.note(
            "of these files has changed since it was added",
            "of these files have changed since they were added",
            &format!("; `{command} add` reads them again"),
        );
        for note in [gone, changed].into_iter().flatten() {
            console.note(&note);
        }
    }
}

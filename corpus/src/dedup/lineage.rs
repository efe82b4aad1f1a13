//! The places of kept documents in the input.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::{Nth, Origin, PlaceTable, ReadFile, RecordPlace, short_hash};

/// The places of kept documents, by the keys under which they are stored, at about 40 bytes each, and twice as many more
/// for a document that is a file.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    places: PlaceTable,
    kept: HashMap<u64, RecordPlace>,
    files: HashMap<u64, ReadFile>,
    /// Those that a pattern protects.
    protected: HashSet<u64>,
    /// The files of records.
    of_records: HashMap<PathBuf, ReadFile>,
    /// The last one.
    last: PathBuf,
}

impl Lineage {
    /// Records a document that is stored as `key`, and its place.
    pub(crate) fn keep(&mut self, key: &str, origin: &Origin) {
        let (key, place) = (
            short_hash(key),
            self.places.place(&origin.source, origin.record),
        );
        self.kept.insert(key, place);
        let Some(read) = origin.read else {
            return;
        };
        if origin.record.is_none() {
            self.files.insert(key, read);
        } else if origin.source != self.last {
            self.last.clone_from(&origin.source);
            self.of_records.entry(self.last.clone()).or_insert(read);
        }
    }

    /// Records that a pattern protects the document that is stored as `key`.
    pub(crate) fn protect(&mut self, key: &str) {
        self.protected.insert(short_hash(key));
    }

    /// Returns whether a pattern protects the document that is stored as `key`.
    pub(crate) fn is_protected(&self, key: &str) -> bool {
        self.protected.contains(&short_hash(key))
    }

    /// Returns the file and the record of the document that is stored as `key`, as far as they are known.
    pub(crate) fn of(&self, key: &str) -> (Option<&Path>, Option<Nth>) {
        let place = self.kept.get(&short_hash(key));
        place.map_or((None, None), |place| self.places.of(*place))
    }

    /// Returns the file of the document that is stored as `key`, as it was when it was read, if it is known.
    pub(crate) fn file(&self, key: &str) -> Option<ReadFile> {
        if let Some(read) = self.files.get(&short_hash(key)) {
            return Some(*read);
        }
        let (path, _) = self.of(key);
        self.of_records.get(path?).copied()
    }
}

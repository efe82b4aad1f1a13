//! The places of kept documents in the input.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use crate::corpus::{self, Nth, Origin, Places, RecordPlace, short_hash};

/// A file when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsRead {
    pub(crate) size: u64,
    pub(crate) modified: Option<SystemTime>,
}

impl AsRead {
    /// Returns how a file is now.
    pub(crate) fn now(metadata: &Metadata) -> AsRead {
        AsRead {
            size: metadata.len(),
            modified: corpus::modified(metadata),
        }
    }

    /// Returns how the file of a document was when it was read, if it is one document.
    pub(crate) fn of(origin: &Origin) -> Option<AsRead> {
        Some(AsRead {
            size: origin.size?,
            modified: origin.modified,
        })
    }
}

/// The places of kept documents, by the keys under which they are stored, at about 40 bytes each, and 60 more for a
/// document that is a file.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    places: Places,
    kept: HashMap<u64, RecordPlace>,
    files: HashMap<u64, AsRead>,
}

impl Lineage {
    /// Records a document that is stored as `key`.
    pub(crate) fn keep(&mut self, key: &str, origin: &Origin) {
        self.keep_at(key, &origin.source, origin.record);
        if let Some(read) = AsRead::of(origin) {
            self.files.insert(short_hash(key), read);
        }
    }

    /// Records a document that is stored as `key`, and its place.
    pub(crate) fn keep_at(&mut self, key: &str, source: &Path, record: Option<Nth>) {
        let place = self.places.place(source, record);
        self.kept.insert(short_hash(key), place);
    }

    /// Returns the file and the record of the document that is stored as `key`, as far as they are known.
    pub(crate) fn of(&self, key: &str) -> (Option<&Path>, Option<Nth>) {
        let place = self.kept.get(&short_hash(key));
        place.map_or((None, None), |place| self.places.of(*place))
    }

    /// Returns how the file of the document that is stored as `key` was when it was read, if it is one document.
    pub(crate) fn as_read(&self, key: &str) -> Option<AsRead> {
        self.files.get(&short_hash(key)).copied()
    }
}

//! The places of kept documents in the input.

use std::collections::HashMap;
use std::path::Path;

use crate::corpus::{FileIdentity, Nth, Origin, Places, RecordPlace, short_hash};

/// The places of kept documents, by the keys under which they are stored, at about 40 bytes each, and as many more for a
/// document that is a file.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    places: Places,
    kept: HashMap<u64, RecordPlace>,
    files: HashMap<u64, FileIdentity>,
}

impl Lineage {
    /// Records a document that is stored as `key`, and its place.
    pub(crate) fn keep(&mut self, key: &str, origin: &Origin) {
        let (key, place) = (
            short_hash(key),
            self.places.place(&origin.source, origin.record),
        );
        self.kept.insert(key, place);
        if let Some(identity) = origin.identity {
            self.files.insert(key, identity);
        }
    }

    /// Returns the file and the record of the document that is stored as `key`, as far as they are known.
    pub(crate) fn of(&self, key: &str) -> (Option<&Path>, Option<Nth>) {
        let place = self.kept.get(&short_hash(key));
        place.map_or((None, None), |place| self.places.of(*place))
    }

    /// Returns the identity, when it was read, of the file of the document that is stored as `key`, if it is one
    /// document.
    pub(crate) fn identity(&self, key: &str) -> Option<FileIdentity> {
        self.files.get(&short_hash(key)).copied()
    }
}

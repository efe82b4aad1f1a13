//! Where the documents that are kept stand in the input.

use std::collections::HashMap;
use std::path::Path;

use crate::corpus::{Nth, Origin, Places, RecordPlace, short_hash};

/// The places of the kept documents by the keys that they are stored under, in 40 bytes each, about.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    places: Places,
    kept: HashMap<u64, RecordPlace>,
}

impl Lineage {
    /// Takes note of a document that is stored as `key`.
    pub(crate) fn keep(&mut self, key: &str, origin: &Origin) {
        self.keep_at(key, &origin.source, origin.record);
    }

    /// Takes note of a document that is stored as `key`, and of where it stands.
    pub(crate) fn keep_at(&mut self, key: &str, source: &Path, record: Option<Nth>) {
        let place = self.places.place(source, record);
        self.kept.insert(short_hash(key), place);
    }

    /// The file and the record of the document that is stored as `key`, as far as they are known.
    pub(crate) fn of(&self, key: &str) -> (Option<&Path>, Option<Nth>) {
        let place = self.kept.get(&short_hash(key));
        place.map_or((None, None), |place| self.places.of(*place))
    }
}

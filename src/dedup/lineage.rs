//! The places of kept documents in the input.

use std::collections::HashMap;
use std::path::Path;

use crate::corpus::{Nth, Origin, Places, RecordPlace, short_hash};

/// The places of kept documents, by the keys under which they are stored, at about 40 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    places: Places,
    kept: HashMap<u64, RecordPlace>,
}

impl Lineage {
    /// Records a document that is stored as `key`.
    pub(crate) fn keep(&mut self, key: &str, origin: &Origin) {
        self.keep_at(key, &origin.source, origin.record);
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
}

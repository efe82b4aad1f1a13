//! Ids that occur again within a run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::item::{RecordId, RepeatedId, SourcedText, came_before, place};
use crate::read::places::{PlaceTable, RecordPlace, prefix, short_hash};
use crate::skipped::Hint;
use dedupdb::write::IdScope;

/// The ids that a run has met, at about 40 bytes each. Two different ids collide with a probability of 2^-64.
#[derive(Debug, Default)]
pub(crate) struct SeenIds {
    places: PlaceTable,
    seen: HashMap<u64, SeenId>,
    scope: IdScope,
}

#[derive(Debug)]
struct SeenId {
    text: u64,
    place: RecordPlace,
}

impl SeenIds {
    /// Returns no ids yet, which hold in this scope.
    pub(crate) fn new(scope: IdScope) -> SeenIds {
        SeenIds {
            scope,
            ..SeenIds::default()
        }
    }

    /// Records the id of a document. If its key came before as an id with another text, says where. If ids hold in all
    /// files, a later file has a later text.
    pub(crate) fn again(&mut self, document: &SourcedText) -> Option<RepeatedId> {
        let id = match document.id {
            Some(id) => id,
            // Other keys are only looked up: remembering those of a large folder would take much memory.
            None if self.has(&document.key) => RecordId::of(&document.key, document.text()),
            None => return None,
        };
        let text = prefix(&id.text);
        match self.seen.entry(id.key) {
            Entry::Vacant(vacant) => {
                let place = self.places.place(&document.source, document.record);
                vacant.insert(SeenId { text, place });
                None
            }
            Entry::Occupied(mut first) => {
                let (file, line) = self.places.of(first.get().place);
                let file = file.unwrap_or(&document.source);
                let is_of_another = *file != *document.source;
                let is_same = first.get().text == text;
                if is_of_another && self.scope == IdScope::All {
                    // What follows in this file is compared with this text.
                    let place = self.places.place(&document.source, document.record);
                    first.insert(SeenId { text, place });
                    return None;
                }
                if is_same {
                    return None;
                }
                Some(RepeatedId {
                    detail: format!("{} at {}", came_before(&document.key), place(file, line)),
                    hint: is_of_another.then_some(Hint::IdScope),
                })
            }
        }
    }

    /// Whether a record had this key as its id.
    fn has(&self, key: &str) -> bool {
        !self.seen.is_empty() && self.seen.contains_key(&short_hash(key))
    }
}

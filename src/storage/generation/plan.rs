//! What a rebuild is to make, and how far it is.

use std::sync::Arc;

use super::state::Begun;
use crate::schema::Schema;
use crate::storage::view::Snapshot;

/// What a rebuild makes of a store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) schema: Arc<Schema>,
    /// Whether removed contents are left out and the others numbered anew.
    pub(crate) renumbers: bool,
}

impl Plan {
    /// Whether the signatures of `stored` are not those of the plan.
    pub(crate) fn resigns(&self, stored: &Schema) -> bool {
        let of = |schema: &Schema| {
            let (family, seed) = (schema.family(), schema.seed());
            (family, seed, schema.permutations(), schema.slot_width())
        };
        of(&self.schema) != of(stored)
    }

    /// Whether it makes the index of a store with the schema `stored` anew and changes nothing.
    pub(crate) fn packs(&self, stored: &Schema) -> bool {
        !self.renumbers && *self.schema == *stored
    }

    /// Whether the postings are those that a store with the schema `stored` has.
    pub(super) fn keeps_postings(&self, stored: &Schema) -> bool {
        !self.renumbers && !self.resigns(stored) && self.schema.bands() == stored.bands()
    }

    /// Number of lists of buckets, the copies included.
    pub(super) fn lists(&self) -> u32 {
        self.schema.bands().bands() + 1
    }
}

impl Begun {
    /// Whether it was begun on the generation of `snapshot`.
    pub(super) fn fits(&self, snapshot: &Snapshot) -> bool {
        let old = &snapshot.tables.meta;
        self.meta.store == old.store
            && self.meta.generation == old.generation + 1
            && self.state.covered <= snapshot.len
    }

    pub(super) fn plan(&self) -> Plan {
        Plan {
            schema: Arc::new(self.schema.clone()),
            renumbers: self.state.renumbers == 1,
        }
    }
}

/// How far a rebuild has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Contents whose rows are there, of all.
    pub(crate) covered: (u32, u32),
    /// Lists of buckets that are there, of all.
    pub(crate) lists: (u32, u32),
}

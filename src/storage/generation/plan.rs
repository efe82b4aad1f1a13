//! The plan of a rebuild, and its progress.

use std::sync::Arc;

use super::state::UnfinishedGeneration;
use crate::schema::Schema;
use crate::storage::format::ColumnKind;
use crate::storage::postings::BucketLists;
use crate::storage::view::Snapshot;

/// What a rebuild turns a store into.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RebuildPlan {
    pub(crate) schema: Arc<Schema>,
    /// Whether to leave out removed contents and renumber the others.
    pub(crate) renumbers: bool,
}

impl RebuildPlan {
    /// Whether the plan's signatures differ from those of `stored`.
    pub(crate) fn resigns(&self, stored: &Schema) -> bool {
        let of = |schema: &Schema| {
            let (family, seed) = (schema.family(), schema.seed());
            (family, seed, schema.permutations(), schema.slot_width())
        };
        of(&self.schema) != of(stored)
    }

    /// Whether the plan's fingerprints differ from those of `stored`.
    pub(crate) fn refingerprints(&self, stored: &Schema) -> bool {
        self.schema.fingerprint_step() != stored.fingerprint_step()
    }

    /// Whether the plan writes the column of a kind again.
    pub(super) fn remakes(&self, kind: ColumnKind, stored: &Schema) -> bool {
        self.renumbers
            || match kind {
                ColumnKind::Contents | ColumnKind::Fingerprints => self.refingerprints(stored),
                ColumnKind::Shingles => false,
                ColumnKind::Signatures => self.resigns(stored),
            }
    }

    /// Whether the plan only rewrites the index of a store with the schema `stored`.
    pub(crate) fn packs(&self, stored: &Schema) -> bool {
        !self.renumbers && *self.schema == *stored
    }

    /// Whether the plan's postings are those of a store with the schema `stored`.
    pub(super) fn keeps_postings(&self, stored: &Schema) -> bool {
        !self.renumbers
            && !self.resigns(stored)
            && !self.refingerprints(stored)
            && self.schema.bands() == stored.bands()
    }

    /// The lists of buckets.
    pub(super) fn lists(&self) -> BucketLists {
        BucketLists::of(&self.schema)
    }
}

impl UnfinishedGeneration {
    /// Whether the rebuild started from the generation of `snapshot`.
    pub(super) fn fits(&self, snapshot: &Snapshot) -> bool {
        let old = &snapshot.tables.meta;
        self.meta.store == old.store
            && self.meta.generation == old.generation + 1
            && self.state.covered <= snapshot.len
    }

    pub(super) fn plan(&self) -> RebuildPlan {
        RebuildPlan {
            schema: Arc::new(self.schema.clone()),
            renumbers: self.state.renumbers == 1,
        }
    }
}

/// The progress of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GenerationProgress {
    /// Contents whose rows are written, and all contents.
    pub(crate) covered: (u32, u32),
    /// Lists of buckets that are written, and all lists.
    pub(crate) lists: (u32, u32),
}

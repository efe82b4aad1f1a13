//! What `--json` prints: one type for each object of `docs/reference/json.md`, the fields in the order of that page.
//!
//! A field is never renamed or removed. A new one goes where it belongs, here, in the page and in the schema beside it;
//! the test `json` holds the three together.

mod compared;
mod document;
mod found;
mod left_out;
#[cfg(unix)]
mod moved;
mod parameters;
mod read;
mod report;
mod signed;
mod tuned;
mod upkeep;

use serde::Serialize;

pub(crate) use compared::{Difference, Explained, TwoFiles, WordDiff};
pub(crate) use document::{Document, Removed, Show, WouldRemove};
pub(crate) use found::{AddMatch, Clustered, Found, Pair, Reduced, ReducedPair};
pub(crate) use left_out::LeftOut;
#[cfg(unix)]
pub(crate) use moved::{Linked, LinkedFile, Moved, MovedFile};
pub(crate) use parameters::{Init, Parameters};
pub(crate) use read::{Additions, Deduped, Mapped};
pub(crate) use report::Report;
pub(crate) use signed::Matrix;
pub(crate) use tuned::{Figures, Sample, Tuned};
pub(crate) use upkeep::{
    Backup, Casualty, Checked, Compacted, Merged, Reindexed, Salvaged, Stats, Status,
};

/// An object on one line, without the end of the line.
pub(crate) fn line(object: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(object)
}

/// How similar two texts are.
#[derive(Serialize)]
struct Similarity {
    jaccard: Option<f64>,
    estimate: f64,
    error: f64,
}

impl Similarity {
    fn new(jaccard: Option<f64>, estimate: dedupdb::sketching::Estimate) -> Similarity {
        Similarity {
            jaccard,
            estimate: estimate.jaccard,
            error: estimate.error,
        }
    }
}

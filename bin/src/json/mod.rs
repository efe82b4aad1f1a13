//! The output of `--json`: one type for each object in `docs/reference/json.md`, with its fields in the order of that
//! page.
//!
//! A field is never renamed or removed. Put a new field where it belongs: here, on the page, and in the schema beside
//! the page. The test `json` keeps the three consistent.

mod compared;
mod document;
mod failure;
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
pub(crate) use failure::Failure;
pub(crate) use found::{AddMatch, Clustered, Found, Pair, Reduced, ReducedPair};
pub(crate) use left_out::LeftOut;
#[cfg(unix)]
pub(crate) use moved::{Moved, MovedFile};
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

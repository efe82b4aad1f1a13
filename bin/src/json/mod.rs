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

pub(crate) use compared::{DifferenceJson, ExplainJson, JaccardJson, WordDiffJson};
pub(crate) use document::{DocumentJson, RemoveJson, ShowJson, WouldRemoveJson};
pub(crate) use failure::FailureJson;
pub(crate) use found::{AddMatchJson, ClusterMemberJson, MatchJson, PairJson, ReduceJson, ReducedPairJson};
pub(crate) use left_out::LeftOutJson;
#[cfg(unix)]
pub(crate) use moved::{MoveJson, MovedFileJson};
pub(crate) use parameters::{InitJson, ParametersJson};
pub(crate) use read::{AddJson, DedupJson, MapJson};
pub(crate) use report::ReportJson;
pub(crate) use signed::MatrixJson;
pub(crate) use tuned::{FiguresJson, SampleJson, TuneJson};
pub(crate) use upkeep::{
    BackupJson, CasualtyJson, CheckJson, CompactJson, MergeJson, ReindexJson, SalvageJson, StatsJson, StatusJson,
};

/// An object on one line, without the end of the line.
pub(crate) fn line(object: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(object)
}

/// How similar two texts are.
#[derive(Serialize)]
struct SimilarityJson {
    jaccard: Option<f64>,
    estimate: f64,
    error: f64,
}

impl SimilarityJson {
    fn new(jaccard: Option<f64>, estimate: dedupdb::sketching::Estimate) -> SimilarityJson {
        SimilarityJson {
            jaccard,
            estimate: estimate.jaccard,
            error: estimate.error,
        }
    }
}

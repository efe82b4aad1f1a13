//! The output of `--json`: one type for each object in `docs/reference/json.md`, with its fields in the order of that
//! page.
//!
//! A field is never renamed or removed. Put a new field where it belongs: here, on the page, and in the schema beside
//! the page. The test `json` keeps the three consistent.

mod comparison;
mod document;
mod failure;
mod left_out;
mod matches;
mod matrix;
#[cfg(unix)]
mod moves;
mod parameters;
mod passages;
mod report;
mod serve;
mod summaries;
mod tune;
mod upkeep;

use serde::Serialize;

pub(crate) use comparison::{
    DifferenceJson, ExplainJson, JaccardJson, LongestRunJson, WordDiffJson,
};
pub(crate) use document::{DocumentJson, RemoveJson, RenameJson, ShowJson, WouldRemoveJson};
pub(crate) use failure::FailureJson;
pub(crate) use left_out::LeftOutJson;
pub(crate) use matches::{
    AddMatchJson, ClusterMemberJson, MatchJson, PairJson, ReduceJson, ReducedPairJson,
};
pub(crate) use matrix::MatrixJson;
#[cfg(unix)]
pub(crate) use moves::{MoveJson, MovedFileJson};
pub(crate) use parameters::{InitJson, ParametersJson};
pub(crate) use passages::{CommonPassageJson, PassageJson, PassagePairJson};
pub(crate) use report::{ReportJson, ReportSourcesJson};
pub(crate) use serve::AnswerJson;
pub(crate) use summaries::{AddJson, DecontaminateJson, DedupJson, MapJson};
pub(crate) use tune::{FiguresJson, SampleJson, TuneJson};
pub(crate) use upkeep::{
    BackupJson, CasualtyJson, CheckJson, CompactJson, MergeJson, ReindexJson, SalvageJson,
    StatsJson, StatusJson,
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

//! The store: what a program calls.

#[cfg(test)]
mod bounded;
mod compare;
#[cfg(test)]
#[cfg(unix)]
mod faults;
mod find;
mod groups;
mod handle;
#[cfg(any(test, fuzzing))]
pub(crate) mod model;
mod offer;
mod overlap;
mod upkeep;
mod write;

pub use crate::storage::{IdScope, SourceFile};
pub use compare::Match;
pub use find::{Common, Document, Documents, Explanation, Query, Subject};
pub use groups::{
    Cluster, ClusterQuery, ClusterSizes, Clusters, Linkage, Member, Pair, PairQuery, Pairs,
};
pub use handle::{Options, Store};
pub use offer::{Body, Change, Input, MAX_KEY_BYTES, Outcome, Relation};
pub use overlap::{
    CommonPassage, Passage, PassageQuery, Passages, PassagesOfDocument, SampledText,
};
pub use upkeep::{
    Bucket, Casualty, CheckReport, ComparedShape, Expected, Near, Nearness, Problem, Rebuild,
    RebuildProgress, Reindex, SalvageSummary, Sample, Shape, Stats, TextFingerprints, Tuning,
    Unfinished, Unreadable,
};
pub use write::{Batch, Intake, MergeSummary, Pipeline, Uncommitted, Writer};

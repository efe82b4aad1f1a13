//! What a store holds, and the results of upkeep.

use std::collections::BTreeMap;
use std::path::Path;

use dedupdb::groups::ClusterSizes;
use dedupdb::upkeep::{self, Holder, Unfinished};
use dedupdb::{Schema, write};
use serde::Serialize;

use super::ParametersJson;
use crate::cmd::stats::ScannedStats;
use crate::number::utc;

/// `stats`.
#[derive(Serialize)]
pub(crate) struct StatsJson<'a> {
    documents: u64,
    contents: u64,
    removed: u64,
    removed_bytes: u64,
    unfingerprinted: u64,
    open_run: bool,
    bytes: u64,
    bytes_per_document: Option<f64>,
    files: BTreeMap<&'a str, u64>,
    commit: u64,
    committed: String,
    holder: Option<HolderJson>,
    generation: u64,
    format: u64,
    schema: ParametersJson,
    recall: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reclaimable_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_buckets: Option<Vec<BucketJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<Vec<SizesJson>>,
}

impl StatsJson<'_> {
    /// What a store holds, who writes to it, and what its index and its clusters say if they were read.
    pub(crate) fn new<'a>(
        schema: &Schema,
        stats: &'a upkeep::Stats,
        holder: Option<Holder>,
        scanned: Option<&ScannedStats>,
        clusters: Option<&[ClusterSizes]>,
    ) -> StatsJson<'a> {
        let files = stats.files.iter();
        let bytes = files.clone().map(|(_, bytes)| bytes).sum();
        let times = scanned.and_then(|scanned| scanned.times);
        let sizes = |sizes: &[ClusterSizes]| sizes.iter().map(SizesJson::new).collect();
        StatsJson {
            documents: stats.documents,
            contents: stats.contents,
            removed: stats.removed,
            removed_bytes: stats.removed_bytes,
            unfingerprinted: stats.unfingerprinted,
            open_run: stats.has_open_run,
            bytes,
            bytes_per_document: (stats.documents > 0)
                .then(|| bytes as f64 / stats.documents as f64),
            files: files.map(|(name, bytes)| (&**name, *bytes)).collect(),
            commit: stats.commit,
            committed: utc(stats.committed),
            holder: holder.map(HolderJson::new),
            generation: stats.generation,
            format: stats.format,
            schema: ParametersJson::new(schema),
            recall: schema.recall(schema.threshold()),
            oldest: times.map(|[oldest, _]| utc(oldest)),
            newest: times.map(|[_, newest]| utc(newest)),
            reclaimable_bytes: scanned.map(|scanned| scanned.reclaimable),
            largest_buckets: scanned
                .map(|scanned| scanned.buckets.iter().map(BucketJson::new).collect()),
            clusters: clusters.map(sizes),
        }
    }
}

#[derive(Serialize)]
struct HolderJson {
    process: u32,
    since: Option<String>,
}

impl HolderJson {
    fn new(holder: Holder) -> HolderJson {
        HolderJson {
            process: holder.process,
            since: holder.since.map(utc),
        }
    }
}

#[derive(Serialize)]
struct BucketJson {
    band: u32,
    hash: u32,
    contents: u64,
}

impl BucketJson {
    fn new(bucket: &upkeep::Bucket) -> BucketJson {
        BucketJson {
            band: bucket.band,
            hash: bucket.hash,
            contents: bucket.contents,
        }
    }
}

#[derive(Serialize)]
struct SizesJson {
    from: u64,
    to: u64,
    clusters: u64,
    documents: u64,
}

impl SizesJson {
    fn new(sizes: &ClusterSizes) -> SizesJson {
        SizesJson {
            from: sizes.from,
            to: sizes.to,
            clusters: sizes.clusters,
            documents: sizes.documents,
        }
    }
}

/// `reindex`.
#[derive(Serialize)]
pub(crate) struct ReindexJson {
    pub(crate) documents: u64,
    pub(crate) dropped: u64,
    pub(crate) schema: ParametersJson,
    pub(crate) recall: f64,
}

/// `reindex --status`.
#[derive(Serialize)]
pub(crate) struct StatusJson {
    compacts: bool,
    contents: u64,
    all_contents: u64,
    lists: u32,
    all_lists: u32,
    bytes: u64,
    running: bool,
    process: Option<u32>,
    schema: ParametersJson,
}

impl StatusJson {
    /// The progress of a rebuild.
    pub(crate) fn new(unfinished: &Unfinished) -> StatusJson {
        let progress = unfinished.progress;
        StatusJson {
            compacts: unfinished.compacts,
            contents: progress.contents,
            all_contents: progress.all_contents,
            lists: progress.lists,
            all_lists: progress.all_lists,
            bytes: unfinished.bytes,
            running: unfinished.is_running,
            process: unfinished.process,
            schema: ParametersJson::new(&unfinished.schema),
        }
    }
}

/// `compact`.
#[derive(Serialize)]
pub(crate) struct CompactJson {
    pub(crate) bytes_before: u64,
    pub(crate) bytes: u64,
}

/// `merge`: a store.
#[derive(Serialize)]
pub(crate) struct MergeJson<'a> {
    store: &'a str,
    added: u64,
    updated: u64,
    updated_keys: &'a [String],
    unchanged: u64,
    copies: u64,
    unpublished: u64,
}

impl<'a> MergeJson<'a> {
    /// The outcome for the documents of a store.
    pub(crate) fn new(store: &'a str, merged: &'a write::MergeSummary) -> MergeJson<'a> {
        MergeJson {
            store,
            added: merged.added,
            updated: merged.updated,
            updated_keys: &merged.updated_keys,
            unchanged: merged.unchanged,
            copies: merged.copies,
            unpublished: merged.unpublished,
        }
    }
}

/// `backup`.
#[derive(Serialize)]
pub(crate) struct BackupJson<'a> {
    pub(crate) store: &'a str,
    pub(crate) documents: u64,
    pub(crate) contents: u64,
    pub(crate) bytes: u64,
}

/// `check`.
#[derive(Serialize)]
pub(crate) struct CheckJson<'a> {
    documents: u64,
    contents: u64,
    postings: u64,
    recent: u64,
    problems: Vec<ProblemJson<'a>>,
}

impl CheckJson<'_> {
    /// What was checked, and the damage that was found.
    pub(crate) fn new(report: &upkeep::CheckReport) -> CheckJson<'_> {
        CheckJson {
            documents: report.documents,
            contents: report.contents,
            postings: report.postings,
            recent: report.recent,
            problems: report.problems.iter().map(ProblemJson::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    file: String,
    what: &'a str,
}

impl ProblemJson<'_> {
    fn new(problem: &upkeep::Problem) -> ProblemJson<'_> {
        ProblemJson {
            file: problem.file.display().to_string(),
            what: &problem.what,
        }
    }
}

/// `salvage`: a document that is not intact.
#[derive(Serialize)]
pub(crate) struct CasualtyJson<'a> {
    pub(crate) fate: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) why: &'a str,
}

/// `salvage`: the summary.
#[derive(Serialize)]
pub(crate) struct SalvageJson {
    store: String,
    documents: u64,
    contents: u64,
    doubtful: u64,
    lost: u64,
    unnamed: u64,
    undated: u64,
    unfingerprinted: u64,
    index_is_whole: bool,
    unreadable: Vec<UnreadableJson>,
    parameters: ParametersJson,
}

impl SalvageJson {
    /// What was saved into a new store.
    pub(crate) fn new(store: &Path, saved: &upkeep::SalvageSummary) -> SalvageJson {
        let unreadable = |part: &upkeep::Unreadable| UnreadableJson {
            file: part.file.display().to_string(),
            bytes: part.bytes,
        };
        SalvageJson {
            store: store.display().to_string(),
            documents: saved.documents,
            contents: saved.contents,
            doubtful: saved.doubtful,
            lost: saved.lost,
            unnamed: saved.unnamed,
            undated: saved.undated,
            unfingerprinted: saved.unfingerprinted,
            index_is_whole: saved.index_is_whole,
            unreadable: saved.unreadable.iter().map(unreadable).collect(),
            parameters: ParametersJson::new(&saved.schema),
        }
    }
}

#[derive(Serialize)]
struct UnreadableJson {
    file: String,
    bytes: u64,
}

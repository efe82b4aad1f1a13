//! `stats`: shows what the store holds.

use std::time::SystemTime;

use anyhow::Result;
use dedupdb::{
    Schema,
    groups::{ClusterQuery, ClusterSizes},
    upkeep::{Bucket, Holder, Stats},
};

use crate::args::{self, Args};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::number::{bytes, counted, grouped, percent, utc};
use crate::output::{Output, printable};
use crate::watch::{ProgressWatch, StepUnit};

/// The number of buckets that are shown.
const BUCKETS: usize = 5;

/// The width of a line about the bytes per document, in characters.
const WIDE: usize = 54;

/// What the whole index says.
pub(crate) struct ScannedStats {
    /// When the oldest and the newest document were added.
    pub(crate) times: Option<[SystemTime; 2]>,
    pub(crate) reclaimable: u64,
    pub(crate) buckets: Vec<Bucket>,
}

/// Runs `stats`.
pub(crate) fn run(
    args: &Args,
    options: &args::StatsArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let store = crate::store::open_to_read(args)?;
    let (schema, stats) = (store.schema(), store.stats()?);
    let holder = store.holder()?;
    let scanned = options.scan.then(|| -> Result<ScannedStats> {
        let watch = ProgressWatch::new(console, "counted", StepUnit::Step, store.progress());
        let buckets = store.largest_buckets(BUCKETS)?;
        drop(watch);
        Ok(ScannedStats {
            times: store.oldest_and_newest()?,
            reclaimable: store.reclaimable_bytes()?,
            buckets,
        })
    });
    let scanned = scanned.transpose()?;
    let sizes = options.clusters;
    let sizes = sizes.then(|| store.cluster_sizes(ClusterQuery::new()));
    let sizes = sizes.transpose()?;
    if output.is_json() {
        let (scanned, sizes) = (scanned.as_ref(), sizes.as_deref());
        output.object(&json::StatsJson::new(
            &schema, &stats, holder, scanned, sizes,
        ))?;
    } else {
        let mut lines = describe(&schema, &stats, holder, output.width());
        lines.extend(scanned.iter().flat_map(describe_scanned));
        lines.extend(sizes.iter().flat_map(|sizes| describe_clusters(sizes)));
        for line in lines {
            output.prose(&line)?;
        }
    }
    Ok(Exit::Found)
}

/// The clusters in total, and in each range of sizes.
fn describe_clusters(sizes: &[ClusterSizes]) -> Vec<String> {
    let line = |name: &str, clusters, documents| {
        let documents = counted(documents, "document", "documents");
        format!("{}  {documents}", count(name, clusters))
    };
    let clusters = sizes.iter().map(|sizes| sizes.clusters).sum();
    let documents = sizes.iter().map(|sizes| sizes.documents).sum();
    let mut lines = vec![line("clusters", clusters, documents)];
    lines.extend(sizes.iter().map(|sizes| {
        let (from, to) = (grouped(sizes.from), grouped(sizes.to));
        let name = if from == to {
            format!("  of {to}")
        } else {
            format!("  {from} to {to}")
        };
        line(&name, sizes.clusters, sizes.documents)
    }));
    lines
}

fn count(name: &str, count: u64) -> String {
    format!("{name:<16}{:>14}", grouped(count))
}

fn all_bytes(stats: &Stats) -> u64 {
    stats.files.iter().map(|(_, bytes)| bytes).sum()
}

/// The number of bytes per document, if there is one.
fn bytes_per_document(stats: &Stats, bytes: u64) -> Option<f64> {
    (stats.documents > 0).then(|| bytes as f64 / stats.documents as f64)
}

/// A number with one decimal if it is small, and rounded otherwise.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of a document are neither negative nor beyond u64"
)]
fn decimals(number: f64) -> String {
    if number < 100.0 {
        format!("{number:.1}")
    } else {
        grouped(number.round() as u64)
    }
}

fn describe(schema: &Schema, stats: &Stats, holder: Option<Holder>, width: usize) -> Vec<String> {
    let size = |name: &str, size: u64| {
        let each = bytes_per_document(stats, size).filter(|_| width >= WIDE);
        let each = each.map_or_else(String::new, |each| {
            format!("{:>10} B a document", decimals(each))
        });
        format!("{:<16}{:>14}{each}", printable(name), bytes(size))
    };
    let mut lines = vec![
        count("documents", stats.documents),
        count("contents", stats.contents),
        count("removed", stats.removed),
    ];
    if stats.unfingerprinted > 0 {
        lines.push(count("no fingerprints", stats.unfingerprinted));
    }
    if stats.has_open_run {
        lines.push(
            "open run        a dedup was interrupted; the next one forgets its documents".into(),
        );
    }
    lines.extend([size("size", all_bytes(stats))]);
    let files = stats.files.iter();
    lines.extend(files.map(|(name, bytes)| size(&format!("  {name}"), *bytes)));
    lines.push(size("removed bytes", stats.removed_bytes));
    let (number, time) = (grouped(stats.commit), utc(stats.committed));
    lines.push(format!("{:<16}{number:>14}   {time}", "last commit"));
    if let Some(holder) = holder {
        let since = holder.since.map(|since| format!(" since {}", utc(since)));
        let since = since.unwrap_or_default();
        lines.push(format!("{:<16}{holder}{since}", "being written"));
    }
    lines.push(count("generation", stats.generation));
    lines.push(count("format", stats.format));
    lines.push("parameters".to_owned());
    let parameters = schema.parameters();
    lines.extend(
        parameters
            .iter()
            .map(|(name, value)| format!("  {name:<14}{value}")),
    );
    lines.push(format!(
        "recall          {} of the pairs at {}",
        percent(schema.recall(schema.threshold())),
        schema.threshold()
    ));
    lines
}

/// The lines of what the whole index says.
fn describe_scanned(scanned: &ScannedStats) -> Vec<String> {
    let size = bytes(scanned.reclaimable);
    let mut lines = vec![format!("{:<16}{size:>14}", "reclaimable")];
    if let Some([oldest, newest]) = scanned.times {
        let line = |name: &str, time| format!("{name:<16}{}", utc(time));
        lines.extend([line("oldest added", oldest), line("newest added", newest)]);
    }
    if !scanned.buckets.is_empty() {
        lines.push("largest buckets".to_owned());
    }
    lines.extend(scanned.buckets.iter().map(|bucket| {
        let contents = counted(bucket.contents, "content", "contents");
        format!("  band {:<4} {:08x}  {contents}", bucket.band, bucket.hash)
    }));
    lines
}

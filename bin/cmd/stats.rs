//! `stats`: tells what the store holds.

use anyhow::Result;
use dedupdb::{Bucket, Schema, Stats};
use serde_json::{Map, Value, json};

use super::init;
use crate::args::Args;
use crate::console::Console;
use crate::exit::Exit;
use crate::number::{bytes, counted, grouped, percent};
use crate::output::{Output, escape};
use crate::watch::{Unit, Watch};

/// Buckets that are shown.
const BUCKETS: usize = 5;

/// Characters of a line that says what a document takes.
const WIDE: usize = 54;

/// Runs `stats`.
pub(crate) fn run(args: &Args, console: &Console, output: &mut Output) -> Result<Exit> {
    let store = crate::store::open_to_read(args)?;
    let (schema, stats) = (store.schema(), store.stats()?);
    let watch = Watch::new(console, "counted", Unit::Step, store.progress());
    let buckets = store.largest_buckets(BUCKETS)?;
    drop(watch);
    if output.is_json() {
        output.object(&object(&schema, &stats, &buckets))?;
    } else {
        for line in describe(&schema, &stats, &buckets, output.width()) {
            output.prose(&line)?;
        }
    }
    Ok(Exit::Found)
}

fn all_bytes(stats: &Stats) -> u64 {
    stats.files.iter().map(|(_, bytes)| bytes).sum()
}

/// Bytes that a document takes, if there is one.
fn bytes_per_document(stats: &Stats, bytes: u64) -> Option<f64> {
    (stats.documents > 0).then(|| bytes as f64 / stats.documents as f64)
}

fn describe(schema: &Schema, stats: &Stats, buckets: &[Bucket], width: usize) -> Vec<String> {
    let count = |name: &str, count: u64| format!("{name:<16}{:>14}", grouped(count));
    let size = |name: &str, size: u64| {
        let each = bytes_per_document(stats, size).filter(|_| width >= WIDE);
        let each = each.map_or_else(String::new, |each| format!("{each:>10.1} B a document"));
        format!("{:<16}{:>14}{each}", escape(name), bytes(size))
    };
    let mut lines = vec![
        count("documents", stats.documents),
        count("contents", stats.contents),
        count("removed", stats.removed),
        size("size", all_bytes(stats)),
    ];
    let files = stats.files.iter();
    lines.extend(files.map(|(name, bytes)| size(&format!("  {name}"), *bytes)));
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
    if !buckets.is_empty() {
        lines.push("largest buckets".to_owned());
    }
    lines.extend(buckets.iter().map(|bucket| {
        let contents = counted(bucket.contents, "content", "contents");
        format!("  band {:<4} {:08x}  {contents}", bucket.band, bucket.hash)
    }));
    lines
}

fn object(schema: &Schema, stats: &Stats, buckets: &[Bucket]) -> Value {
    let files = stats.files.iter();
    let files: Map<String, Value> = files
        .map(|(name, bytes)| (name.clone(), (*bytes).into()))
        .collect();
    let bucket = |bucket: &Bucket| json!({ "band": bucket.band, "hash": bucket.hash, "contents": bucket.contents });
    json!({
        "documents": stats.documents,
        "contents": stats.contents,
        "removed": stats.removed,
        "bytes": all_bytes(stats),
        "bytes_per_document": bytes_per_document(stats, all_bytes(stats)),
        "files": files,
        "schema": init::parameters(schema),
        "recall": schema.recall(schema.threshold()),
        "largest_buckets": buckets.iter().map(bucket).collect::<Vec<_>>(),
    })
}

//! The summaries of commands that read a corpus.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dedupdb_corpus::ReadCounts;
use dedupdb_corpus::decontaminate::DecontaminateSummary;
use dedupdb_corpus::dedup::{DedupSummary, DropCounts};
use serde::Serialize;

use crate::read_counts::ReadCountsText as _;

/// What was read, and what was left out.
#[derive(Serialize)]
struct ReadJson<'a> {
    skipped: BTreeMap<&'a str, u64>,
    repeated: u64,
    encodings: &'a BTreeMap<&'static str, u64>,
    replaced: u64,
    grown: u64,
    bytes: u64,
    /// Rounded to milliseconds.
    seconds: f64,
}

impl ReadJson<'_> {
    fn new(reading: &ReadCounts, elapsed: Duration) -> ReadJson<'_> {
        ReadJson {
            skipped: reading.skipped_by_name().into_iter().collect(),
            repeated: reading.all_repeated(),
            encodings: reading.by_encoding(),
            replaced: reading.all_replaced(),
            grown: reading.grown(),
            bytes: reading.bytes(),
            seconds: (elapsed.as_secs_f64() * 1e3).round() / 1e3,
        }
    }
}

/// `add`, `load`: the summary.
#[derive(Serialize)]
pub(crate) struct AddJson<'a> {
    documents: u64,
    added: u64,
    unchanged: u64,
    updated: u64,
    kept_out: u64,
    exact_copies: u64,
    near_duplicates: u64,
    contained: u64,
    other_names: u64,
    renamed: u64,
    gone: u64,
    stale: u64,
    #[serde(flatten)]
    read: ReadJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
}

impl AddJson<'_> {
    /// The outcome for all documents.
    pub(crate) fn new(
        added: &dedupdb_corpus::AddSummary,
        elapsed: Duration,
        dry_run: bool,
    ) -> AddJson<'_> {
        AddJson {
            documents: added.documents(),
            added: added.added,
            unchanged: added.unchanged,
            updated: added.updated,
            kept_out: added.kept_out,
            exact_copies: added.exact_copies,
            near_duplicates: added.near_duplicates,
            contained: added.contained,
            other_names: added.other_names,
            renamed: added.renamed,
            gone: added.gone,
            stale: added.stale,
            read: ReadJson::new(&added.reading, elapsed),
            dry_run: dry_run.then_some(true),
        }
    }
}

/// `dedup`: the summary.
#[derive(Serialize)]
pub(crate) struct DedupJson<'a> {
    documents: u64,
    kept: u64,
    dropped: u64,
    of_input: DroppedJson,
    of_history: DroppedJson,
    of_itself: u64,
    unmarked: u64,
    spared: u64,
    without_field: &'a BTreeMap<String, u64>,
    compared: Option<u64>,
    compared_skipped: u64,
    units: Option<UnitsJson>,
    passages: Option<CutPassagesJson>,
    aside: Option<Cow<'a, str>>,
    #[serde(flatten)]
    read: ReadJson<'a>,
}

/// The outcome for units.
#[derive(Serialize)]
struct UnitsJson {
    kept: u64,
    short: u64,
    lost: u64,
    changed: u64,
    dropped: u64,
}

/// The outcome for passages.
#[derive(Serialize)]
struct CutPassagesJson {
    passages: u64,
    words: u64,
    changed: u64,
    dropped: u64,
}

impl DedupJson<'_> {
    /// The outcome for all documents.
    pub(crate) fn new(done: &DedupSummary, elapsed: Duration) -> DedupJson<'_> {
        let compared = done.compared.as_ref();
        DedupJson {
            documents: done.documents,
            kept: done.kept,
            dropped: done
                .passages
                .map_or(done.dropped(), |passages| passages.dropped),
            of_input: DroppedJson::new(done.of_input),
            of_history: DroppedJson::new(done.of_history),
            of_itself: done.of_itself,
            unmarked: done.unmarked,
            spared: done.spared,
            without_field: &done.without_field,
            compared: compared.map(|compared| compared.documents),
            compared_skipped: compared.map_or(0, |compared| compared.reading.all_skipped()),
            units: done.units.map(|units| UnitsJson {
                kept: units.kept,
                short: units.short,
                lost: units.lost,
                changed: units.changed,
                dropped: units.dropped,
            }),
            passages: done.passages.map(|passages| CutPassagesJson {
                passages: passages.passages,
                words: passages.words,
                changed: passages.changed,
                dropped: passages.dropped,
            }),
            aside: done.aside.as_deref().map(Path::to_string_lossy),
            read: ReadJson::new(&done.reading, elapsed),
        }
    }
}

#[derive(Serialize)]
struct DroppedJson {
    exact_copies: u64,
    near_duplicates: u64,
    same_words: u64,
    contained: u64,
}

impl DroppedJson {
    fn new(dropping: DropCounts) -> DroppedJson {
        DroppedJson {
            exact_copies: dropping.exact_copies,
            near_duplicates: dropping.near_duplicates,
            same_words: dropping.same_words,
            contained: dropping.contained,
        }
    }
}

/// `decontaminate`: the summary.
#[derive(Serialize)]
pub(crate) struct DecontaminateJson<'a> {
    documents: u64,
    kept: u64,
    hit: u64,
    cut: u64,
    benchmarks: Vec<BenchmarkJson<'a>>,
    common: Vec<CommonItemJson<'a>>,
    benchmark_skipped: u64,
    aside: Option<Cow<'a, str>>,
    #[serde(flatten)]
    read: ReadJson<'a>,
}

/// A file of a benchmark.
#[derive(Serialize)]
struct BenchmarkJson<'a> {
    benchmark: Cow<'a, str>,
    items: u64,
    hit: u64,
    unchecked: u64,
    documents: u64,
}

/// An item that is in many documents.
#[derive(Serialize)]
struct CommonItemJson<'a> {
    benchmark: Cow<'a, str>,
    item: &'a str,
    field: Option<&'a str>,
    documents: u64,
}

impl DecontaminateJson<'_> {
    /// The outcome for all documents.
    pub(crate) fn new(done: &DecontaminateSummary, elapsed: Duration) -> DecontaminateJson<'_> {
        let benchmarks = done.benchmarks.iter().map(|counts| BenchmarkJson {
            benchmark: counts.benchmark.to_string_lossy(),
            items: counts.items,
            hit: counts.hit,
            unchecked: counts.unchecked,
            documents: counts.documents,
        });
        let common = done.common.iter().map(|(item, documents)| CommonItemJson {
            benchmark: item.benchmark.to_string_lossy(),
            item: &item.key,
            field: item.field.as_deref(),
            documents: *documents,
        });
        DecontaminateJson {
            documents: done.documents,
            kept: done.kept,
            hit: done.hit,
            cut: done.cut,
            benchmarks: benchmarks.collect(),
            common: common.collect(),
            benchmark_skipped: done.benchmark_reading.all_skipped(),
            aside: done.aside.as_deref().map(Path::to_string_lossy),
            read: ReadJson::new(&done.reading, elapsed),
        }
    }
}

/// `map`: the summary.
#[derive(Serialize)]
pub(crate) struct MapJson<'a> {
    documents: u64,
    lines: u64,
    shuffled_bytes: u64,
    #[serde(flatten)]
    read: ReadJson<'a>,
}

impl MapJson<'_> {
    /// What was read, the numbers of documents and of lines, and the bytes of the lines.
    pub(crate) fn new(
        reading: &ReadCounts,
        elapsed: Duration,
        (documents, lines, shuffled_bytes): (u64, u64, u64),
    ) -> MapJson<'_> {
        MapJson {
            documents,
            lines,
            shuffled_bytes,
            read: ReadJson::new(reading, elapsed),
        }
    }
}

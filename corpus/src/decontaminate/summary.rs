//! The result of a run, in counts.

use std::path::PathBuf;

use super::benchmark::BenchmarkItem;
use crate::ReadCounts;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecontaminateSummary {
    /// The number of documents, including skipped files and records.
    pub documents: u64,
    /// The number of documents in the output: those without an item of the benchmark, and those from which items are
    /// [cut](Self::cut). With [marks](super::Decontaminate::mark) all are in the output, and these are those without an item.
    pub kept: u64,
    /// The number of documents with an item.
    pub hit: u64,
    /// The number of documents from which items are [cut](super::Decontaminate::cut).
    pub cut: u64,
    /// The files of the benchmark: those that were named, and then those in folders in the order in which they were read.
    pub benchmarks: Vec<BenchmarkCounts>,
    /// Items that are in more than [`Decontaminate::common`](super::Decontaminate::common) documents, and the numbers of
    /// these: the most common one first, then in the order of the benchmark. They may be templates, which say nothing
    /// about contamination.
    pub common: Vec<(BenchmarkItem, u64)>,
    /// Counts of what was read and what was skipped.
    pub reading: ReadCounts,
    /// The same of the benchmark.
    pub benchmark_reading: ReadCounts,
    /// The number of skipped records that are in the output nevertheless, with null marks.
    pub unmarked: u64,
    /// Whether the output was written; see [`DedupSummary::is_written`](crate::dedup::DedupSummary::is_written).
    pub is_written: bool,
    /// The new name of the folder that was in the place of the output, if there was one.
    pub aside: Option<PathBuf>,
}

/// What was found of a file of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BenchmarkCounts {
    /// The file.
    pub benchmark: PathBuf,
    /// The number of its items, those that have too few words included.
    pub items: u64,
    /// The number of items that a document has.
    pub hit: u64,
    /// The number of items that have too few words.
    pub unchecked: u64,
    /// The number of documents with an item of this file.
    pub documents: u64,
}

impl DecontaminateSummary {
    /// Returns whether anything could not be read, in the input or in the benchmark.
    pub fn has_failures(&self) -> bool {
        self.reading.has_failures() || self.benchmark_reading.has_failures()
    }
}

//! How many documents hold a run.

use std::collections::HashMap;
use std::ops::Range;

use super::comparer::HoldingContent;

/// The number of documents that hold each run as a whole, by its start and end.
pub(super) struct Holders(HashMap<(usize, usize), u64>);

impl Holders {
    pub(super) fn of(found: &[HoldingContent]) -> Holders {
        let of_content = |content: &HoldingContent| {
            let documents = content.keys.len() as u64;
            let runs = content.runs.iter();
            let runs = runs.map(move |run| (run.places.start, run.places.end, documents));
            runs.collect::<Vec<_>>()
        };
        let mut runs: Vec<_> = found.iter().flat_map(of_content).collect();
        runs.sort_unstable();
        let mut ends = EndCounts::new(runs.iter().map(|run| run.1).max().unwrap_or(0));
        let mut counts = HashMap::new();
        // A run holds another one if it begins no later and ends no earlier. Those of one content do not overlap, so a
        // content counts once.
        for same in runs.chunk_by(|a, b| a.0 == b.0) {
            for &(_, end, documents) in same {
                ends.add(end, documents);
            }
            for &(start, end, _) in same {
                counts.insert((start, end), ends.from(end));
            }
        }
        Holders(counts)
    }

    pub(super) fn of_run(&self, run: &Range<usize>) -> u64 {
        let count = self.0.get(&(run.start, run.end));
        count.copied().unwrap_or_default()
    }
}

/// Sums by the ends of runs, in a binary indexed tree (Fenwick, "A new data structure for cumulative frequency tables",
/// 1994).
struct EndCounts(Vec<u64>);

impl EndCounts {
    fn new(last: usize) -> EndCounts {
        EndCounts(vec![0; last + 2])
    }

    fn add(&mut self, end: usize, documents: u64) {
        // Counted from the last end, so that a prefix is what ends no earlier.
        let mut at = self.0.len() - 1 - end;
        while at < self.0.len() {
            self.0[at] += documents;
            at += at & at.wrapping_neg();
        }
    }

    /// The sum over runs that end at `end` or later.
    fn from(&self, end: usize) -> u64 {
        let mut at = self.0.len() - 1 - end;
        let mut sum = 0;
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

//! Comparing the contents of buckets.

use std::ops::Range;

use super::comparisons::{ComparisonTask, Comparisons};
use super::skipped_comparisons::{SignatureRow, SkippedComparisons};
use crate::error::Result;
use crate::storage::Snapshot;
use crate::store::compare::{DecodedSets, Likeness, Matcher, StoredContent};

/// The number of comparisons, about, that one thread makes in a row.
const PIECE: usize = 1 << 10;

/// Two contents that match.
#[derive(Debug)]
pub(crate) struct SimilarContents {
    pub(crate) one: u32,
    pub(crate) other: u32,
    pub(crate) likeness: Likeness,
}

/// The result of comparing a piece.
#[derive(Debug, Default)]
pub(crate) struct TaskResult {
    pub(crate) alike: Vec<SimilarContents>,
    /// The content of the last task, and the number of its false candidates.
    last: Option<u32>,
    false_candidates: usize,
}

impl TaskResult {
    /// The false candidates of a content, if it is that of the last task.
    pub(crate) fn false_candidates_of(&self, content: u32) -> usize {
        if self.last == Some(content) {
            self.false_candidates
        } else {
            0
        }
    }
}

/// Compares the contents of tasks, except those that met in an earlier bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskComparer<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) comparisons: &'a Comparisons,
    pub(crate) skipped: &'a SkippedComparisons,
    pub(crate) threshold: f64,
}

impl<'a> TaskComparer<'a> {
    /// The matches of a piece, in the order of its tasks.
    pub(crate) fn compare(self, piece: &[ComparisonTask]) -> Result<TaskResult> {
        let mut compared = TaskResult::default();
        let (mut sets, mut others) = (DecodedSets::default(), Vec::new());
        let mut rows = SignatureRows::default();
        for task in piece {
            // False candidates are counted for the last content alone, whose tasks may go on in the next batch.
            if compared.last.replace(task.content) != Some(task.content) {
                compared.false_candidates = 0;
            }
            self.others_of(task, &mut rows, &mut others)?;
            if others.is_empty() {
                // Most contents met in the first bucket that they share, so nothing needs to be decoded.
                continue;
            }
            let before = compared.alike.len();
            // Shingles are decoded once for all tasks of a piece that need them.
            let stored = StoredContent::read_in(self.snapshot, task.content, &mut sets)?;
            let matcher = Matcher::new(self.snapshot, stored.probe(), self.threshold);
            for &other in &others {
                let likeness = matcher.compare_in(other, &mut sets)?;
                compared
                    .alike
                    .extend(likeness.map(|likeness| SimilarContents {
                        one: task.content,
                        other,
                        likeness,
                    }));
            }
            compared.false_candidates += others.len() - (compared.alike.len() - before);
        }
        Ok(compared)
    }

    /// Replaces `others` with the other contents of a task that its content did not meet before.
    fn others_of(
        self,
        task: &ComparisonTask,
        rows: &mut SignatureRows<'a>,
        others: &mut Vec<u32>,
    ) -> Result<()> {
        let snapshot = self.snapshot;
        let contents = self.comparisons.contents();
        let band = self.comparisons.band;
        let read = |place: usize| SignatureRow::of(snapshot, band, contents[place]);
        rows.hold(&task.others, read)?;
        let unheld;
        let own = if let Some(held) = rows.at(task.place) {
            held
        } else {
            unheld = read(task.place)?;
            &unheld
        };
        let before = self.skipped.before(snapshot, band, task.content, own);
        others.clear();
        for (&content, row) in contents[task.others.clone()]
            .iter()
            .zip(rows.of(&task.others))
        {
            if !before.has(content, row)? {
                others.push(content);
            }
        }
        Ok(())
    }
}

/// Rows of contents at neighbouring places, which a bucket's tasks have in common.
#[derive(Debug, Default)]
struct SignatureRows<'a> {
    start: usize,
    rows: Vec<SignatureRow<'a>>,
}

impl<'a> SignatureRows<'a> {
    /// Ensures that the rows at some places are held.
    fn hold(
        &mut self,
        places: &Range<usize>,
        row: impl Fn(usize) -> Result<SignatureRow<'a>>,
    ) -> Result<()> {
        if !(self.start..=self.end()).contains(&places.start) {
            self.start = places.start;
            self.rows.clear();
        }
        for place in self.end()..places.end {
            self.rows.push(row(place)?);
        }
        Ok(())
    }

    /// The rows at places that are held.
    fn of(&self, places: &Range<usize>) -> &[SignatureRow<'a>] {
        &self.rows[places.start - self.start..places.end - self.start]
    }

    /// The row at a place, if it is held.
    fn at(&self, place: usize) -> Option<&SignatureRow<'a>> {
        self.rows.get(place.checked_sub(self.start)?)
    }

    fn end(&self) -> usize {
        self.start + self.rows.len()
    }
}

/// Cuts tasks into pieces for one thread each. The tasks of a bucket are neighbours, so most of its contents are
/// decoded once.
pub(crate) fn pieces(tasks: &[ComparisonTask]) -> Vec<&[ComparisonTask]> {
    let mut pieces = Vec::new();
    let (mut start, mut count) = (0, 0);
    for (at, task) in (1..).zip(tasks) {
        count += task.others.len();
        if count >= PIECE || at == tasks.len() {
            pieces.push(&tasks[start..at]);
            (start, count) = (at, 0);
        }
    }
    pieces
}

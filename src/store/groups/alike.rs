//! Comparing the contents of buckets.

use std::ops::Range;

use super::comparisons::{Comparisons, Task};
use super::met::{Met, Row};
use crate::error::Result;
use crate::storage::Snapshot;
use crate::store::compare::{Likeness, Matcher, Sets, Stored};

/// The number of comparisons, about, that one thread makes in a row.
const PIECE: usize = 1 << 10;

/// Two contents that match.
#[derive(Debug)]
pub(crate) struct Alike {
    pub(crate) one: u32,
    pub(crate) other: u32,
    pub(crate) likeness: Likeness,
}

/// The result of comparing a piece.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    pub(crate) alike: Vec<Alike>,
    /// The content of the last task, and the number of its false candidates.
    last: Option<u32>,
    false_candidates: usize,
}

impl Compared {
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
pub(crate) struct Comparer<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) comparisons: &'a Comparisons,
    pub(crate) met: &'a Met,
    pub(crate) threshold: f64,
}

impl<'a> Comparer<'a> {
    /// The matches of a piece, in the order of its tasks.
    pub(crate) fn compare(self, piece: &[Task]) -> Result<Compared> {
        let mut compared = Compared::default();
        let (mut sets, mut others) = (Sets::default(), Vec::new());
        let mut rows = Rows::default();
        for task in piece {
            if compared.last.replace(task.content) != Some(task.content) {
                compared.false_candidates = 0;
            }
            self.others_of(task, &mut rows, &mut others)?;
            if others.is_empty() {
                // Most contents met in the first bucket that they share, so nothing needs to be decoded.
                continue;
            }
            let before = compared.alike.len();
            let stored = Stored::read_in(self.snapshot, task.content, &mut sets)?;
            let matcher = Matcher::new(self.snapshot, stored.probe(), self.threshold);
            for &other in &others {
                let likeness = matcher.compare_in(other, &mut sets)?;
                compared.alike.extend(likeness.map(|likeness| Alike {
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
    fn others_of(self, task: &Task, rows: &mut Rows<'a>, others: &mut Vec<u32>) -> Result<()> {
        let snapshot = self.snapshot;
        let contents = self.comparisons.contents();
        let band = self.comparisons.band;
        let before = self.met.before(snapshot, band, task.content)?;
        rows.hold(&task.others, |place| Row::of(snapshot, contents[place]))?;
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
struct Rows<'a> {
    start: usize,
    rows: Vec<Row<'a>>,
}

impl<'a> Rows<'a> {
    /// Ensures that the rows at some places are held.
    fn hold(
        &mut self,
        places: &Range<usize>,
        row: impl Fn(usize) -> Result<Row<'a>>,
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
    fn of(&self, places: &Range<usize>) -> &[Row<'a>] {
        &self.rows[places.start - self.start..places.end - self.start]
    }

    fn end(&self) -> usize {
        self.start + self.rows.len()
    }
}

/// Cuts tasks into pieces for one thread each. The tasks of a bucket are neighbours, so most of its contents are
/// decoded once.
pub(crate) fn pieces(tasks: &[Task]) -> Vec<&[Task]> {
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

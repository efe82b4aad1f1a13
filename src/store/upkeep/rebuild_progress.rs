//! The progress of a rebuild, and unfinished rebuilds.

use crate::progress::Progress;
use crate::schema::Schema;
use crate::storage;

/// The progress of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RebuildProgress {
    /// The number of contents whose rows are complete.
    pub contents: u64,
    /// The number of contents of the store.
    pub all_contents: u64,
    /// The number of complete lists of buckets: one for each band, and one of copies.
    pub lists: u32,
    /// The number of all lists of buckets.
    pub all_lists: u32,
}

impl From<storage::GenerationProgress> for RebuildProgress {
    fn from(progress: storage::GenerationProgress) -> RebuildProgress {
        RebuildProgress {
            contents: progress.covered.0.into(),
            all_contents: progress.covered.1.into(),
            lists: progress.lists.0,
            all_lists: progress.lists.1,
        }
    }
}

/// Counts the steps of a rebuild: contents, then lists of buckets, then the rest as one step.
#[derive(Debug)]
pub(super) struct RebuildSteps<'p> {
    steps: &'p Progress,
    /// The current part, from 0.
    part: u8,
}

impl<'p> RebuildSteps<'p> {
    /// Begins with a store of this number of contents.
    pub(super) fn begin(steps: &'p Progress, contents: u64) -> RebuildSteps<'p> {
        steps.begin(contents);
        RebuildSteps { steps, part: 0 }
    }

    /// Records the progress. It never returns to an earlier part: contents that are added in the meantime belong to the
    /// rest.
    pub(super) fn reach(&mut self, at: RebuildProgress) {
        let part = if at.lists >= at.all_lists {
            2
        } else {
            u8::from(at.lists > 0 || at.contents >= at.all_contents)
        };
        let part = part.max(self.part);
        let (done, all) = match part {
            0 => (at.contents, at.all_contents),
            1 => (at.lists.into(), at.all_lists.into()),
            _ => (0, 1),
        };
        if part > self.part {
            self.part = part;
            self.steps.begin(all);
        }
        self.steps.reach(done);
    }

    /// Marks everything as done.
    pub(super) fn end(self) {
        self.steps.reach(self.steps.total());
    }
}

/// An unfinished rebuild.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unfinished {
    /// The parameters that the store will have.
    pub schema: Schema,
    /// Whether it is a compaction.
    pub compacts: bool,
    /// Its progress at the last checkpoint.
    pub progress: RebuildProgress,
    /// The size of its files in bytes.
    pub bytes: u64,
    /// Whether a process is at work on it. Where ranges of a file cannot be locked, it always counts as running.
    pub is_running: bool,
    /// That process, if the system tells. Linux does.
    pub process: Option<u32>,
}

impl Unfinished {
    /// Describes what it does to a store with the parameters `stored`: `compact`, `reindex to` with the parameters that
    /// change, or `packing the index` if none changes.
    pub fn what(&self, stored: &Schema) -> String {
        if self.compacts {
            return "compact".to_owned();
        }
        let changed = self.schema.parameters().into_iter();
        let changed = changed.zip(stored.parameters());
        let changed = changed.filter(|(new, old)| new != old);
        let changed = changed.map(|((name, value), _)| format!("{name} {value}"));
        let changed: Vec<String> = changed.collect();
        if changed.is_empty() {
            return "packing the index".to_owned();
        }
        format!("reindex to {}", changed.join(", "))
    }
}

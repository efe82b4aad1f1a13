//! The runs of a store.
//!
//! A run stores documents that count as published only once it is closed. The row of each of its documents has the
//! number of the run. So closing a run changes only one number, and the documents of an interrupted run can be
//! distinguished from all others.

/// What the index records of runs. It changes in the transactions that store documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunRecord {
    /// The number of the latest run, or 0 before the first.
    pub(crate) last: u64,
    /// The number of the open run, or 0 if there is none.
    pub(crate) open: u64,
    /// Every document of the open run names a content from this id on.
    pub(crate) first: u64,
}

impl RunRecord {
    /// Opens the next run, which has no documents yet. The next content is `first`.
    pub(crate) fn begin(self, first: u32) -> RunRecord {
        let last = self.last + 1;
        RunRecord {
            last,
            open: last,
            first: first.into(),
        }
    }

    /// Closes the open run.
    pub(crate) fn close(self) -> RunRecord {
        RunRecord {
            open: 0,
            first: 0,
            ..self
        }
    }

    /// Whether documents of `run` belong to the open run.
    pub(crate) fn is_open(self, run: u64) -> bool {
        run != 0 && run == self.open
    }

    /// Whether the numbers are consistent with one another and with `contents` contents.
    pub(crate) fn fit(self, contents: u64) -> bool {
        self.open <= self.last && self.first <= contents
    }
}

//! Which runs there were, and which one is open.
//!
//! A run stores documents that count as published only once it is closed. The number of the run is in
//! the row of each of its documents, so that closing a run changes one number, and the documents of a
//! run that was interrupted can be told from all others.

/// What the index says of runs. It changes in the transactions that store documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// The number of the run that was begun last; 0 before the first.
    pub(crate) last: u64,
    /// The number of the run that is open; 0 if none is.
    pub(crate) open: u64,
    /// Every document of the open run names a content from this id on.
    pub(crate) first: u64,
}

impl Runs {
    /// These with another run that is open and has no documents yet; the next content is `first`.
    pub(crate) fn begin(self, first: u32) -> Runs {
        let last = self.last + 1;
        Runs {
            last,
            open: last,
            first: first.into(),
        }
    }

    /// These with no run open.
    pub(crate) fn close(self) -> Runs {
        Runs {
            open: 0,
            first: 0,
            ..self
        }
    }

    /// Whether a document of this run is of the open one.
    pub(crate) fn is_open(self, run: u64) -> bool {
        run != 0 && run == self.open
    }

    /// Whether the numbers fit together and a store of so many contents.
    pub(crate) fn fit(self, contents: u64) -> bool {
        self.open <= self.last && self.first <= contents
    }
}

//! How much work candidates are worth.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::storage::Limits;

/// False candidates that a search looks at, unless told otherwise.
pub(crate) const FALSE_CANDIDATES: usize = 4000;

/// Bounds what candidates cost that do not match, and counts where that left some out.
#[derive(Debug)]
pub(crate) struct Allowance {
    false_candidates: usize,
    limits: Limits,
    cut_short: AtomicU64,
}

impl Allowance {
    /// Allows so many false candidates, at least 1.
    pub(crate) fn new(false_candidates: usize, limits: Limits) -> Allowance {
        Allowance {
            false_candidates: false_candidates.max(1),
            limits,
            cut_short: AtomicU64::new(0),
        }
    }

    /// False candidates after which the others are passed over: of a text, or of one and a bucket
    /// where all are compared with one another.
    pub(crate) fn false_candidates(&self) -> usize {
        self.false_candidates
    }

    /// How much is done at a time.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts a search that ended with candidates that were not compared.
    pub(crate) fn cut(&self) {
        self.cut_short.fetch_add(1, Ordering::Relaxed);
    }

    /// Searches that ended so.
    pub(crate) fn cut_short(&self) -> u64 {
        self.cut_short.load(Ordering::Relaxed)
    }
}

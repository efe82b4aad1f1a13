//! How much work a bucket is worth.

use std::sync::atomic::{AtomicU64, Ordering};

/// False candidates of one bucket that a search looks at, unless told otherwise. Corpora that were
/// not made to provoke them have some hundred at most.
pub(crate) const FALSE_CANDIDATES: usize = 10_000;

/// Bounds what a bucket costs whose contents do not match, and counts where that left some out.
#[derive(Debug)]
pub(crate) struct Allowance {
    false_candidates: usize,
    passed_over: AtomicU64,
}

impl Allowance {
    /// Allows so many false candidates a bucket, at least 1.
    pub(crate) fn new(false_candidates: usize) -> Allowance {
        Allowance {
            false_candidates,
            passed_over: AtomicU64::new(0),
        }
    }

    /// False candidates of one bucket after which the rest of it is passed over.
    pub(crate) fn false_candidates(&self) -> usize {
        self.false_candidates
    }

    /// Counts a bucket whose rest was passed over.
    pub(crate) fn pass_over(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    /// Times that the rest of a bucket was passed over.
    pub(crate) fn passed_over(&self) -> u64 {
        self.passed_over.load(Ordering::Relaxed)
    }
}

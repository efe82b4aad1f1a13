//! Limits of the work on candidates.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::storage::Limits;

/// The number of false candidates that a search looks at by default.
pub(crate) const FALSE_CANDIDATES: usize = 4000;

/// Bounds the cost of candidates that do not match, and counts the searches that it cut short.
#[derive(Debug)]
pub(crate) struct Allowance {
    false_candidates: usize,
    limits: Limits,
    cut_short: AtomicU64,
}

impl Allowance {
    /// Allows `false_candidates` false candidates, but at least 1.
    pub(crate) fn new(false_candidates: usize, limits: Limits) -> Allowance {
        Allowance {
            false_candidates: false_candidates.max(1),
            limits,
            cut_short: AtomicU64::new(0),
        }
    }

    /// The number of false candidates after which the other candidates are skipped: those of a
    /// text, or those of one content in a bucket whose contents are all compared with each other.
    pub(crate) fn false_candidates(&self) -> usize {
        self.false_candidates
    }

    /// How much is done at a time.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts a search that ended before all candidates were compared.
    pub(crate) fn cut(&self) {
        self.cut_short.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of searches that were cut short.
    pub(crate) fn cut_short(&self) -> u64 {
        self.cut_short.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_false_candidate_at_least_is_looked_at() {
        let looked_at = [0, 1, 2].map(|most| Allowance::new(most, Limits::LOW).false_candidates());
        assert_eq!(looked_at, [1, 1, 2]);
    }
}

//! How many members two sets must have in common.

use crate::text::{first, share};

/// The arithmetic of a threshold, above 0 and at most 1.
///
/// Bounds are found by calling [`JoinBounds::reaches`] itself, so rounding cannot make a bound and the
/// similarity disagree: a larger dividend never gives a smaller rounded quotient.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JoinBounds {
    /// The least Jaccard similarity.
    Jaccard(f64),
    /// The least containment of the smaller set in the larger one.
    Containment(f64),
}

impl JoinBounds {
    fn reaches(self, common: usize, a: usize, b: usize) -> bool {
        match self {
            JoinBounds::Jaccard(least) => share(common, a + b - common) >= least,
            JoinBounds::Containment(least) => share(common, a.min(b)) >= least,
        }
    }

    /// The least number of common members with which sets of these sizes reach the threshold. If
    /// they cannot reach it, one more than the size of the smaller set.
    pub(super) fn overlap(self, a: usize, b: usize) -> usize {
        first(a.min(b), |common| self.reaches(common, a, b))
    }

    /// The size of the smallest set that can reach the threshold with a set of `size`.
    pub(super) fn least_size(self, size: usize) -> usize {
        first(size, |smaller| self.reaches(smaller, smaller, size))
    }

    /// How many members of a set must be looked up to find each similar set that is not larger.
    /// They are the first in one order of all members.
    ///
    /// The other members are fewer than the overlap with the smallest partner, and a larger partner
    /// needs a larger overlap (Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search",
    /// 2007). For containment, these are all members, because the smallest partner has one.
    pub(super) fn looked_up(self, size: usize) -> usize {
        size - self.least_size(size) + 1
    }

    /// How many members of a set must be indexed so that each similar set that is not smaller finds
    /// it. They are the first in the same order.
    ///
    /// The other members are fewer than the overlap with a partner of the same size, and a larger
    /// partner needs a larger overlap (Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near
    /// Duplicate Detection", 2008), or the same one for containment (Sarawagi and Kirpal, "Efficient
    /// Set Joins on Similarity Predicates", 2004).
    pub(super) fn indexed(self, size: usize) -> usize {
        size - self.overlap(size, size) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bounds_are_the_first_numbers_that_reach_the_threshold(
            threshold in 0.01_f64..=1.0,
            a in 1_usize..200,
            b in 1_usize..200,
            of in prop::sample::select(vec![JoinBounds::Jaccard, JoinBounds::Containment]),
        ) {
            let bounds = of(threshold);
            let needed = (1..=a.min(b)).find(|&common| bounds.reaches(common, a, b));
            prop_assert_eq!(bounds.overlap(a, b), needed.unwrap_or(a.min(b) + 1));
            let least = (1..=a).find(|&size| bounds.reaches(size, size, a));
            prop_assert_eq!(Some(bounds.least_size(a)), least);
        }
    }
}

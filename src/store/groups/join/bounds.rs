//! How many members two sets must have in common to be similar.

/// The arithmetic of a threshold of Jaccard similarity.
///
/// Bounds are found by calling [`Bounds::reaches`] itself, so rounding cannot make a bound and the
/// similarity disagree: a larger dividend never gives a smaller rounded quotient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    threshold: f64,
}

impl Bounds {
    /// Bounds for a threshold above 0 and at most 1.
    pub(super) fn new(threshold: f64) -> Bounds {
        Bounds { threshold }
    }

    /// The similarity of sets of these sizes with `common` members in common.
    pub(super) fn jaccard(common: usize, a: usize, b: usize) -> f64 {
        common as f64 / (a + b - common) as f64
    }

    fn reaches(self, common: usize, a: usize, b: usize) -> bool {
        Bounds::jaccard(common, a, b) >= self.threshold
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
    /// 2007).
    pub(super) fn looked_up(self, size: usize) -> usize {
        size - self.least_size(size) + 1
    }

    /// How many members of a set must be indexed so that each similar set that is not smaller finds
    /// it. They are the first in the same order.
    ///
    /// The other members are fewer than the overlap with a partner of the same size, and a larger
    /// partner needs a larger overlap (Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near
    /// Duplicate Detection", 2008).
    pub(super) fn indexed(self, size: usize) -> usize {
        size - self.overlap(size, size) + 1
    }
}

/// The first of 1 to `last` for which `holds` is true, or `last + 1`. From there on, it stays true.
fn first(last: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (1, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
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
        ) {
            let bounds = Bounds::new(threshold);
            let needed = (1..=a.min(b)).find(|&common| bounds.reaches(common, a, b));
            prop_assert_eq!(bounds.overlap(a, b), needed.unwrap_or(a.min(b) + 1));
            let least = (1..=a).find(|&size| bounds.reaches(size, size, a));
            prop_assert_eq!(Some(bounds.least_size(a)), least);
        }
    }
}

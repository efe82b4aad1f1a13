//! The rarest shingles of a content.

use crate::error::{Error, Result};
use crate::text::{ShingleSet, least_in_common};

/// Number of counters, a power of two. Shingles that share a counter only seem less rare.
const COUNTERS: usize = 1 << 16;

/// Counts shingles, to find the rarest ones of a content.
///
/// Two contents that reach a threshold share at least a certain number of shingles. Leave out the most frequent
/// shingles of each, one fewer than that number: the remaining ones, which are its rarest, still include a common
/// shingle. So a bucket that is large because of a template can be searched by rarest shingles, which exclude those of
/// the template. The choice of counted contents changes the number of unnecessary comparisons, but not the results, as
/// long as all machines use the same counts.
///
/// ```
/// use dedupdb::batch::Rarity;
/// use dedupdb::sketching::ShingleSet;
///
/// let set = |tail: u32| ShingleSet::from_hashes((0..9).chain([tail]).collect());
/// let mut rarity = Rarity::default();
/// for tail in 100..120 {
///     rarity.count(&set(tail));
/// }
/// assert_eq!(rarity.rarest(&set(100), 1.0), [100]);
/// let again = Rarity::from_bytes(&rarity.to_bytes())?;
/// assert_eq!(again.rarest(&set(101), 0.9).len(), 2);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rarity {
    counts: Vec<u32>,
}

impl Default for Rarity {
    /// Makes empty counts: all shingles are equally rare.
    fn default() -> Rarity {
        Rarity::with_counters(COUNTERS)
    }
}

impl Rarity {
    pub(crate) fn with_counters(counters: usize) -> Rarity {
        Rarity {
            counts: vec![0; counters],
        }
    }

    /// Counts the shingles of a content.
    pub fn count(&mut self, shingles: &ShingleSet) {
        self.count_all(shingles.as_slice());
    }

    pub(crate) fn count_all(&mut self, elements: &[u32]) {
        for &element in elements {
            let counter = self.counter(element);
            self.counts[counter] = self.counts[counter].saturating_add(1);
        }
    }

    fn counter(&self, element: u32) -> usize {
        // Their number is a power of two.
        element as usize & (self.counts.len() - 1)
    }

    /// Returns the rarest shingles of a content, ascending. Any content that reaches the threshold with it has at
    /// least one of them among its own rarest. Empty for a content without shingles.
    pub fn rarest(&self, shingles: &ShingleSet, threshold: f64) -> Vec<u32> {
        let mut rarest = shingles.as_slice().to_vec();
        let least = least_in_common(rarest.len(), threshold);
        self.keep_rarest(&mut rarest, least);
        rarest.sort_unstable();
        rarest
    }

    /// Leaves the rarest elements, in any order: all but the `least - 1` most frequent ones. A set that has at least `least`
    /// elements in common with this one has one of them.
    pub(crate) fn keep_rarest(&self, elements: &mut Vec<u32>, least: usize) {
        let kept = elements.len() + 1 - least;
        if kept < elements.len() {
            // Equal counts are decided by the element, so that every machine keeps the same ones.
            let rarity = |element: &u32| (self.counts[self.counter(*element)], *element);
            elements.select_nth_unstable_by_key(kept, rarity);
            elements.truncate(kept);
        }
    }

    /// Returns the counts as 256 KiB of bytes, for other machines.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.counts.iter().flat_map(|count| count.to_le_bytes());
        bytes.collect()
    }

    /// Reads the bytes of [`Rarity::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] for any other number of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Rarity> {
        let (counts, rest) = bytes.as_chunks::<4>();
        if counts.len() != COUNTERS || !rest.is_empty() {
            return Err(Error::InvalidColumn {
                column: "rarity",
                row: 0,
                reason: format!("{} bytes are no counts", bytes.len()),
            });
        }
        let counts = counts.iter().map(|&count| u32::from_le_bytes(count));
        Ok(Rarity {
            counts: counts.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn alike_contents_share_one_of_their_rarest(
            a in prop::collection::btree_set(0..60_u32, 1..40),
            change in prop::collection::btree_set(0..60_u32, 0..8),
            counted in prop::collection::vec(prop::collection::btree_set(0..60_u32, 0..30), 0..6),
            threshold in 0.1..=1.0_f64,
        ) {
            let set = |s: &std::collections::BTreeSet<u32>| ShingleSet::from_hashes(s.iter().copied().collect());
            let b = a.symmetric_difference(&change).copied().collect();
            let (a, b) = (set(&a), set(&b));
            let mut rarity = Rarity::default();
            for content in &counted {
                rarity.count(&set(content));
            }
            let rarest = rarity.rarest(&b, threshold);
            prop_assert!(rarest.iter().all(|shingle| b.as_slice().contains(shingle)));
            if a.jaccard(&b) >= threshold {
                prop_assert!(rarity.rarest(&a, threshold).iter().any(|s| rarest.contains(s)));
            }
        }
    }
}

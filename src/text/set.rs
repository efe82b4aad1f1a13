//! Sets of shingles and how alike they are.

use super::intersection_len;
use super::sort::Sorter;

/// A text as the set of its shingles: distinct 32-bit hashes in ascending order.
///
/// # Examples
///
/// ```
/// use dedupdb::ShingleSet;
///
/// let a = ShingleSet::from_hashes(vec![3, 1, 2, 3]);
/// let b = ShingleSet::from_hashes(vec![2, 3, 4]);
/// assert_eq!(a.as_slice(), [1, 2, 3]);
/// assert_eq!(a.jaccard(&b), 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShingleSet {
    hashes: Vec<u32>,
}

impl ShingleSet {
    /// Makes the set of these hashes, given in any order and as often as may be.
    pub fn from_hashes(mut hashes: Vec<u32>) -> ShingleSet {
        ShingleSet::sorted(&mut Sorter::default(), &mut hashes)
    }

    /// The same in reused memory; `hashes` is left in no particular state.
    pub(super) fn sorted(sorter: &mut Sorter, hashes: &mut [u32]) -> ShingleSet {
        ShingleSet {
            hashes: sorter.distinct(hashes),
        }
    }

    /// Makes the set of hashes that are in ascending order, each once; none if they are not.
    pub(crate) fn from_ascending(hashes: Vec<u32>) -> Option<ShingleSet> {
        let is_set = hashes.is_sorted_by(|a, b| a < b);
        is_set.then_some(ShingleSet { hashes })
    }

    /// Returns the hashes, ascending.
    pub fn as_slice(&self) -> &[u32] {
        &self.hashes
    }

    /// Returns the number of distinct shingles.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns whether the text had no token at all.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the shingles of either set.
    #[must_use]
    pub fn union(&self, other: &ShingleSet) -> ShingleSet {
        let (mut a, mut b) = (self.as_slice(), other.as_slice());
        let mut hashes = Vec::with_capacity(a.len() + b.len());
        while let ([x, after_x @ ..], [y, after_y @ ..]) = (a, b) {
            hashes.push(*x.min(y));
            (a, b) = (
                if x <= y { after_x } else { a },
                if y <= x { after_y } else { b },
            );
        }
        hashes.extend_from_slice(a);
        hashes.extend_from_slice(b);
        ShingleSet { hashes }
    }

    /// Counts the shingles both sets have.
    pub fn intersection_len(&self, other: &ShingleSet) -> usize {
        intersection_len(&self.hashes, &other.hashes)
    }

    /// Returns the Jaccard similarity, 0 to 1: shingles of both sets by shingles of either.
    ///
    /// Two empty sets are 0 alike: a text without tokens is found again only as an exact copy.
    pub fn jaccard(&self, other: &ShingleSet) -> f64 {
        let common = self.intersection_len(other);
        share(common, self.len() + other.len() - common)
    }

    /// Returns the share of this set's shingles, 0 to 1, that the other set has too; 0 for an empty
    /// set.
    pub fn containment_in(&self, other: &ShingleSet) -> f64 {
        share(self.intersection_len(other), self.len())
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

//! Sets of shingles and their similarity.

use super::fingerprints::Fingerprints;
use super::intersect;
use super::shingler::Shingler;
use super::sink;
use super::sort::Sorter;

/// The context from which the hash of a set is derived, so that no text has it. Frozen: stores keep it.
const DOMAIN: &str = "dedupdb 2026-11-22 a content that is given as its shingles";

/// A text as the set of its shingles: distinct 32-bit hashes in ascending order.
///
/// A small set, of at most 16 shingles, has a *tail* of 32 more bits for each, if it was made from a text or from
/// [integers](ShingleSet::from_ids). Two small sets with tails have a shingle in common only if hash and tail agree, so
/// that different texts of few words do not match because 32 bits collide. All other sets are compared by their hashes
/// alone: large ones, a large one with a small one, and those that [`ShingleSet::from_hashes`] makes of your own 32-bit
/// hashes.
///
/// A store takes a set in place of a text: see [`Body`](crate::write::Body). The set remembers which [`Shingler`] made
/// it, so that a store with another shingling can refuse it. Sets are equal if their shingles are, regardless of the
/// shingler.
///
/// # Examples
///
/// ```
/// use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
///
/// let a = ShingleSet::from_hashes(vec![3, 1, 2, 3]);
/// let b = ShingleSet::from_hashes(vec![2, 3, 4]);
/// assert_eq!(a.as_slice(), [1, 2, 3]);
/// assert_eq!(a.jaccard(&b), 0.5);
///
/// // One hash of 32 bits, two texts.
/// let shingler = Shingler::new(Shingling::Word(5), true, true)?;
/// let (a, b) = (shingler.shingles("141176")?, shingler.shingles("44790")?);
/// assert_eq!(a.as_slice(), b.as_slice());
/// assert_eq!(a.jaccard(&b), 0.0);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ShingleSet {
    hashes: Vec<u32>,
    /// One for each hash, or empty.
    tails: Vec<u32>,
    /// The shingler that made it, if known.
    shingler: Option<Shingler>,
    /// Those of the text, if it was made of one for a store that keeps them.
    fingerprints: Option<Fingerprints>,
}

impl PartialEq for ShingleSet {
    fn eq(&self, other: &ShingleSet) -> bool {
        self.hashes == other.hashes && self.tails == other.tails
    }
}

impl Eq for ShingleSet {}

impl ShingleSet {
    /// The set of a text without tokens.
    pub(crate) const EMPTY: &'static ShingleSet = &ShingleSet {
        hashes: Vec::new(),
        tails: Vec::new(),
        shingler: None,
        fingerprints: None,
    };

    /// The largest number of shingles in a set with tails.
    pub(crate) const SMALL: usize = 16;

    /// Makes a set of hashes, in any order and with repeats.
    ///
    /// It has no tails, so a store refuses it if it has 1 to 16 shingles; see [`ShingleSet::from_ids`].
    pub fn from_hashes(mut hashes: Vec<u32>) -> ShingleSet {
        ShingleSet::from_parts(Sorter::default().distinct(&mut hashes), Vec::new())
    }

    /// Makes a set of integers that stand for shingles, such as your own 64-bit hashes, in any order and with repeats.
    ///
    /// It is the set that [`Shingling::Ids`](crate::sketching::Shingling::Ids) makes of a text that lists them. The
    /// integers need not be evenly spread: each goes through a mixer, which never maps two of them to one.
    ///
    /// ```
    /// use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
    ///
    /// let set = ShingleSet::from_ids(&[7, 1 << 40, 7]);
    /// let shingler = Shingler::new(Shingling::Ids, false, false)?;
    /// assert_eq!(set, shingler.shingles("7 1099511627776 7")?);
    /// assert_eq!(set.len(), 2);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn from_ids(ids: &[u64]) -> ShingleSet {
        let mut hashes = Vec::with_capacity(ids.len());
        let ids = || ids.iter().copied();
        sink::ShingleSink::Hashes(&mut hashes).extend(ids());
        let hashes = Sorter::default().distinct(&mut hashes);
        let tails = sink::tails(&hashes, |sink| sink.extend(ids()));
        ShingleSet::from_parts(hashes, tails).made_by(Shingler::of_ids())
    }

    /// Makes a set of distinct hashes in ascending order, with a tail for each or with none.
    pub(crate) fn from_parts(hashes: Vec<u32>, tails: Vec<u32>) -> ShingleSet {
        debug_assert!(tails.is_empty() || tails.len() == hashes.len());
        ShingleSet {
            hashes,
            tails,
            shingler: None,
            fingerprints: None,
        }
    }

    /// Records the shingler that made the set.
    pub(crate) fn made_by(self, shingler: Shingler) -> ShingleSet {
        let shingler = Some(shingler);
        ShingleSet { shingler, ..self }
    }

    /// The shingler that made it, if known.
    pub(crate) fn shingler(&self) -> Option<&Shingler> {
        self.shingler.as_ref()
    }

    /// Gives it the fingerprints of its text.
    pub(crate) fn with_fingerprints(self, fingerprints: Option<Fingerprints>) -> ShingleSet {
        ShingleSet {
            fingerprints,
            ..self
        }
    }

    /// Keeps the fingerprints that a store of this step has, or none.
    pub(crate) fn thin_fingerprints(&mut self, step: Option<u32>) {
        let own = self.fingerprints.take().zip(step);
        self.fingerprints = own.and_then(|(own, step)| own.at_step(step));
    }

    /// The fingerprints of its text, if it has any.
    pub(crate) fn fingerprints(&self) -> Option<&Fingerprints> {
        self.fingerprints.as_ref()
    }

    /// Whether it is small and has no tails. No set in a store is like that.
    pub(crate) fn lacks_tails(&self) -> bool {
        (1..=ShingleSet::SMALL).contains(&self.len()) && self.tails.is_empty()
    }

    /// Returns the hash by which a store knows a content that was given as this set.
    ///
    /// It has 32 bytes, for [`Document::hash`](crate::Document::hash). Equal sets have the same hash, and no text has
    /// it.
    pub fn content_hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&(self.len() as u64).to_le_bytes());
        let mut bytes =
            Vec::with_capacity(size_of::<u32>() * (self.hashes.len() + self.tails.len()));
        let parts = self.hashes.iter().chain(&self.tails);
        bytes.extend(parts.flat_map(|part| part.to_le_bytes()));
        hasher.update(&bytes);
        *hasher.finalize().as_bytes()
    }

    /// The hashes and the tails, for the caller to replace. The caller must leave a tail for each hash, or none.
    pub(crate) fn parts_mut(&mut self) -> (&mut Vec<u32>, &mut Vec<u32>) {
        self.shingler = None;
        self.fingerprints = None;
        (&mut self.hashes, &mut self.tails)
    }

    /// Takes out the shingles that `others` has, too, and all fingerprints, which then have gaps. Tails do not matter: a
    /// shingle is taken for the same one if its 32 bits are.
    pub(crate) fn remove(&mut self, others: &ShingleSet) {
        self.fingerprints = None;
        if others.is_empty() {
            return;
        }
        let mut kept = 0;
        for place in 0..self.hashes.len() {
            if others.hashes.binary_search(&self.hashes[place]).is_ok() {
                continue;
            }
            self.hashes[kept] = self.hashes[place];
            if !self.tails.is_empty() {
                self.tails[kept] = self.tails[place];
            }
            kept += 1;
        }
        self.hashes.truncate(kept);
        self.tails.truncate(kept);
    }

    /// Whether the hashes are distinct and ascending. Those of a damaged store may not be.
    pub(crate) fn is_ordered(&self) -> bool {
        self.hashes.is_sorted_by(|a, b| a < b)
    }

    /// Returns the hashes, ascending.
    pub fn as_slice(&self) -> &[u32] {
        &self.hashes
    }

    /// The tails, one for each hash or none at all.
    pub(crate) fn tails(&self) -> &[u32] {
        &self.tails
    }

    /// Returns the number of distinct shingles.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns whether the text had no tokens at all.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Counts the shingles that both sets have.
    pub fn intersection_len(&self, other: &ShingleSet) -> usize {
        if self.has_tails_as(other) {
            self.count_with_tails(other)
        } else {
            intersect::intersection_len(&self.hashes, &other.hashes)
        }
    }

    /// Counts the shingles that both sets have, if there are at least `least`. Gives up as soon as that is impossible.
    pub(crate) fn intersection_reaching(&self, other: &ShingleSet, least: usize) -> Option<usize> {
        if self.has_tails_as(other) {
            let common = self.count_with_tails(other);
            (common >= least).then_some(common)
        } else {
            intersect::intersection_reaching(&self.hashes, &other.hashes, least)
        }
    }

    /// Returns the Jaccard similarity, 0 to 1: the shingles in both sets divided by the shingles in either.
    ///
    /// Two empty sets have similarity 0: a text without tokens is found only as an exact copy.
    pub fn jaccard(&self, other: &ShingleSet) -> f64 {
        let common = self.intersection_len(other);
        share(common, self.len() + other.len() - common)
    }

    /// Returns the share of this set's shingles, 0 to 1, that the other set has too; 0 for an empty
    /// set.
    pub fn containment_in(&self, other: &ShingleSet) -> f64 {
        share(self.intersection_len(other), self.len())
    }

    /// The largest number of shingles that this set can have in common with one that has these tails, in little-endian
    /// bytes. If this set has tails, only shingles whose tail is among `others` count.
    #[inline]
    pub(crate) fn most_in_common(&self, others: &[[u8; 4]]) -> usize {
        let most = self.len().min(others.len());
        if self.tails.is_empty() {
            return most;
        }
        let is_there = |tail: u32| {
            let equal = others
                .iter()
                .map(|other| u32::from_le_bytes(*other) == tail);
            equal.fold(false, |any, equal| any | equal)
        };
        let there = self.tails.iter().map(|&tail| usize::from(is_there(tail)));
        there.sum::<usize>().min(most)
    }

    /// Whether both have tails.
    fn has_tails_as(&self, other: &ShingleSet) -> bool {
        !self.tails.is_empty() && !other.tails.is_empty()
    }

    /// Counts the hashes that both have with the same tail.
    fn count_with_tails(&self, other: &ShingleSet) -> usize {
        let (mut at, mut at_other, mut common) = (0, 0, 0);
        while at < self.len() && at_other < other.len() {
            let (x, y) = (self.hashes[at], other.hashes[at_other]);
            common += usize::from(x == y && self.tails[at] == other.tails[at_other]);
            at += usize::from(x <= y);
            at_other += usize::from(y <= x);
        }
        common
    }
}

/// `part` divided by `whole`, or 0 if `whole` is 0.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Whether `part / whole` is certainly below the threshold, without a division.
pub(crate) fn is_less(part: usize, whole: usize, threshold: f64) -> bool {
    (part as f64) < threshold * whole as f64 * (1.0 - f64::EPSILON)
}

/// Whether sets of these sizes can reach the threshold: J(A, B) <= |A| / |B|.
pub(crate) fn sizes_fit(small: usize, large: usize, threshold: f64) -> bool {
    !is_less(small, large, threshold)
}

/// The least number of elements that a set of `elements` has in common with any set at the threshold or above.
///
/// It is at least 1 and at most all: J(A, B) >= t means that |A and B| >= t |A or B| >= t |A|.
pub(crate) fn least_in_common(elements: usize, threshold: f64) -> usize {
    // A little less than computed, so that no rounding leaves out a match.
    let exact = threshold * elements as f64 * (1.0 - 4.0 * f64::EPSILON);
    first(elements, |n| n as f64 >= exact).min(elements.max(1))
}

/// The first of 1 to `last` for which `holds` is true, or `last + 1`. From there on, it stays true.
pub(crate) fn first(last: usize, holds: impl Fn(usize) -> bool) -> usize {
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
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn tails_only_take_away(
            a in prop::collection::btree_map(0_u32..40, 0_u32..2, 1..17),
            b in prop::collection::btree_map(0_u32..40, 0_u32..2, 1..17),
            least in 0_usize..18,
        ) {
            let of = |map: &BTreeMap<u32, u32>, tails: bool| {
                let values = if tails { map.values().copied().collect() } else { Vec::new() };
                ShingleSet::from_parts(map.keys().copied().collect(), values)
            };
            let common = a.iter().filter(|&(hash, tail)| b.get(hash) == Some(tail)).count();
            let (with_a, with_b) = (of(&a, true), of(&b, true));
            prop_assert_eq!(with_a.intersection_len(&with_b), common);
            prop_assert_eq!(
                with_a.intersection_reaching(&with_b, least),
                (common >= least).then_some(common)
            );
            let narrow = of(&a, false).intersection_len(&of(&b, false));
            prop_assert!(common <= narrow);
            prop_assert_eq!(with_a.intersection_len(&of(&b, false)), narrow);
            prop_assert_eq!(of(&a, false).intersection_len(&with_b), narrow);
            prop_assert_eq!(with_a.intersection_len(&with_a), a.len());
            let tails: Vec<[u8; 4]> = with_b.tails().iter().map(|tail| tail.to_le_bytes()).collect();
            prop_assert!(with_a.most_in_common(&tails) >= common);
            prop_assert!(of(&a, false).most_in_common(&tails) >= narrow);
        }
    }

    #[test]
    fn a_share_that_is_the_threshold_reaches_it() {
        for whole in 1..=200 {
            for part in 1..=whole {
                let threshold = share(part, whole);
                assert_eq!(least_in_common(whole, threshold), part);
                assert!(sizes_fit(part, whole, threshold));
                assert!(is_less(part - 1, whole, threshold));
            }
        }
    }

    #[test]
    fn only_a_small_set_without_tails_lacks_them() {
        let of = |hashes: u32, tails: u32| {
            ShingleSet::from_parts((0..hashes).collect(), (0..tails).collect()).lacks_tails()
        };
        assert!(of(1, 0) && of(16, 0));
        assert!(!of(0, 0) && !of(17, 0) && !of(1, 1) && !of(16, 16));
    }

    #[test]
    fn a_set_is_ordered_if_its_hashes_ascend_and_differ() {
        let of = |hashes: &[u32]| ShingleSet::from_parts(hashes.to_vec(), Vec::new()).is_ordered();
        assert!(of(&[]) && of(&[1, 2, 4]));
        assert!(!of(&[2, 1]) && !of(&[1, 1]));
    }

    #[test]
    fn a_set_keeps_the_fingerprints_of_a_step_alone() {
        let own = Fingerprints::of(&[5, 3, 9, 4, 7], 1);
        let thin = |step| {
            let mut set = ShingleSet::from_hashes(vec![3, 4, 5, 7, 9]);
            set = set.with_fingerprints(Some(own.clone()));
            set.thin_fingerprints(step);
            set.fingerprints().map(|kept| kept.as_slice().to_vec())
        };
        assert_eq!(thin(None), None);
        assert_eq!(thin(Some(2)), Some(vec![5, 9, 7]));
    }

    #[test]
    fn removed_shingles_leave_with_their_tails() {
        let mut set = ShingleSet::from_parts(vec![1, 2, 3, 4], vec![10, 20, 30, 40]);
        set.remove(&ShingleSet::from_hashes(vec![0, 1, 3]));
        assert_eq!(set, ShingleSet::from_parts(vec![2, 4], vec![20, 40]));
    }
}

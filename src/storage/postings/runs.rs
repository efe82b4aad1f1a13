//! The postings of several tables as one sorted sequence.

use std::ops::RangeInclusive;

use redb::{Range, ReadableTable};

use super::error::BucketError;
use super::leaf::{Leaf, Posting, UnpackedLeaf};
use crate::codec::low32;

/// The range of all hashes.
pub(crate) const ALL_HASHES: RangeInclusive<u32> = 0..=u32::MAX;

/// A source of sorted postings, read one leaf of a table at a time.
struct LeafSource<'t> {
    /// The leaves that are still unread. `None` if all postings were in memory.
    leaves: Option<Range<'t, u32, &'static [u8]>>,
    hash_bits: u32,
    /// The hashes that are wanted of the first and last leaf.
    hashes: RangeInclusive<u32>,
    /// The postings that were read. Those from `start` on are not taken yet.
    postings: Vec<Posting>,
    start: usize,
}

impl LeafSource<'_> {
    /// The next posting, if any.
    fn peek(&mut self, room: &mut UnpackedLeaf) -> Result<Option<Posting>, BucketError> {
        loop {
            if let Some(posting) = self.postings.get(self.start) {
                return Ok(Some(*posting));
            }
            let next = self.leaves.as_mut().and_then(Iterator::next).transpose()?;
            let Some((prefix, bytes)) = next else {
                return Ok(None);
            };
            let leaf = Leaf::new(bytes.value(), self.hash_bits).map_err(BucketError::Damaged)?;
            self.postings.clear();
            self.start = 0;
            leaf.unpack(prefix.value(), room, &mut self.postings);
            // Only the first and the last leaf can have hashes outside of the range.
            let (first, last) = self.hashes.clone().into_inner();
            let is_at_end = [first, last].map(|hash| key(hash, self.hash_bits) == prefix.value());
            if is_at_end.contains(&true) {
                self.postings
                    .retain(|posting| self.hashes.contains(&posting.hash()));
            }
        }
    }

    /// Takes those of the next postings that were read whose hash has these upper bits.
    fn take(&mut self, upper: u32, hash_bits: u32) -> &[Posting] {
        let rest = self.postings.get(self.start..).unwrap_or_default();
        let is_other = |posting: &Posting| key(posting.hash(), hash_bits) != upper;
        let len = rest.iter().position(is_other).unwrap_or(rest.len());
        self.start += len;
        &rest[..len]
    }
}

/// The postings of several sources in runs. A run has all postings whose hashes have the same upper bits.
///
/// Sources are merged in the order in which they are added. This is fastest if those with few postings come first.
pub(super) struct PostingRuns<'t> {
    sources: Vec<LeafSource<'t>>,
    /// The number of bits of a hash below the upper ones.
    hash_bits: u32,
    run: Vec<Posting>,
    room: UnpackedLeaf,
}

impl<'t> PostingRuns<'t> {
    /// Creates runs without sources, of hashes that are equal above their lower `hash_bits` bits.
    pub(super) fn new(hash_bits: u32) -> PostingRuns<'t> {
        PostingRuns {
            sources: Vec::new(),
            hash_bits,
            run: Vec::new(),
            room: UnpackedLeaf::default(),
        }
    }

    /// Adds the postings with some hashes of a table whose leaves store `hash_bits` bits of each hash.
    pub(super) fn add_table(
        &mut self,
        table: &'t impl ReadableTable<u32, &'static [u8]>,
        hash_bits: u32,
        hashes: RangeInclusive<u32>,
    ) -> Result<(), BucketError> {
        let leaves = key(*hashes.start(), hash_bits)..=key(*hashes.end(), hash_bits);
        self.sources.push(LeafSource {
            leaves: Some(table.range(leaves)?),
            hash_bits,
            hashes,
            postings: Vec::new(),
            start: 0,
        });
        Ok(())
    }

    /// Adds sorted postings.
    pub(super) fn add(&mut self, postings: Vec<Posting>) {
        self.sources.push(LeafSource {
            leaves: None,
            hash_bits: self.hash_bits,
            hashes: ALL_HASHES,
            postings,
            start: 0,
        });
    }

    /// The next run, sorted and without duplicates, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&mut Vec<Posting>>, BucketError> {
        // The lowest posting of all sources decides which hashes come next.
        let mut first: Option<Posting> = None;
        for source in &mut self.sources {
            if let Some(posting) = source.peek(&mut self.room)? {
                first = Some(first.map_or(posting, |first| first.min(posting)));
            }
        }
        let Some(first) = first else { return Ok(None) };
        let upper = key(first.hash(), self.hash_bits);
        // Then every source gives its postings of these hashes, which ascend, so they are merged.
        self.run.clear();
        for source in &mut self.sources {
            // A run may span several leaves of a source.
            while let Some(posting) = source.peek(&mut self.room)?
                && key(posting.hash(), self.hash_bits) == upper
            {
                merge(&mut self.run, source.take(upper, self.hash_bits));
            }
        }
        self.run.dedup();
        Ok(Some(&mut self.run))
    }
}

/// The bits of a hash above the lower `hash_bits` ones, which are the key of its leaf.
pub(super) fn key(hash: u32, hash_bits: u32) -> u32 {
    low32(u64::from(hash) >> hash_bits)
}

/// Merges sorted postings into sorted ones, back to front.
pub(super) fn merge(all: &mut Vec<Posting>, more: &[Posting]) {
    if all.last() <= more.first() {
        all.extend_from_slice(more);
        return;
    }
    // The larger of the two last postings goes behind all that remain.
    let (mut old, mut new) = (all.len(), more.len());
    all.extend_from_slice(more);
    while old > 0 && new > 0 {
        let (a, b) = (all[old - 1], more[new - 1]);
        let is_old = a > b;
        all[old + new - 1] = if is_old { a } else { b };
        old -= usize::from(is_old);
        new -= usize::from(!is_old);
    }
    all[..new].copy_from_slice(&more[..new]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn postings(most: u32) -> impl Strategy<Value = Vec<Posting>> {
        let posting = (prop_oneof![any::<u32>(), 0..9_u32], 0..most);
        let set = prop::collection::btree_set(posting, 0..60);
        set.prop_map(|set| set.iter().map(|&(h, id)| Posting::new(h, id)).collect())
    }

    proptest! {
        #[test]
        fn merging_is_sorting(a in postings(50), b in postings(50)) {
            let mut merged = a.clone();
            merge(&mut merged, &b);
            let mut sorted = [a, b].concat();
            sorted.sort_unstable();
            prop_assert_eq!(merged, sorted);
        }

        #[test]
        fn runs_have_each_posting_once(
            sources in prop::collection::vec(postings(9), 0..4),
            hash_bits in 0_u32..=32,
        ) {
            let mut runs = PostingRuns::new(hash_bits);
            for source in &sources {
                runs.add(source.clone());
            }
            let mut found = Vec::new();
            let mut upper = Vec::new();
            while let Some(run) = runs.next().unwrap() {
                upper.push(key(run[0].hash(), hash_bits));
                prop_assert!(run.iter().all(|p| Some(&key(p.hash(), hash_bits)) == upper.last()));
                found.append(run);
            }
            prop_assert!(upper.is_sorted_by(|a, b| a < b));
            let mut expected = sources.concat();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(found, expected);
        }
    }
}

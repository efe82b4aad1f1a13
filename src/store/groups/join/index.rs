//! An index from a shingle to the sets that have it among their first.

use std::ops::Range;

use crate::pool::Pool;

/// A shingle that is one of the first of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PrefixPosting {
    pub(super) shingle: u32,
    /// The set's rank: sets are ranked by size.
    pub(super) rank: u32,
    /// The number of members of the set before it.
    pub(super) position: u32,
}

/// Postings ordered by shingle and rank: 12 bytes each, and at most 10 more to find them.
#[derive(Debug, Default)]
pub(super) struct PrefixIndex {
    postings: Vec<PrefixPosting>,
    /// For each value of a shingle's first bits, where its postings begin.
    starts: Vec<usize>,
    shift: u32,
    /// A bit for each value of a shingle's first bits: whether there are postings. It is small, so most shingles
    /// without postings are found out without waiting for memory.
    filter: Vec<u64>,
}

/// The number of bits of the filter for each start, as a power of two.
const FILTER_BITS: u32 = 4;

impl PrefixIndex {
    /// Makes the index of `postings`, in any order.
    pub(super) fn new(mut postings: Vec<PrefixPosting>, pool: &Pool) -> PrefixIndex {
        pool.sort(&mut postings);
        let bits = postings.len().max(2).ilog2();
        let bits = bits.min(u32::BITS - FILTER_BITS);
        let shift = u32::BITS - bits;
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (at, posting) in postings.iter().enumerate() {
            let bucket = (posting.shingle >> shift) as usize;
            while starts.len() <= bucket {
                starts.push(at);
            }
        }
        starts.resize((1 << bits) + 1, postings.len());
        let mut index = PrefixIndex {
            postings,
            starts,
            shift,
            filter: vec![0; (1_usize << (bits + FILTER_BITS)).div_ceil(64)],
        };
        for posting in &index.postings {
            let (word, bit) = index.place(posting.shingle);
            index.filter[word] |= bit;
        }
        index
    }

    /// The shingle's word in the filter, and its bit.
    fn place(&self, shingle: u32) -> (usize, u64) {
        let place = shingle >> (self.shift - FILTER_BITS);
        ((place / u64::BITS) as usize, 1 << (place % u64::BITS))
    }

    /// Calls `each` with the postings, ordered by rank, of those shingles that have some. `near` is scratch memory.
    pub(super) fn each_of<'i>(
        &'i self,
        shingles: &[u32],
        near: &mut Vec<(u32, usize, usize)>,
        mut each: impl FnMut(&'i [PrefixPosting]),
    ) {
        // In three steps, so that many reads wait for memory together; nothing is predicted in the first two.
        let mut len = 0;
        near.resize(shingles.len(), (0, 0, 0));
        for &shingle in shingles {
            let (word, bit) = self.place(shingle);
            near[len].0 = shingle;
            len += usize::from(self.filter[word] & bit != 0);
        }
        for (shingle, start, end) in &mut near[..len] {
            let bucket = (*shingle >> self.shift) as usize;
            (*start, *end) = (self.starts[bucket], self.starts[bucket + 1]);
        }
        for &(shingle, start, end) in &near[..len] {
            each(self.among(shingle, start..end));
        }
    }

    /// The postings of a shingle, ordered by rank.
    pub(super) fn of(&self, shingle: u32) -> &[PrefixPosting] {
        let bucket = (shingle >> self.shift) as usize;
        self.among(shingle, self.starts[bucket]..self.starts[bucket + 1])
    }

    /// The postings of a shingle, which are among these.
    fn among(&self, shingle: u32, near: Range<usize>) -> &[PrefixPosting] {
        let near = &self.postings[near];
        let start = near.partition_point(|posting| posting.shingle < shingle);
        let end = near.partition_point(|posting| posting.shingle <= shingle);
        &near[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_postings_of_a_shingle_are_found(
            shingles in prop::collection::vec(prop_oneof![0_u32..4, any::<u32>()], 0..60),
            other in any::<u32>(),
        ) {
            let posting = |(rank, &shingle)| PrefixPosting { shingle, rank, position: 0 };
            let postings: Vec<PrefixPosting> = (0..).zip(&shingles).map(posting).collect();
            let index = PrefixIndex::new(postings.clone(), &Pool::new(1));
            for &shingle in shingles.iter().chain([&other, &0, &u32::MAX]) {
                let expected = postings.iter().filter(|p| p.shingle == shingle);
                prop_assert_eq!(index.of(shingle), expected.copied().collect::<Vec<_>>());
                let mut met = Vec::new();
                index.each_of(&[shingle], &mut Vec::new(), |postings| met.extend(postings));
                prop_assert_eq!(index.of(shingle), met);
            }
        }
    }
}

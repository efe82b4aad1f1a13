//! Sorting of uniformly distributed hashes.

/// Below this many hashes, a comparison sort is as fast.
const FEW: usize = 48;

/// From this many hashes on, more buckets would only miss the cache more often.
const MANY_BITS: u32 = 14;

/// A bucket of more hashes than this is sorted by comparison, so that no input makes the last pass
/// quadratic.
const CROWDED: u32 = 12;

/// Sorts hashes and drops repeats, reusing its working memory from call to call.
///
/// Hashes are uniform, so their upper bits are close to their rank: one pass distributes them into
/// about twice as many buckets as there are hashes, and an insertion sort puts the few neighbours
/// that are out of order in place.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    /// Where the next hash of each bucket goes.
    next: Vec<u32>,
    sorted: Vec<u32>,
}

impl Sorter {
    /// The distinct values of `hashes`, ascending. What `hashes` holds afterwards is unspecified.
    pub(super) fn distinct(&mut self, hashes: &mut [u32]) -> Vec<u32> {
        let count = match u32::try_from(hashes.len()) {
            Ok(count) if hashes.len() >= FEW => count,
            _ => {
                hashes.sort_unstable();
                return distinct_of(hashes);
            }
        };
        let bits = (count.ilog2() + 1).min(MANY_BITS);
        let fullest = self.count(hashes, bits);
        self.distribute(hashes, bits);
        if fullest > CROWDED {
            self.sort_crowded();
        }
        bubble(&mut self.sorted);
        insertion_sort(&mut self.sorted);
        distinct_of(&self.sorted)
    }

    /// The number of bytes of working memory held.
    pub(super) fn capacity(&self) -> usize {
        4 * (self.next.capacity() + self.sorted.capacity())
    }

    /// Turns bucket sizes into places; returns the largest size.
    fn count(&mut self, hashes: &[u32], bits: u32) -> u32 {
        self.next.clear();
        self.next.resize(1 << bits, 0);
        for &hash in hashes {
            self.next[bucket(hash, bits)] += 1;
        }
        let (mut place, mut fullest) = (0, 0);
        for next in &mut self.next {
            let size = *next;
            *next = place;
            place += size;
            fullest = fullest.max(size);
        }
        fullest
    }

    /// Puts every hash into its bucket. Afterwards, `next` holds the ends of the buckets.
    fn distribute(&mut self, hashes: &[u32], bits: u32) {
        // Every cell is overwritten: the buckets' sizes add up to the number of hashes.
        self.sorted.resize(hashes.len(), 0);
        for &hash in hashes {
            let next = &mut self.next[bucket(hash, bits)];
            self.sorted[*next as usize] = hash;
            *next += 1;
        }
    }

    fn sort_crowded(&mut self) {
        let mut start = 0;
        for &end in &self.next {
            if end - start > CROWDED {
                self.sorted[start as usize..end as usize].sort_unstable();
            }
            start = end;
        }
    }
}

#[inline]
fn bucket(hash: u32, bits: u32) -> usize {
    (hash >> (u32::BITS - bits)) as usize
}

/// Carries larger values one way past smaller ones, without branches. This leaves few of the
/// inversions that an insertion sort would mispredict.
fn bubble(values: &mut [u32]) {
    let mut carried = values.first().copied().unwrap_or_default();
    for i in 1..values.len() {
        values[i - 1] = carried.min(values[i]);
        carried = carried.max(values[i]);
    }
    if let Some(last) = values.last_mut() {
        *last = carried;
    }
}

/// Sorts nearly sorted values, in time linear in the number of inversions.
fn insertion_sort(values: &mut [u32]) {
    for i in 1..values.len() {
        let value = values[i];
        let mut hole = i;
        while hole > 0 && values[hole - 1] > value {
            values[hole] = values[hole - 1];
            hole -= 1;
        }
        values[hole] = value;
    }
}

/// A copy of sorted values without repeats.
fn distinct_of(sorted: &[u32]) -> Vec<u32> {
    let Some(&first) = sorted.first() else {
        return Vec::new();
    };
    let mut distinct = vec![first; sorted.len()];
    let mut end = 0;
    for &value in sorted {
        end += usize::from(value != distinct[end]);
        distinct[end] = value;
    }
    distinct.truncate(end + 1);
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_sorts(sorter: &mut Sorter, mut hashes: Vec<u32>) {
        let mut expected = hashes.clone();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(sorter.distinct(&mut hashes), expected);
    }

    #[test]
    fn crowded_buckets_are_sorted_too() {
        let mut sorter = Sorter::default();
        assert_sorts(&mut sorter, vec![7; 100_000]);
        // An insertion sort alone would take far too long.
        assert_sorts(&mut sorter, (0..2_000_000).rev().collect());
        assert_sorts(
            &mut sorter,
            (0..100_000).map(|i| u32::MAX - i % 1000).collect(),
        );
        assert_sorts(
            &mut sorter,
            (0..100_000u32)
                .map(|i| i.wrapping_mul(0x9E37_79B1))
                .collect(),
        );
    }

    proptest! {
        #[test]
        fn sorts_like_a_comparison_sort(
            runs in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..300), 1..4),
            shift in 0u32..32,
        ) {
            let mut sorter = Sorter::default();
            for run in runs {
                assert_sorts(&mut sorter, run.iter().map(|hash| hash >> shift).collect());
                assert_sorts(&mut sorter, run);
            }
        }
    }
}

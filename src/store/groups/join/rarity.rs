//! One order of all shingles, rare ones first.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::codec::low32;

/// The largest number of counters: 256 MiB.
const MOST_COUNTERS: u64 = 1 << 26;

/// Estimates how many sets have a shingle: shingles that begin with the same bits share a counter.
///
/// Any order of all shingles works for a join. The better it puts rare ones first, the less work
/// there is; sharing counters costs no more than that.
#[derive(Debug)]
pub(super) struct Rarity {
    counters: Vec<AtomicU32>,
    shift: u32,
}

impl Rarity {
    /// Makes counters for this total number of shingles: 1 to 2 bytes per shingle.
    pub(super) fn new(shingles: u64) -> Rarity {
        let bits = (shingles / 2).clamp(2, MOST_COUNTERS).ilog2();
        Rarity {
            counters: (0..1_usize << bits).map(|_| AtomicU32::new(0)).collect(),
            shift: u32::BITS - bits,
        }
    }

    /// Counts the shingles of a set. The order is fixed once all sets are counted.
    pub(super) fn count(&self, set: &[u32]) {
        for &shingle in set {
            self.counter(shingle).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The first `count` shingles of a set, in order; `places` is scratch memory.
    pub(super) fn first<'p>(
        &self,
        count: usize,
        set: &[u32],
        places: &'p mut Vec<u64>,
    ) -> impl Iterator<Item = u32> + use<'p> {
        let place = |&shingle: &u32| {
            let count = self.counter(shingle).load(Ordering::Relaxed);
            u64::from(count) << u32::BITS | u64::from(shingle)
        };
        places.clear();
        places.extend(set.iter().map(place));
        if count < places.len() {
            places.select_nth_unstable(count);
            places.truncate(count);
        }
        places.sort_unstable();
        places
            .iter()
            .map(|&place| low32(place & u64::from(u32::MAX)))
    }

    fn counter(&self, shingle: u32) -> &AtomicU32 {
        &self.counters[(shingle >> self.shift) as usize]
    }
}

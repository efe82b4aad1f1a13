//! One order of all shingles, rare ones first.

use crate::codec::low32;
use crate::pool::Pool;

/// The lowest bits of a counter: each stands for the shingles that begin with the same few bits more.
const MARKS: u32 = 8;

/// The number of counters that are read before it is asked whether they were enough.
const AHEAD: usize = 32;

/// The most parts of the counters, and the number of counters in one, unless that makes too many: they stay in a
/// processor's own cache.
const MOST_PARTS: usize = 1 << 8;
const PART: usize = 1 << 16;

/// Estimates in how many sets a shingle occurs again: shingles that begin with the same bits share a counter.
///
/// Any order of all shingles works for a join. The better it puts rare ones first, the less work
/// there is; sharing counters costs no more than that. A shingle that occurs again in no set is in no pair.
#[derive(Debug)]
pub(super) struct ShingleFrequencies {
    /// Marks of the shingles that occurred, and above them the number of those that were marked before.
    counters: Vec<u32>,
    shift: u32,
}

impl ShingleFrequencies {
    /// Makes counters for this total number of shingles: 1 to 2 bytes per shingle, and at most `memory` bytes.
    pub(super) fn new(shingles: u64, memory: u64) -> ShingleFrequencies {
        let most = memory / size_of::<u32>() as u64;
        let bits = (shingles / 2)
            .min(most)
            .clamp(2, 1 << (u32::BITS - 1 - MARKS.ilog2()));
        let bits = bits.ilog2();
        ShingleFrequencies {
            counters: vec![0; 1 << bits],
            shift: u32::BITS - bits,
        }
    }

    /// The number of shingles to count at once, which take at most as much memory as the counters: many for each part, so
    /// that this is read once for them.
    pub(super) fn at_once(&self) -> usize {
        self.counters.len() / 2
    }

    /// An empty list for each part of the counters.
    pub(super) fn parts(&self) -> Vec<Vec<u32>> {
        vec![Vec::new(); 1 << self.part_bits()]
    }

    /// Puts each shingle of a set into the list of its part.
    pub(super) fn sort(&self, set: &[u32], parts: &mut [Vec<u32>]) {
        let bits = u32::BITS - self.shift - self.part_bits();
        for &shingle in set {
            parts[(shingle >> self.shift >> bits) as usize].push(shingle);
        }
    }

    /// The number of first bits that tell the part of a shingle.
    fn part_bits(&self) -> u32 {
        (self.counters.len() / PART).clamp(1, MOST_PARTS).ilog2()
    }

    /// Counts the shingles in these parts. Each part is counted by one thread. The order is fixed once the shingles of all
    /// sets are counted.
    pub(super) fn count(&mut self, sorted: &[Vec<Vec<u32>>], pool: &Pool) {
        let shift = self.shift;
        let len = self.counters.len() >> self.part_bits();
        let parts = self.counters.chunks_mut(len).enumerate().collect();
        pool.map(parts, |(part, counters): (usize, &mut [u32])| {
            for &shingle in sorted.iter().flat_map(|parts| &parts[part]) {
                let mark = 1 << (shingle >> (shift - MARKS.ilog2()) & (MARKS - 1));
                let counter = &mut counters[(shingle >> shift) as usize & (len - 1)];
                // A full counter stays as it is. Nothing is predicted: half of the marks are there.
                let marked_before = u32::from(*counter & mark != 0);
                let more = counter.wrapping_add(marked_before << MARKS);
                *counter = more.max(*counter) | mark;
            }
        });
    }

    /// The first `count` shingles of a set, in order, each with the number of shingles before it. Those that are in no
    /// other set come first and are left out. `places` is scratch memory.
    pub(super) fn first<'p>(
        &self,
        count: usize,
        set: &[u32],
        places: &'p mut Vec<u64>,
    ) -> impl Iterator<Item = (u32, u32)> + use<'p> {
        let (mut again, mut alone) = (0, 0);
        places.resize(set.len(), 0);
        for part in set.chunks(AHEAD) {
            // Nothing is predicted, because about half of the shingles are in other sets.
            for &shingle in part {
                let others = self.counters[(shingle >> self.shift) as usize] >> MARKS;
                places[again] = u64::from(others) << u32::BITS | u64::from(shingle);
                again += usize::from(others > 0);
                alone += u32::from(others == 0);
            }
            // As many shingles as are asked for are in no other set, so none has to be looked up.
            if alone as usize >= count {
                again = 0;
                break;
            }
        }
        places.truncate(again);
        let rest = count.saturating_sub(alone as usize);
        if rest < again {
            places.select_nth_unstable(rest);
            places.truncate(rest);
        }
        places.sort_unstable();
        let shingle = |&place: &u64| low32(place & u64::from(u32::MAX));
        (alone..).zip(places.iter().map(shingle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_counter_stays_full() {
        let mut frequencies = ShingleFrequencies::new(8, 1 << 10);
        frequencies.counters[0] = u32::MAX;
        frequencies.count(&[vec![vec![7]]], &Pool::new(1));
        assert_eq!(frequencies.counters[0], u32::MAX);
    }
}

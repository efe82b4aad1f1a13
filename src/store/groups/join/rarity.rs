//! One order of all shingles, rare ones first.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::codec::low32;

/// The number of counters that are read at a time.
const AHEAD: usize = 32;

/// The lowest bits of a counter: each stands for the shingles that begin with the same few bits more.
const MARKS: u32 = 8;

/// Estimates in how many sets a shingle occurs again: shingles that begin with the same bits share a counter.
///
/// Any order of all shingles works for a join. The better it puts rare ones first, the less work
/// there is; sharing counters costs no more than that. A shingle that occurs again in no set is in no pair.
#[derive(Debug)]
pub(super) struct ShingleFrequencies {
    /// Marks of the shingles that occurred, and above them the number of those that were marked before.
    counters: Vec<AtomicU32>,
    shift: u32,
}

impl ShingleFrequencies {
    /// Makes counters for this total number of shingles: 1 to 2 bytes per shingle, and at most `memory` bytes.
    pub(super) fn new(shingles: u64, memory: u64) -> ShingleFrequencies {
        let most = memory / size_of::<AtomicU32>() as u64;
        let bits = (shingles / 2)
            .min(most)
            .clamp(2, 1 << (u32::BITS - 1 - MARKS.ilog2()));
        let bits = bits.ilog2();
        ShingleFrequencies {
            counters: (0..1_usize << bits).map(|_| AtomicU32::new(0)).collect(),
            shift: u32::BITS - bits,
        }
    }

    /// Counts the shingles of a set. The order is fixed once all sets are counted.
    pub(super) fn count(&self, set: &[u32]) {
        let order = Ordering::Relaxed;
        for set in set.chunks(AHEAD) {
            // Plain reads wait for memory together, and updates one after the other.
            let mut read = [0; AHEAD];
            for (read, &shingle) in read.iter_mut().zip(set) {
                *read = self.counter(shingle).load(order);
            }
            for (&read, &shingle) in read.iter().zip(set) {
                let mark = 1 << (shingle >> (self.shift - MARKS.ilog2()) & (MARKS - 1));
                let counted = |counter: u32| match counter & mark {
                    0 => counter | mark,
                    // A full counter stays as it is.
                    _ => counter.checked_add(1 << MARKS).unwrap_or(counter),
                };
                let counter = self.counter(shingle);
                let mut expected = read;
                while let Err(changed) =
                    counter.compare_exchange_weak(expected, counted(expected), order, order)
                {
                    expected = changed;
                }
            }
        }
    }

    /// The first `count` shingles of a set, in order, each with the number of shingles before it. Those that are in no
    /// other set come first and are left out. `places` is scratch memory.
    pub(super) fn first<'p>(
        &self,
        count: usize,
        set: &[u32],
        places: &'p mut Vec<u64>,
    ) -> impl Iterator<Item = (u32, u32)> + use<'p> {
        places.clear();
        let mut alone = 0;
        for &shingle in set {
            let again = self.counter(shingle).load(Ordering::Relaxed) >> MARKS;
            if again > 0 {
                places.push(u64::from(again) << u32::BITS | u64::from(shingle));
                continue;
            }
            alone += 1;
            // As many shingles as are asked for are in no other set, so none has to be looked up.
            if alone as usize == count {
                places.clear();
                break;
            }
        }
        let rest = count - alone as usize;
        if rest < places.len() {
            places.select_nth_unstable(rest);
            places.truncate(rest);
        }
        places.sort_unstable();
        let shingle = |&place: &u64| low32(place & u64::from(u32::MAX));
        (alone..).zip(places.iter().map(shingle))
    }

    fn counter(&self, shingle: u32) -> &AtomicU32 {
        &self.counters[(shingle >> self.shift) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_counter_stays_full() {
        let frequencies = ShingleFrequencies::new(8, 1 << 10);
        let full = || frequencies.counter(7).load(Ordering::Relaxed) == u32::MAX;
        frequencies.counter(7).store(u32::MAX, Ordering::Relaxed);
        frequencies.count(&[7]);
        assert!(full());
    }
}

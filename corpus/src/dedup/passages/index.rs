//! The anchors of what is kept, by their hashes.

use std::hint::black_box;

/// A multimap from hashes to the numbers of anchors, in one table with linear probing.
#[derive(Debug, Default)]
pub(super) struct AnchorIndex {
    /// A part of the hash, and the number of the anchor plus one, or 0 in a free slot.
    slots: Vec<(u32, u32)>,
    length: usize,
}

/// The number of slots at first.
const SLOTS: usize = 1 << 10;

impl AnchorIndex {
    /// Returns the bytes that the table will take once it has room for this number of further anchors, while it grows.
    pub(super) fn bytes_with(&self, more: usize) -> u64 {
        let slots = self.slots_for(self.length + more);
        let old = if slots == self.slots.len() {
            0
        } else {
            self.slots.len()
        };
        ((slots + old) * size_of::<(u32, u32)>()) as u64
    }

    fn slots_for(&self, anchors: usize) -> usize {
        let mut slots = self.slots.len().max(SLOTS);
        while anchors * 4 > slots * 3 {
            slots *= 2;
        }
        slots
    }

    /// Adds an anchor.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        let slots = self.slots_for(self.length + 1);
        if slots != self.slots.len() {
            let old = std::mem::replace(&mut self.slots, vec![(0, 0); slots]);
            for (part, number) in old.into_iter().filter(|(_, number)| *number > 0) {
                self.put(part, number);
            }
        }
        self.put(part(hash), number + 1);
        self.length += 1;
    }

    fn put(&mut self, part: u32, number: u32) {
        let mut slot = self.first_slot(part);
        while self.slots[slot].1 > 0 {
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = (part, number);
    }

    /// Returns the first slot of this part of a hash. Parts that are close have slots that are close, so that the table
    /// grows without the whole hashes.
    fn first_slot(&self, part: u32) -> usize {
        ((u64::from(part) * self.slots.len() as u64) >> 32) as usize
    }

    /// Reads the memory that [`AnchorIndex::get`] needs for these hashes. No read waits for another one.
    pub(super) fn approach(&self, hashes: impl Iterator<Item = u64>) {
        let first = |hash| self.slots.get(self.first_slot(part(hash)));
        let numbers = hashes.filter_map(first).map(|(_, number)| number);
        black_box(numbers.fold(0, |all, number| all ^ number));
    }

    /// Returns the anchors that may have this hash, in the order in which they were added, unless the table has grown since.
    pub(super) fn get(&self, hash: u64) -> impl Iterator<Item = u32> {
        let part = part(hash);
        let start = if self.slots.is_empty() {
            0
        } else {
            self.first_slot(part)
        };
        let slots = self.slots[start..].iter().chain(&self.slots[..start]);
        let used = slots.take_while(|(_, number)| *number > 0);
        let same = used.filter(move |(found, _)| *found == part);
        same.map(|(_, number)| number - 1)
    }
}

/// The part of a hash that is kept: the upper half, which depends on all words.
fn part(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::AnchorIndex;

    #[test]
    fn all_anchors_of_a_hash_are_found() {
        let mut index = AnchorIndex::default();
        assert_eq!(index.get(7 << 32).count(), 0);
        let mut model: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for number in 0..5000_u32 {
            let hash = u64::from(number % 1700).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            assert!(index.bytes_with(1) >= (index.length * 8) as u64);
            index.insert(hash, number);
            model.entry(hash >> 32).or_default().push(number);
        }
        for (part, mut expected) in model {
            let mut found: Vec<u32> = index.get(part << 32).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}

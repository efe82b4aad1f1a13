//! The places of items in a list, by their hash.

use std::hint::black_box;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The places of items, each with half of its hash.
///
/// A table that grows need not read the items, which are scattered over the memory.
#[derive(Debug, Default)]
pub(super) struct HashPlaces(HashTable<HashPlace>);

#[derive(Clone, Copy, Debug)]
struct HashPlace {
    half: u32,
    at: u32,
}

impl HashPlace {
    /// The hash for the table: the half, spread over all bits.
    fn spread(self) -> u64 {
        u64::from(self.half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl HashPlaces {
    /// Reads the place of a hash, so that it is in the processor's cache soon. Memory serves many such reads at once,
    /// but reads that follow one another wait each time.
    pub(super) fn approach(&self, half: u32) {
        let wanted = HashPlace { half, at: 0 };
        black_box(self.0.find(wanted.spread(), |_| false));
    }

    /// The place of the item with this hash for which `is_it` is true.
    pub(super) fn find(&self, half: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let wanted = HashPlace { half, at: 0 };
        let is_it = |place: &HashPlace| place.half == half && is_it(place.at);
        self.0.find(wanted.spread(), is_it).map(|place| place.at)
    }

    /// Sets the place of an item. Returns the place of an earlier item with this hash for which `is_it` is true, which
    /// it replaces.
    pub(super) fn set(&mut self, half: u32, at: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let new = HashPlace { half, at };
        let is_it = |place: &HashPlace| place.half == half && is_it(place.at);
        match self.0.entry(new.spread(), is_it, |place| place.spread()) {
            Entry::Occupied(mut place) => Some(std::mem::replace(&mut place.get_mut().at, at)),
            Entry::Vacant(place) => {
                place.insert(new);
                None
            }
        }
    }
}

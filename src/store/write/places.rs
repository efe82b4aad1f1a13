//! Where items are in a list, by their hash.

use std::hint::black_box;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The place of one item of each kind, with half of its hash: a table that grows need not read the items, which are all
/// over the memory.
#[derive(Debug, Default)]
pub(super) struct Places(HashTable<Place>);

#[derive(Clone, Copy, Debug)]
struct Place {
    half: u32,
    at: u32,
}

impl Place {
    /// What a table takes for the hash: the one half in all of its bits.
    fn spread(self) -> u64 {
        u64::from(self.half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Places {
    /// Reads the place of a hash in memory, so that it is at hand soon. Memory answers many such questions at once; who
    /// asks for one after the other waits each time.
    pub(super) fn approach(&self, half: u32) {
        let wanted = Place { half, at: 0 };
        black_box(self.0.find(wanted.spread(), |_| false));
    }

    /// The place of the item that `is_it`, of those with a hash.
    pub(super) fn find(&self, half: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let wanted = Place { half, at: 0 };
        let is_it = |place: &Place| place.half == half && is_it(place.at);
        self.0.find(wanted.spread(), is_it).map(|place| place.at)
    }

    /// Sets the place of an item, and returns that of an earlier one that `is_it`, which it replaces.
    pub(super) fn set(&mut self, half: u32, at: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let new = Place { half, at };
        let is_it = |place: &Place| place.half == half && is_it(place.at);
        match self.0.entry(new.spread(), is_it, |place| place.spread()) {
            Entry::Occupied(mut place) => Some(std::mem::replace(&mut place.get_mut().at, at)),
            Entry::Vacant(place) => {
                place.insert(new);
                None
            }
        }
    }
}

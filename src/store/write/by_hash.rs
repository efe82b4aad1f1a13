//! New contents by their hash.

use std::hint::black_box;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::parts::Parts;
use crate::codec::low32;

/// The contents appended since the last commit, by hash.
///
/// BLAKE3 spreads them as well as any table could ask for; who searches texts for hashes that begin alike
/// pays more for each than it costs here.
#[derive(Debug, Default)]
pub(crate) struct ByHash {
    /// All, in the order in which they came: a table that grows need not move them.
    contents: Parts<([u8; 32], u32)>,
    /// The youngest of each hash.
    youngest: HashTable<Place>,
}

/// A place among the contents, with the first bytes of the hash there: the others are anywhere in memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    at: u32,
}

impl Place {
    fn new(hash: &[u8; 32], at: u32) -> Place {
        let start = hash.first_chunk().copied().map_or(0, u32::from_le_bytes);
        Place { start, at }
    }

    /// What the table takes for the hash: these bytes in all of its bits.
    fn spread(self) -> u64 {
        u64::from(self.start).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl ByHash {
    /// The content with a hash.
    pub(crate) fn get(&self, hash: &[u8; 32]) -> Option<u32> {
        let wanted = Place::new(hash, 0);
        let is_it = |place: &Place| is_of(&self.contents, *place, wanted, hash);
        let found = self.youngest.find(wanted.spread(), is_it);
        found.map(|place| self.contents[place.at].1)
    }

    /// Reads the place of a hash in memory, so that it is at hand soon.
    pub(crate) fn approach(&self, hash: &[u8; 32]) {
        black_box(self.youngest.find(Place::new(hash, 0).spread(), |_| false));
    }

    /// Enters a content; a later one with the same hash takes its place.
    pub(crate) fn insert(&mut self, hash: [u8; 32], content: u32) {
        let new = Place::new(&hash, low32(self.contents.len() as u64));
        let contents = &self.contents;
        let is_it = |place: &Place| is_of(contents, *place, new, &hash);
        match self
            .youngest
            .entry(new.spread(), is_it, |place| place.spread())
        {
            Entry::Occupied(mut entry) => *entry.get_mut() = new,
            Entry::Vacant(entry) => drop(entry.insert(new)),
        }
        self.contents.push((hash, content));
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = ByHash::default();
    }

    /// Bytes of memory, about, with the room that a table leaves.
    pub(crate) fn bytes(&self) -> u64 {
        const CONTENT_BYTES: usize = 50;
        (CONTENT_BYTES * self.contents.len()) as u64
    }
}

/// Whether a content is the wanted one, which has a hash.
fn is_of(contents: &Parts<([u8; 32], u32)>, place: Place, wanted: Place, hash: &[u8; 32]) -> bool {
    place.start == wanted.start && contents[place.at].0 == *hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_found_by_all_of_their_hash() {
        let mut contents = ByHash::default();
        let hash = |start: u8, end: u8| {
            let mut hash = [7; 32];
            (hash[0], hash[31]) = (start, end);
            hash
        };
        contents.insert(hash(1, 1), 10);
        contents.insert(hash(1, 2), 11);
        contents.insert(hash(1, 1), 12);
        assert_eq!(contents.get(&hash(1, 1)), Some(12));
        assert_eq!(contents.get(&hash(1, 2)), Some(11));
        assert_eq!(contents.get(&hash(2, 1)), None);
        assert!(contents.bytes() > 0);
        contents.clear();
        assert_eq!(contents.get(&hash(1, 2)), None);
    }
}

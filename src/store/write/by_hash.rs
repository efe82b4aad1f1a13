//! New contents by their hash.

use std::hint::black_box;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The contents appended since the last commit, by hash.
///
/// BLAKE3 spreads them as well as any table could ask for; who searches texts for hashes that begin alike
/// pays more for each than it costs here.
#[derive(Debug, Default)]
pub(crate) struct ByHash {
    contents: HashTable<([u8; 32], u32)>,
}

impl ByHash {
    /// The content with a hash.
    pub(crate) fn get(&self, hash: &[u8; 32]) -> Option<u32> {
        let found = self.contents.find(start(hash), |(other, _)| other == hash);
        found.map(|(_, content)| *content)
    }

    /// Reads the place of a hash in memory, so that it is at hand soon.
    pub(crate) fn approach(&self, hash: &[u8; 32]) {
        black_box(self.contents.find(start(hash), |_| false));
    }

    /// Enters a content; a later one with the same hash takes its place.
    pub(crate) fn insert(&mut self, hash: [u8; 32], content: u32) {
        let is_it = |(other, _): &([u8; 32], u32)| *other == hash;
        match self
            .contents
            .entry(start(&hash), is_it, |(hash, _)| start(hash))
        {
            Entry::Occupied(mut entry) => entry.get_mut().1 = content,
            Entry::Vacant(entry) => drop(entry.insert((hash, content))),
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.contents.clear();
    }

    /// Bytes of memory, about, with the room that a table leaves.
    pub(crate) fn bytes(&self) -> u64 {
        const CONTENT_BYTES: usize = 60;
        (CONTENT_BYTES * self.contents.len()) as u64
    }
}

/// The first bytes of a hash.
fn start(hash: &[u8; 32]) -> u64 {
    hash.first_chunk().copied().map_or(0, u64::from_le_bytes)
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

//! New contents by their hash.

use super::hash_places::HashPlaces;
use super::parts::ListInParts;
use crate::codec::low32;

/// The contents appended since the last commit, by hash.
///
/// BLAKE3 spreads hashes as evenly as a table needs. Finding texts whose hashes begin alike costs an attacker more than
/// such texts cost here.
#[derive(Debug, Default)]
pub(crate) struct ContentsByHash {
    /// All contents, in the order in which they came. A table that grows need not move them.
    contents: ListInParts<([u8; 32], u32)>,
    /// The youngest content of each hash.
    youngest: HashPlaces,
}

impl ContentsByHash {
    /// The content with a hash.
    pub(crate) fn get(&self, hash: &[u8; 32]) -> Option<u32> {
        let found = self
            .youngest
            .find(start(hash), |at| self.contents[at].0 == *hash);
        found.map(|at| self.contents[at].1)
    }

    /// Reads the place of a hash, so that it is in the processor's cache soon.
    pub(crate) fn approach(&self, hash: &[u8; 32]) {
        self.youngest.approach(start(hash));
    }

    /// Adds a content. It replaces an earlier one with the same hash.
    pub(crate) fn insert(&mut self, hash: [u8; 32], content: u32) {
        let at = low32(self.contents.len() as u64);
        let contents = &self.contents;
        self.youngest
            .set(start(&hash), at, |at| contents[at].0 == hash);
        self.contents.push((hash, content));
    }

    /// Removes all contents.
    pub(crate) fn clear(&mut self) {
        *self = ContentsByHash::default();
    }

    /// The approximate number of bytes of memory, including the free space of a table.
    pub(crate) fn bytes(&self) -> u64 {
        const CONTENT_BYTES: usize = 50;
        (CONTENT_BYTES * self.contents.len()) as u64
    }
}

/// The first bytes of a hash.
fn start(hash: &[u8; 32]) -> u32 {
    hash.first_chunk().copied().map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_found_by_all_of_their_hash() {
        let mut contents = ContentsByHash::default();
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

//! A leaf: the postings of one range of band hashes, sorted and packed.
//!
//! A posting is a band hash and a content id. The leaves of a table divide the hashes by their top
//! bits, so a leaf keeps only the rest of each hash. Hashes and ids are of fixed width, which lets
//! a look-up search the packed hashes in place.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | number of postings n, at least 1 |
//! | 4 | 1 | bits of a hash, h |
//! | 5 | 1 | bits of an id, i |
//! | 6 | 2 | zero |
//! | 8 | (n (h + i)) / 8 rounded up | n hashes, ascending; then their n ids, ascending for equal hashes |
//! | | 8 | zero |

use std::ops::Range;

use crate::codec::{BitWriter, bits, low32, packed_bytes, u32_at};

const HEADER: usize = 8;

/// A band hash in the upper half and a content id in the lower, so that postings sort as integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting(u64);

impl Posting {
    pub(crate) fn new(hash: u32, id: u32) -> Posting {
        Posting(u64::from(hash) << 32 | u64::from(id))
    }

    pub(crate) fn hash(self) -> u32 {
        low32(self.0 >> 32)
    }

    pub(crate) fn id(self) -> u32 {
        low32(self.0)
    }
}

/// Packs `postings`, which are sorted, not empty and alike in the bits above `hash_bits`.
pub(crate) fn pack(postings: &[Posting], hash_bits: u32, out: &mut Vec<u8>) {
    let largest = postings.iter().map(|p| p.id()).max().unwrap_or(0);
    let id_bits = 32 - largest.leading_zeros();
    out.clear();
    out.extend_from_slice(&low32(postings.len() as u64).to_le_bytes());
    out.extend_from_slice(&(hash_bits | id_bits << 8).to_le_bytes());
    let mut writer = BitWriter::new(out);
    let mask = low32(bits::mask(hash_bits));
    for posting in postings {
        writer.push(posting.hash() & mask, hash_bits);
    }
    for posting in postings {
        writer.push(posting.id(), id_bits);
    }
    writer.finish();
}

/// A packed leaf whose shape was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    packed: &'a [u8],
    count: usize,
    hash_bits: u32,
    id_bits: u32,
}

impl<'a> Leaf<'a> {
    /// Takes `bytes` for a leaf whose hashes have `hash_bits`; says what is wrong if they are not.
    pub(crate) fn new(bytes: &'a [u8], hash_bits: u32) -> Result<Leaf<'a>, String> {
        if bytes.len() < HEADER {
            return Err(format!("a leaf of {} bytes", bytes.len()));
        }
        let (header, packed) = bytes.split_at(HEADER);
        let count = u32_at(header, 0);
        let id_bits = u32::from(header[5]);
        if u32::from(header[4]) != hash_bits || id_bits > 32 || count == 0 {
            return Err("a leaf whose header does not fit its table".into());
        }
        let bits = u64::from(count) * u64::from(hash_bits + id_bits);
        // Postings are distinct; without this, any number of them would fit into no bits.
        let is_crowded = u64::from(count) > 1 << (hash_bits + id_bits).min(32);
        if is_crowded || packed_bytes(bits) != packed.len() as u64 {
            return Err(format!(
                "a leaf of {count} postings in {} bytes",
                bytes.len()
            ));
        }
        Ok(Leaf {
            packed,
            count: count as usize,
            hash_bits,
            id_bits,
        })
    }

    /// The ids of `hash` that are below `end`, descending.
    pub(crate) fn ids_below(&self, hash: u32, end: u32) -> impl Iterator<Item = u32> + use<'a> {
        let leaf = *self;
        let low = hash & low32(bits::mask(leaf.hash_bits));
        let start = first(0..leaf.count, |i| leaf.hash(i) >= low);
        // Nearly all buckets are small, so their end is looked for from their beginning.
        let mut past = 1;
        while start + past < leaf.count && leaf.hash(start + past) == low {
            past *= 2;
        }
        let past = leaf.count.min(start + past);
        let last = first(start..past, |i| leaf.hash(i) > low || leaf.id(i) >= end);
        (start..last).rev().map(move |i| leaf.id(i))
    }

    /// All postings, sorted; `prefix` are the bits above the stored ones.
    pub(crate) fn postings(&self, prefix: u32) -> impl Iterator<Item = Posting> + use<'a> {
        let leaf = *self;
        let high = low32(u64::from(prefix) << leaf.hash_bits);
        (0..leaf.count).map(move |i| Posting::new(high | leaf.hash(i), leaf.id(i)))
    }

    fn hash(&self, index: usize) -> u32 {
        bits::read(self.packed, index * self.hash_bits as usize, self.hash_bits)
    }

    fn id(&self, index: usize) -> u32 {
        let start = self.count * self.hash_bits as usize;
        bits::read(
            self.packed,
            start + index * self.id_bits as usize,
            self.id_bits,
        )
    }
}

/// The first place that `is_past`, which holds for all places after one that it holds for; the end
/// if there is none.
fn first(places: Range<usize>, is_past: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut len) = (places.start, places.len());
    while len > 0 {
        let half = len / 2;
        if is_past(start + half) {
            len = half;
        } else {
            start += half + 1;
            len -= half + 1;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(postings: &[Posting], hash_bits: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(postings, hash_bits, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn a_leaf_gives_back_its_postings(
            raw in prop::collection::btree_set((any::<u32>(), any::<u32>()), 1..400),
            prefix_bits in 0_u32..=20,
            wide in any::<bool>(),
        ) {
            let hash_bits = 32 - prefix_bits;
            let prefix = 5 & low32(bits::mask(prefix_bits));
            let high = low32(u64::from(prefix) << hash_bits);
            let mut postings: Vec<Posting> = raw
                .iter()
                .map(|&(hash, id)| {
                    // Few distinct hashes and small ids in half of the cases.
                    let (hash, id) = if wide { (hash, id) } else { (hash % 7, id % 1000) };
                    Posting::new(high | (hash & low32(bits::mask(hash_bits))), id)
                })
                .collect();
            postings.sort_unstable();
            postings.dedup();
            let bytes = packed(&postings, hash_bits);
            let leaf = Leaf::new(&bytes, hash_bits).unwrap();
            prop_assert!(leaf.postings(prefix).eq(postings.iter().copied()));
            for probe in postings.iter().map(|p| p.hash()).chain([high, high | 3]) {
                for end in [u32::MAX, 500, postings[0].id()] {
                    let alike = postings.iter().rev().filter(|p| p.hash() == probe);
                    let expected = alike.map(|p| p.id()).filter(|&id| id < end);
                    prop_assert!(leaf.ids_below(probe, end).eq(expected));
                }
            }
        }

        #[test]
        fn no_bytes_make_a_leaf_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), bits in 0_u32..=32) {
            if let Ok(leaf) = Leaf::new(&bytes, bits) {
                prop_assert!(leaf.ids_below(7, u32::MAX).count() <= leaf.postings(0).count());
            }
        }
    }

    #[test]
    fn a_leaf_cut_short_or_of_another_table_is_refused() {
        let bytes = packed(&[Posting::new(1, 2), Posting::new(3, 4)], 20);
        assert!(Leaf::new(&bytes, 20).is_ok());
        assert!(Leaf::new(&bytes, 19).is_err());
        for len in 0..bytes.len() {
            assert!(Leaf::new(&bytes[..len], 20).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn a_leaf_of_more_postings_than_can_be_distinct_is_refused() {
        let mut bytes = packed(&[Posting::new(7 << 20, 0)], 0);
        assert!(Leaf::new(&bytes, 0).is_ok());
        for count in [2, u32::MAX] {
            bytes[..4].copy_from_slice(&count.to_le_bytes());
            assert!(Leaf::new(&bytes, 0).is_err(), "{count}");
        }
    }
}

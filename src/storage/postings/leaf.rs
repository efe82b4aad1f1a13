//! A leaf: the postings of one range of band hashes, sorted and packed.
//!
//! A posting is a band hash and a content id. The leaves of a table divide the hashes by their top bits, so a leaf
//! stores only the other h bits of each hash. The lower l of these are packed one after another, like the ids. The
//! upper ones, which ascend, form a bit string: each of their 2^(h - l) values is a one for each posting that has it,
//! followed by a zero (Elias, "Efficient Storage and Retrieval by Content and Address of Static Files", JACM 21, 1974).
//! With l = floor(log2(2^h / n)), a hash takes about l + 2.5 bits instead of h. A look-up counts zeros and reads only
//! the hashes with the same upper bits.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | number of postings n, at least 1 |
//! | 4 | 1 | bits of a hash, h |
//! | 5 | 1 | bits of an id, i |
//! | 6 | 2 | zero |
//! | 8 | (n + 2^(h - l)) / 64 rounded up, times 8 | the upper bits, as little-endian u64, the lowest bit first |
//! | | n l / 8 rounded up | the lower l bits of n hashes, which ascend |
//! | | n i / 8 rounded up | their n ids, ascending for equal hashes |

use std::ops::Range;

use crate::codec::{bits, low32, u32_at, u64_at};

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

/// Packs `postings`, which must be sorted, not empty and equal in the bits above `hash_bits`.
pub(crate) fn pack(postings: &[Posting], hash_bits: u32, out: &mut Vec<u8>) {
    let largest = postings.iter().map(|p| p.id()).max().unwrap_or(0);
    let id_bits = 32 - largest.leading_zeros();
    let low_bits = low_bits(postings.len(), hash_bits);
    out.clear();
    out.extend_from_slice(&low32(postings.len() as u64).to_le_bytes());
    out.extend_from_slice(&(hash_bits | id_bits << 8).to_le_bytes());
    out.resize(
        HEADER + 8 * upper_words(postings.len(), hash_bits - low_bits),
        0,
    );
    // The place of a posting's one: after the zeros of all lower values and the ones of all postings before it.
    let upper = &mut out[HEADER..];
    let hash_mask = bits::mask(hash_bits);
    for (index, posting) in postings.iter().enumerate() {
        let high = (u64::from(posting.hash()) & hash_mask) >> low_bits;
        let place = low32(high) as usize + index;
        upper[place / 8] |= 1 << (place % 8);
    }
    let mask = low32(bits::mask(low_bits));
    let lows = postings.iter().map(|posting| posting.hash() & mask);
    bits::write_all(lows, low_bits, out);
    bits::write_all(postings.iter().map(|posting| posting.id()), id_bits, out);
}

/// The number of lower bits of each of `count` hashes that have `hash_bits` bits.
fn low_bits(count: usize, hash_bits: u32) -> u32 {
    ((1_u64 << hash_bits) / count as u64).max(1).ilog2()
}

/// The number of words for the upper bits of `count` hashes that have `upper_bits` of them each.
fn upper_words(count: usize, upper_bits: u32) -> usize {
    (count + (1_usize << upper_bits)).div_ceil(64)
}

/// A packed leaf of verified shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf<'a> {
    upper: &'a [u8],
    lows: &'a [u8],
    ids: &'a [u8],
    count: usize,
    hash_bits: u32,
    low_bits: u32,
    id_bits: u32,
}

impl<'a> Leaf<'a> {
    /// Interprets `bytes` as a leaf whose hashes have `hash_bits` bits, or describes what is wrong.
    pub(crate) fn new(bytes: &'a [u8], hash_bits: u32) -> Result<Leaf<'a>, String> {
        let Some((header, rest)) = bytes.split_at_checked(HEADER) else {
            return Err(format!("a leaf of {} bytes", bytes.len()));
        };
        let count = u32_at(header, 0);
        let id_bits = u32::from(header[5]);
        if u32::from(header[4]) != hash_bits || id_bits > 32 || count == 0 {
            return Err("a leaf whose header does not fit its table".into());
        }
        let of_wrong_length = || format!("a leaf of {count} postings in {} bytes", bytes.len());
        // Postings are distinct. Without this check, any number of them would fit into no bits.
        if u64::from(count) > 1 << (hash_bits + id_bits).min(32) {
            return Err(of_wrong_length());
        }
        let low_bits = low_bits(count as usize, hash_bits);
        let upper_bytes = 8 * upper_words(count as usize, hash_bits - low_bits);
        let (upper, lows) = rest
            .split_at_checked(upper_bytes)
            .ok_or_else(of_wrong_length)?;
        let low_bytes = bytes_of(count, low_bits);
        let ids = lows.get(low_bytes..).ok_or_else(of_wrong_length)?;
        if ids.len() != bytes_of(count, id_bits) {
            return Err(of_wrong_length());
        }
        let ones: u32 = words(upper).map(u64::count_ones).sum();
        // With fewer or more ones, their places would point past the hashes and ids.
        if ones != count {
            return Err(format!("a leaf of {count} postings with {ones} hashes"));
        }
        Ok(Leaf {
            upper,
            lows,
            ids,
            count: count as usize,
            hash_bits,
            low_bits,
            id_bits,
        })
    }

    /// The ids of `hash` that are below `end`, descending.
    pub(crate) fn ids_below(&self, hash: u32, end: u32) -> impl Iterator<Item = u32> + use<'a> {
        let leaf = *self;
        // Upper bits leave few postings, in which the lower bits, and for equal hashes the ids, ascend.
        let hash = u64::from(hash) & bits::mask(leaf.hash_bits);
        let low = low32(hash & bits::mask(leaf.low_bits));
        let alike = leaf.with_upper(low32(hash >> leaf.low_bits) as usize);
        let start = first(alike.clone(), |i| leaf.low(i) >= low);
        let last = first(start..alike.end, |i| leaf.low(i) > low || leaf.id(i) >= end);
        (start..last).rev().map(move |i| leaf.id(i))
    }

    /// Appends all postings, sorted, to `postings`. `prefix` holds the bits above the stored ones.
    pub(crate) fn unpack(&self, prefix: u32, room: &mut UnpackedLeaf, postings: &mut Vec<Posting>) {
        room.lows.resize(self.count, 0);
        room.ids.resize(self.count, 0);
        bits::read_all(self.lows, self.low_bits, &mut room.lows);
        bits::read_all(self.ids, self.id_bits, &mut room.ids);
        let above = u64::from(prefix) << self.hash_bits;
        let mut lower = room.lows.iter().zip(&room.ids);
        postings.reserve(self.count);
        let mut index = 0;
        // Each one is a posting. Its place, without the ones before it, counts the zeros, and so is its upper value.
        for (start, word) in (0..).step_by(64).zip(words(self.upper)) {
            let mut left = word;
            while left != 0
                && let Some((&low, &id)) = lower.next()
            {
                let place = start + u64::from(left.trailing_zeros());
                let high = (place - index) << self.low_bits & bits::mask(self.hash_bits);
                postings.push(Posting::new(low32(above | high) | low, id));
                left &= left - 1;
                index += 1;
            }
        }
    }

    /// The postings whose upper bits equal `high`.
    // The postings of a value lie between two zeros. Without the zeros before them, their places are their indexes.
    fn with_upper(&self, high: usize) -> Range<usize> {
        let place = self.behind_zero(high);
        let (start, end) = (place - high, self.zero_from(place) - high);
        start.min(self.count)..end.min(self.count)
    }

    /// The position of the first zero of the upper bits at `place` or behind it, or their number if there is none.
    fn zero_from(&self, place: usize) -> usize {
        let mut start = place;
        for word in words(self.upper).skip(place / 64) {
            let open = !word >> (start % 64);
            if open != 0 {
                return start + open.trailing_zeros() as usize;
            }
            start = start / 64 * 64 + 64;
        }
        8 * self.upper.len()
    }

    /// The position after the n-th zero of the upper bits, counted from 1, or 0 if n is 0.
    fn behind_zero(&self, n: usize) -> usize {
        let mut left = n;
        if left == 0 {
            return 0;
        }
        for (index, word) in words(self.upper).enumerate() {
            let zeros = word.count_zeros() as usize;
            if left <= zeros {
                let mut open = !word;
                for _ in 1..left {
                    open &= open - 1;
                }
                return 64 * index + open.trailing_zeros() as usize + 1;
            }
            left -= zeros;
        }
        8 * self.upper.len()
    }

    fn low(&self, index: usize) -> u32 {
        bits::read(self.lows, index * self.low_bits as usize, self.low_bits)
    }

    fn id(&self, index: usize) -> u32 {
        bits::read(self.ids, index * self.id_bits as usize, self.id_bits)
    }
}

/// Scratch space for unpacking a leaf.
#[derive(Debug, Default)]
pub(crate) struct UnpackedLeaf {
    lows: Vec<u32>,
    ids: Vec<u32>,
}

/// The number of bytes for `count` integers of `bits` bits each.
fn bytes_of(count: u32, bits: u32) -> usize {
    let bytes = (u64::from(count) * u64::from(bits)).div_ceil(8);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The words of the upper bits.
fn words(upper: &[u8]) -> impl Iterator<Item = u64> {
    upper.chunks_exact(8).map(|word| u64_at(word, 0))
}

/// The first place at which `is_past` holds, or the end if there is none.
///
/// Once it holds at a place, it must hold at all later ones.
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

    fn unpacked(leaf: &Leaf<'_>, prefix: u32) -> Vec<Posting> {
        let mut postings = Vec::new();
        leaf.unpack(prefix, &mut UnpackedLeaf::default(), &mut postings);
        postings
    }

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
                    // Half of the cases have few distinct hashes and small ids.
                    let (hash, id) = if wide { (hash, id) } else { (hash % 7, id % 1000) };
                    Posting::new(high | (hash & low32(bits::mask(hash_bits))), id)
                })
                .collect();
            postings.sort_unstable();
            postings.dedup();
            let bytes = packed(&postings, hash_bits);
            let leaf = Leaf::new(&bytes, hash_bits).unwrap();
            prop_assert_eq!(&unpacked(&leaf, prefix), &postings);
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
                prop_assert!(leaf.ids_below(7, u32::MAX).count() <= unpacked(&leaf, 0).len());
            }
        }
    }

    proptest! {
        #[test]
        fn no_damage_makes_a_leaf_panic_or_find_more_than_it_has(
            hashes in prop::collection::btree_set(any::<u32>(), 1..200),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            prefix in 0_u32..=16,
        ) {
            let hash_bits = 32 - prefix;
            let hashes = hashes.into_iter().map(|hash| hash >> prefix);
            let postings: Vec<Posting> = hashes.zip(0..).map(|(hash, id)| Posting::new(hash, id)).collect();
            let mut bytes = packed(&postings, hash_bits);
            for (place, value) in damage {
                *place.get_mut(&mut bytes) = value;
            }
            if let Ok(leaf) = Leaf::new(&bytes, hash_bits) {
                prop_assert_eq!(unpacked(&leaf, 0).len(), postings.len());
                for posting in &postings {
                    prop_assert!(leaf.ids_below(posting.hash(), u32::MAX).count() <= postings.len());
                }
            }
        }
    }

    #[test]
    fn a_hash_takes_three_bits_more_than_its_lower_ones_at_most() {
        for (count, hash_bits, most) in [(157, 21, 16.0), (256, 24, 19.0), (200, 32, 28.0)] {
            let spread = (1_u64 << hash_bits) / count;
            let postings: Vec<Posting> = (0..count)
                .map(|i| Posting::new(low32(i * spread), 0))
                .collect();
            let bytes = packed(&postings, hash_bits).len() - HEADER - 8;
            let bits = (8 * bytes) as f64 / count as f64;
            assert!(
                bits < most,
                "{count} hashes of {hash_bits} bits: {bits} each"
            );
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

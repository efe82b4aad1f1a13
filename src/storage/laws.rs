//! Laws of the stored formats that hold for any bytes, which tests and fuzzers choose.
#![allow(
    clippy::unwrap_used,
    reason = "what fails where it should not is a defect"
)]

use std::path::Path;

use super::columns::{unpack, unpack_stored};
use super::format::{ColumnKind, ContentRow, HEADER_BYTES, Header, belongs_to, may_be_unfinished};
use super::postings::{Leaf, Posting, UnpackedLeaf, pack};
use crate::codec::elias_fano;
use crate::text::{Fingerprints, ShingleSet};

/// The little-endian integers of `bytes`.
fn integers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let words = bytes.as_chunks().0.iter();
    words.map(|word| u32::from_le_bytes(*word))
}

/// An encoded header matches itself and no other header, and a row survives decoding and encoding.
pub(crate) fn headers(bytes: &[u8]) {
    let mut numbers = integers(bytes);
    let mut next = || numbers.next().unwrap_or(0);
    let header = Header {
        kind: ColumnKind::ALL[next() as usize % ColumnKind::ALL.len()],
        store: u64::from(next()) << 32 | u64::from(next()),
        generation: next(),
        row_bytes: next(),
    };
    let path = Path::new("column");
    let encoded = header.encode();
    assert!(header.expect(path, &encoded).is_ok());
    assert!(belongs_to(&encoded, header.store) && may_be_unfinished(&encoded));
    let rest = bytes.get(20..).unwrap_or_default();
    let is_it = rest.starts_with(&encoded);
    assert_eq!(header.expect(path, rest).is_ok(), is_it);
    // XOR with the rest flips some of its bits.
    let mut changed = encoded;
    for (byte, change) in changed.iter_mut().zip(rest) {
        *byte ^= change;
    }
    assert_eq!(header.expect(path, &changed).is_ok(), changed == encoded);
    assert_eq!(
        header
            .expect(path, &changed[..rest.len().min(HEADER_BYTES)])
            .is_ok(),
        { changed == encoded && rest.len() >= HEADER_BYTES }
    );
    if let Some(row) = rest.first_chunk::<{ ContentRow::BYTES }>() {
        let decoded = ContentRow::decode(row);
        assert_eq!(decoded.encode(), *row);
        assert_eq!(ContentRow::decode(&decoded.encode()), decoded);
    }
}

/// Bytes are either refused as a leaf or can be read as one, and postings survive packing.
///
/// The first byte is the number of bits of a hash.
pub(crate) fn leaf(bytes: &[u8]) {
    let Some((&bits, bytes)) = bytes.split_first() else {
        return;
    };
    let hash_bits = u32::from(bits) % 33;
    if let Ok(leaf) = Leaf::new(bytes, hash_bits) {
        let postings = unpacked(&leaf);
        let is_sorted = postings.is_sorted();
        for posting in postings.iter().take(64) {
            let ids = leaf.ids_below(posting.hash(), u32::MAX);
            if is_sorted {
                check_ids(ids, &postings, posting.hash());
            } else {
                assert!(ids.count() <= postings.len());
            }
        }
    }
    let mut postings: Vec<Posting> = integers(bytes)
        .collect::<Vec<u32>>()
        .as_chunks()
        .0
        .iter()
        .map(|&[hash, id]| Posting::new(masked(hash, hash_bits), id >> (hash % 32)))
        .collect();
    postings.sort_unstable();
    postings.dedup();
    if !postings.is_empty() {
        let mut packed = Vec::new();
        pack(&postings, hash_bits, &mut packed);
        let leaf = Leaf::new(&packed, hash_bits).unwrap();
        assert_eq!(unpacked(&leaf), postings);
        for posting in postings.iter().take(64) {
            let ids = leaf.ids_below(posting.hash(), u32::MAX);
            check_ids(ids, &postings, posting.hash());
        }
        for cut in 0..packed.len().min(64) {
            assert!(Leaf::new(&packed[..cut], hash_bits).is_err());
        }
    }
}

fn unpacked(leaf: &Leaf<'_>) -> Vec<Posting> {
    let mut postings = Vec::new();
    leaf.unpack(0, &mut UnpackedLeaf::default(), &mut postings);
    postings
}

fn masked(hash: u32, bits: u32) -> u32 {
    hash.checked_shl(32 - bits)
        .map_or(0, |high| high >> (32 - bits))
}

fn check_ids(ids: impl Iterator<Item = u32>, postings: &[Posting], hash: u32) {
    let of_hash = postings
        .iter()
        .rev()
        .filter(|posting| posting.hash() == hash);
    let below = of_hash
        .map(|posting| posting.id())
        .filter(|&id| id < u32::MAX);
    assert!(ids.eq(below));
}

/// Bytes are either refused as a set of some size or can be decoded as one, and sets survive encoding.
///
/// The first two bytes are the size.
pub(crate) fn shingle_blocks(bytes: &[u8]) {
    let Some((count, code)) = bytes.split_first_chunk() else {
        return;
    };
    let count = usize::from(u16::from_le_bytes(*count));
    let mut set = vec![7; 3];
    if elias_fano::decode(code, count, &mut set).is_ok() {
        assert_eq!(set.len(), count);
    }
    let mut set: Vec<u32> = integers(code).collect();
    set.sort_unstable();
    set.dedup();
    let mut packed = Vec::new();
    elias_fano::encode(&set, &mut packed);
    let mut decoded = Vec::new();
    elias_fano::decode(&packed, set.len(), &mut decoded).unwrap();
    assert_eq!(decoded, set);
    for other in [set.len() + 1, set.len().saturating_sub(1)] {
        let is_same = other == set.len();
        assert_eq!(
            elias_fano::decode(&packed, other, &mut decoded).is_ok(),
            is_same
        );
    }
    packed_sets(count, code);
}

/// Bytes are either refused as a packed set of some size or give a set that survives packing.
///
/// A small set that a store keeps has tails. A set built from the bytes survives packing, with and without tails.
fn packed_sets(count: usize, bytes: &[u8]) {
    let mut set = ShingleSet::from_hashes(vec![7; 3]);
    let unpacked = unpack(bytes, count, &mut set);
    if unpacked.is_ok() {
        assert_eq!(set.len(), count);
        assert!(set.tails().is_empty() || set.tails().len() == count);
    } else {
        assert!(set.is_empty() && set.tails().is_empty());
    }
    let ordered = ShingleSet::from_packed(bytes, count);
    assert_eq!(ordered.is_some(), unpacked.is_ok() && set.is_ordered());
    if let Some(ordered) = ordered {
        let again = ShingleSet::from_packed(&ordered.to_packed(), count);
        assert_eq!(again, Some(ordered));
    }
    let is_small = (1..=ShingleSet::SMALL).contains(&count);
    let stored = unpack_stored(bytes, count, &mut set);
    assert_eq!(
        stored.is_ok(),
        unpacked.is_ok() && (!is_small || !set.tails().is_empty())
    );
    let mut hashes: Vec<u32> = integers(bytes).take(40).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let count = hashes.len();
    let tails = hashes.iter().map(|hash| hash.rotate_left(9)).collect();
    let mut sets = vec![ShingleSet::from_parts(hashes.clone(), Vec::new())];
    if (1..=ShingleSet::SMALL).contains(&count) {
        sets.push(ShingleSet::from_parts(hashes, tails));
    }
    for set in sets {
        let packed = set.to_packed();
        assert_eq!(ShingleSet::from_packed(&packed, count), Some(set));
    }
}

/// Bytes are either refused as the fingerprints of a text or are those that they give again. The fingerprints of texts
/// survive their bytes, among those of others in a column.
///
/// The first byte is the distance of two fingerprints, the second one the number of shingles of each text.
pub(crate) fn fingerprints(bytes: &[u8]) {
    let Some((&[step, shingles], bytes)) = bytes.split_first_chunk() else {
        return;
    };
    let step = u32::from(step) + 1;
    let in_order: Vec<u32> = integers(bytes).collect();
    let mut set = in_order.clone();
    set.sort_unstable();
    set.dedup();
    if let Some(found) = Fingerprints::from_bytes(bytes, step, &set) {
        assert_eq!(found.to_bytes(), bytes);
    }
    let halves = set.split_at(set.len() / 2);
    for other in [halves.0, halves.1] {
        let has_all = in_order.iter().all(|hash| other.contains(hash));
        let is_sound = has_all && in_order.is_empty() == other.is_empty();
        let is_sound = is_sound && bytes.len().is_multiple_of(4);
        let found = Fingerprints::from_bytes(bytes, step, other);
        assert_eq!(found.is_some(), is_sound);
    }
    let (mut column, mut rows) = (Vec::new(), Vec::new());
    for text in in_order.chunks(usize::from(shingles) + 1) {
        let fingerprints = Fingerprints::of(text, step);
        let places = (0..text.len()).filter(|place| place % step as usize == 0);
        assert!(
            fingerprints
                .as_slice()
                .iter()
                .eq(places.map(|place| &text[place]))
        );
        let farther = fingerprints.clone().at_step(2 * step).unwrap();
        assert_eq!(farther, Fingerprints::of(text, 2 * step));
        column.extend(fingerprints.to_bytes());
        rows.push(ContentRow {
            hash: [step.to_le_bytes()[0]; 32],
            shingles_end: u64::from(u32::MAX) + text.len() as u64,
            fingerprints_end: column.len() as u64,
            shingle_count: 0,
            signatures: step,
        });
    }
    let mut start = 0;
    for (row, text) in rows.iter().zip(in_order.chunks(usize::from(shingles) + 1)) {
        let row = row.encode();
        let end = usize::try_from(ContentRow::fingerprints_end(&row)).unwrap();
        assert_eq!(ContentRow::signatures(&row), step);
        let found = Fingerprints::from_bytes(&column[start..end], step, &set);
        assert_eq!(found, Some(Fingerprints::of(text, step)));
        start = end;
    }
    assert_eq!(start, column.len());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_keep_the_laws_of_the_formats(
            bytes in prop::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..300),
        ) {
            super::headers(&bytes);
            super::leaf(&bytes);
            super::shingle_blocks(&bytes);
            super::fingerprints(&bytes);
        }
    }
}

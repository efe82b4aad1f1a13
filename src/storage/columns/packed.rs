//! Shingle sets as bytes: the encoded hashes, followed by the tails.
//!
//! | bytes | field |
//! |---|---|
//! | any | the hashes, in the code of the `elias_fano` module |
//! | 4 for each hash, of 1 to 16 | the tails in the order of the hashes, little-endian |
//!
//! A larger set has no tails. The number of hashes gives the length of their code, so the number of bytes tells whether
//! there are tails. A stored set of up to 16 shingles always has them.

use crate::codec::elias_fano;
use crate::text::ShingleSet;

/// The size of a tail in bytes.
const TAIL: usize = size_of::<u32>();

impl ShingleSet {
    /// Packs the set into the bytes that a store keeps.
    ///
    /// The encoding is Elias-Fano. It takes about 3.3 bytes a shingle for a few hundred shingles, fewer for more, and
    /// up to two bytes for the set as a whole. The tails of a small set take another 4 bytes a shingle. The empty set
    /// takes no bytes.
    ///
    /// The bytes do not include the number of shingles, which [`ShingleSet::from_packed`] needs.
    ///
    /// ```
    /// use dedupdb::sketching::ShingleSet;
    ///
    /// let set = ShingleSet::from_hashes(vec![7, 1, 3]);
    /// let bytes = set.to_packed();
    /// assert_eq!(ShingleSet::from_packed(&bytes, 3), Some(set));
    /// assert_eq!(ShingleSet::from_packed(&bytes, 4), None);
    /// ```
    pub fn to_packed(&self) -> Vec<u8> {
        let most = u32::try_from(self.len()).map_or(0, most_bytes);
        let mut bytes = Vec::with_capacity(usize::try_from(most).unwrap_or(0));
        elias_fano::encode(self.as_slice(), &mut bytes);
        bytes.extend(self.tails().iter().flat_map(|tail| tail.to_le_bytes()));
        bytes
    }

    /// Unpacks a set of `len` shingles from the bytes that [`ShingleSet::to_packed`] returned.
    ///
    /// Returns `None` if the bytes are not such a set.
    pub fn from_packed(bytes: &[u8], len: usize) -> Option<ShingleSet> {
        let mut set = ShingleSet::default();
        unpack(bytes, len, &mut set).ok()?;
        set.is_ordered().then_some(set)
    }
}

/// Replaces `set` by the `count` shingles in `bytes`, in any order, or describes what is wrong.
pub(crate) fn unpack(bytes: &[u8], count: usize, set: &mut ShingleSet) -> Result<(), &'static str> {
    let (hashes, tails) = set.parts_mut();
    tails.clear();
    let (code, rest) = code_and_tails(bytes, count);
    let decoded = elias_fano::decode(code, count, hashes);
    if decoded.is_ok() {
        let rest = rest.as_chunks::<TAIL>().0.iter();
        tails.extend(rest.map(|tail| u32::from_le_bytes(*tail)));
    } else {
        hashes.clear();
    }
    decoded
}

/// Whether one of `values`, which ascend, is among the `count` shingles in `bytes`, or what is wrong. Does not unpack
/// the set.
pub(crate) fn has_any(bytes: &[u8], count: usize, values: &[u32]) -> Result<bool, &'static str> {
    elias_fano::has_any(code_and_tails(bytes, count).0, count, values)
}

/// The encoded hashes, and the tails, if there are any.
fn code_and_tails(bytes: &[u8], count: usize) -> (&[u8], &[u8]) {
    // Tails are there if the rest has exactly the size of the code.
    match bytes.len().checked_sub(TAIL.saturating_mul(count)) {
        Some(split) if is_small(count) && split == code_bytes(count) => bytes.split_at(split),
        _ => (bytes, &[]),
    }
}

/// Like [`unpack`], for a set that a store keeps.
pub(crate) fn unpack_stored(
    bytes: &[u8],
    count: usize,
    set: &mut ShingleSet,
) -> Result<(), &'static str> {
    unpack(bytes, count, set)?;
    if is_small(count) && set.tails().is_empty() {
        return Err("a shingle set of the wrong length");
    }
    Ok(())
}

/// The tails of a packed set of `count` shingles that a store keeps, if it has tails.
///
/// Does not decode the hashes.
pub(crate) fn stored_tails(bytes: &[u8], count: usize) -> Option<&[[u8; TAIL]]> {
    if !is_small(count) {
        return None;
    }
    let tails = bytes.get(code_bytes(count)..)?.as_chunks::<TAIL>().0;
    (tails.len() == count).then_some(tails)
}

/// The maximum size in bytes of a set of `count` shingles.
pub(crate) fn most_bytes(count: u32) -> u64 {
    let tails = if is_small(count as usize) { count } else { 0 };
    elias_fano::code_bytes(count as usize) + TAIL as u64 * u64::from(tails)
}

/// Whether sets of `count` shingles have tails.
fn is_small(count: usize) -> bool {
    (1..=ShingleSet::SMALL).contains(&count)
}

/// The size in bytes of the code of `count` hashes.
fn code_bytes(count: usize) -> usize {
    usize::try_from(elias_fano::code_bytes(count)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sets with and without tails.
    fn set() -> impl Strategy<Value = ShingleSet> {
        let hashes = prop::collection::btree_set(any::<u32>(), 0..40);
        (hashes, any::<bool>(), any::<u32>()).prop_map(|(hashes, with_tails, seed)| {
            let hashes: Vec<u32> = hashes.into_iter().collect();
            let tails = if with_tails && is_small(hashes.len()) {
                hashes
                    .iter()
                    .map(|hash| hash.rotate_left(9) ^ seed)
                    .collect()
            } else {
                Vec::new()
            };
            ShingleSet::from_parts(hashes, tails)
        })
    }

    proptest! {
        #[test]
        fn a_set_survives_its_bytes(set in set()) {
            let bytes = set.to_packed();
            prop_assert!(bytes.len() as u64 <= most_bytes(u32::try_from(set.len()).unwrap()));
            prop_assert_eq!(ShingleSet::from_packed(&bytes, set.len()), Some(set.clone()));
            let mut stored = ShingleSet::default();
            let is_stored = unpack_stored(&bytes, set.len(), &mut stored).is_ok();
            prop_assert_eq!(is_stored, !is_small(set.len()) || !set.tails().is_empty());
            let has_all = |value: &u32| has_any(&bytes, set.len(), &[*value]) == Ok(true);
            prop_assert!(set.as_slice().iter().all(has_all));
            let tails = stored_tails(&bytes, set.len()).unwrap_or_default();
            let tails: Vec<u32> = tails.iter().map(|tail| u32::from_le_bytes(*tail)).collect();
            prop_assert_eq!(tails, set.tails());
        }

        #[test]
        fn what_is_unpacked_is_a_set(
            set in set(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..4),
            cut in 0_usize..9,
        ) {
            let mut bytes = set.to_packed();
            for (index, bit) in flips {
                if !bytes.is_empty() {
                    bytes[index.index(set.to_packed().len())] ^= 1 << bit;
                }
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            if let Some(other) = ShingleSet::from_packed(&bytes, set.len()) {
                prop_assert!(other.is_ordered());
                prop_assert_eq!(other.len(), set.len());
                prop_assert!(other.tails().is_empty() || other.tails().len() == other.len());
            }
        }
    }

    #[test]
    fn no_bytes_are_a_set_of_more_shingles_than_there_are() {
        for count in [1 << 33, usize::MAX / 4, 1 << 62, usize::MAX] {
            for bytes in [0, 8, 64] {
                assert_eq!(ShingleSet::from_packed(&vec![255; bytes], count), None);
            }
        }
    }
}

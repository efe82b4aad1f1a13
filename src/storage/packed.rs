//! Shingle sets as bytes, for those who keep or send them on their own.

use super::elias_fano;
use crate::text::ShingleSet;

impl ShingleSet {
    /// Packs the set into bytes, in the code that a store keeps it in: Elias-Fano, about 3.3 bytes a
    /// shingle for some hundred shingles and fewer for more, and up to 16 bytes. The empty set takes
    /// none.
    ///
    /// The number of shingles is not among them; [`ShingleSet::from_packed`] asks for it.
    ///
    /// ```
    /// use dedupdb::ShingleSet;
    ///
    /// let set = ShingleSet::from_hashes(vec![7, 1, 3]);
    /// let bytes = set.to_packed();
    /// assert_eq!(ShingleSet::from_packed(&bytes, 3), Some(set));
    /// assert_eq!(ShingleSet::from_packed(&bytes, 4), None);
    /// ```
    pub fn to_packed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        elias_fano::encode(self.as_slice(), &mut bytes);
        bytes
    }

    /// Unpacks the set of `len` shingles that [`ShingleSet::to_packed`] made these bytes of; none if
    /// they are not the bytes of such a set.
    pub fn from_packed(bytes: &[u8], len: usize) -> Option<ShingleSet> {
        let mut hashes = Vec::new();
        elias_fano::decode(bytes, len, &mut hashes).ok()?;
        ShingleSet::from_ascending(hashes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::text::ShingleSet;

    proptest! {
        #[test]
        fn a_set_survives_packing(hashes in prop::collection::vec(any::<u32>(), 0..300)) {
            let set = ShingleSet::from_hashes(hashes);
            prop_assert_eq!(ShingleSet::from_packed(&set.to_packed(), set.len()), Some(set));
        }

        #[test]
        fn what_is_unpacked_is_a_set(
            hashes in prop::collection::vec(any::<u32>(), 1..40),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let set = ShingleSet::from_hashes(hashes);
            let mut bytes = set.to_packed();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Some(other) = ShingleSet::from_packed(&bytes, set.len()) {
                prop_assert!(other.as_slice().is_sorted_by(|a, b| a < b));
                prop_assert_eq!(other.len(), set.len());
            }
        }
    }
}

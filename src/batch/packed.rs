//! Packed shingle sets, which are compared exactly.

use crate::text::{Fingerprints, ShingleSet};

/// Returns the exact Jaccard similarity of two packed sets, 0 to 1. None if some bytes are not a packed set of the
/// given number of shingles.
///
/// A set is given by its number of shingles and the bytes of [`ShingleSet::to_packed`]. The result is the same as that
/// of a store: two sets of at most 16 shingles are compared with 64 bits per shingle, others with 32. Two empty sets
/// have similarity 0; copies of a text without shingles are identified by their hash.
///
/// ```
/// use dedupdb::batch;
/// use dedupdb::sketching::{Shingler, Shingling};
///
/// let shingler = Shingler::new(Shingling::Word(1), true, true)?;
/// let (a, b) = (shingler.shingles("night tram four")?, shingler.shingles("night bus four")?);
/// let (packed_a, packed_b) = (a.to_packed(), b.to_packed());
/// assert_eq!(batch::verify((3, &packed_a), (3, &packed_b)), Some(0.5));
/// assert_eq!(batch::verify((3, &packed_a), (3, b"tram")), None);
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn verify(a: (u32, &[u8]), b: (u32, &[u8])) -> Option<f64> {
    Some(unpack(a)?.jaccard(&unpack(b)?))
}

fn unpack((size, bytes): (u32, &[u8])) -> Option<ShingleSet> {
    ShingleSet::from_packed(bytes, size as usize)
}

/// A set with the fingerprints of its text, which are every `step`-th shingle, if there are any.
pub(super) fn fingerprinted(
    packed: (u32, &[u8]),
    step: Option<u32>,
    fingerprints: &[u8],
) -> Option<ShingleSet> {
    let set = unpack(packed)?;
    let Some(step) = step else {
        return Some(set);
    };
    let fingerprints = Fingerprints::from_bytes(fingerprints, step, set.as_slice())?;
    Some(set.with_fingerprints(Some(fingerprints)))
}

//! Finds all pairs that share a band, and compares each exactly once.

use dedupdb::sketching::Bands;
use dedupdb::sketching::ShingleSet;
use dedupdb::sketching::SlotWidth;

/// The signatures of texts, one after another.
pub(super) struct Signatures<'a> {
    pub(super) bytes: &'a [u8],
    /// The number of bytes of each signature.
    pub(super) length: usize,
    pub(super) width: SlotWidth,
}

/// Compares the texts that share a band. Returns the number of these pairs, and how many of them reach the threshold.
///
/// Takes four bytes of memory per text and band, and 16 per text.
pub(super) fn verify(
    sets: &[&ShingleSet],
    signatures: &Signatures<'_>,
    bands: Bands,
    threshold: f64,
) -> (u64, u64) {
    let width = bands.bands() as usize;
    let mut hashes = Vec::with_capacity(sets.len() * width);
    for signature in signatures.bytes.chunks_exact(signatures.length) {
        let hashed = bands.hashes(signature, signatures.width, &mut hashes);
        debug_assert!(
            hashed.is_some(),
            "a signature holds the bands that are asked for"
        );
    }
    let of = |text: usize| &hashes[text * width..(text + 1) * width];
    let (mut compared, mut found) = (0, 0);
    let mut postings: Vec<(u32, usize)> = Vec::with_capacity(sets.len());
    for band in 0..width {
        postings.clear();
        postings.extend((0..sets.len()).map(|text| (of(text)[band], text)));
        postings.sort_unstable();
        for bucket in postings.chunk_by(|a, b| a.0 == b.0) {
            for (at, &(_, a)) in bucket.iter().enumerate() {
                for &(_, b) in &bucket[at + 1..] {
                    // A pair is compared in the first band that it shares.
                    let mut earlier = of(a)[..band].iter().zip(&of(b)[..band]);
                    if earlier.any(|(a, b)| a == b) {
                        continue;
                    }
                    compared += 1;
                    found += u64::from(sets[a].jaccard(sets[b]) >= threshold);
                }
            }
        }
    }
    (compared, found)
}

#[cfg(test)]
mod tests {
    use super::{Signatures, verify};
    use dedupdb::sketching::Bands;
    use dedupdb::sketching::ShingleSet;
    use dedupdb::sketching::{Family, Signer, SlotWidth};

    #[test]
    fn pairs_that_share_a_band_are_compared_once() {
        let sets: Vec<ShingleSet> = (0..40_u32)
            .map(|text| {
                let hash = |i: u32| (i + text / 4 * 1000).wrapping_mul(0x9E37_79B1);
                ShingleSet::from_hashes((text % 4..30).map(hash).collect())
            })
            .collect();
        let sets: Vec<&ShingleSet> = sets.iter().collect();
        let bands = Bands::new(8, 4, 32).unwrap();
        let signer = Signer::new(Family::default(), 1, 32, SlotWidth::Bits16).unwrap();
        let mut bytes = Vec::new();
        for set in &sets {
            bytes.extend_from_slice(signer.sign(set.as_slice()).as_bytes());
        }
        let signatures = Signatures {
            bytes: &bytes,
            length: signer.signature_bytes(),
            width: SlotWidth::Bits16,
        };
        let row = |text: usize| &bytes[text * 64..(text + 1) * 64];
        let (mut compared, mut found) = (0, 0);
        for a in 0..sets.len() {
            for b in a + 1..sets.len() {
                let shared = bands.shared(row(a), row(b), SlotWidth::Bits16) > Some(0);
                compared += u64::from(shared);
                found += u64::from(shared && sets[a].jaccard(sets[b]) >= 0.95);
            }
        }
        assert!(found >= 20 && compared > found, "{compared} {found}");
        assert_eq!(verify(&sets, &signatures, bands, 0.95), (compared, found));
    }
}

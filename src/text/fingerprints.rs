//! The fingerprints of a text: some of its shingles, in its order.

use crate::codec::words;

/// Every n-th shingle of a text, in the order of the text, from the first one on.
///
/// Another text that shares n consecutive shingles with it shares one of these: its own shingles are all looked up, and
/// one of n consecutive ones is at a multiple of n (Almutairy and Torng, "Comparing fixed sampling with minimizer
/// sampling when using k-mer indexes to find maximal exact matches", `PLoS ONE` 13, 2018).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprints {
    step: u32,
    hashes: Vec<u32>,
}

impl Fingerprints {
    /// Takes each `step`-th of the shingles of a text, which must be in its order.
    pub(crate) fn of(shingles: &[u32], step: u32) -> Fingerprints {
        let hashes = shingles.iter().step_by(step.max(1) as usize);
        Fingerprints {
            step,
            hashes: hashes.copied().collect(),
        }
    }

    /// Reads the bytes of the fingerprints of a text with these shingles, which are ascending. `None` if the bytes
    /// cannot be that.
    pub(crate) fn from_bytes(bytes: &[u8], step: u32, shingles: &[u32]) -> Option<Fingerprints> {
        let is_whole = bytes.len().is_multiple_of(size_of::<u32>());
        let hashes: Vec<u32> = words(bytes).collect();
        let are_shingles = hashes
            .iter()
            .all(|hash| shingles.binary_search(hash).is_ok());
        let is_sound = is_whole && are_shingles && hashes.is_empty() == shingles.is_empty();
        is_sound.then_some(Fingerprints { step, hashes })
    }

    /// The fingerprints, 4 little-endian bytes each.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let hashes = self.hashes.iter();
        hashes.flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// Those with a larger distance, if they are among these.
    pub(crate) fn at_step(self, step: u32) -> Option<Fingerprints> {
        if step == self.step {
            return Some(self);
        }
        let factor = step.is_multiple_of(self.step).then(|| step / self.step)?;
        let hashes = Fingerprints::of(&self.hashes, factor).hashes;
        Some(Fingerprints { step, hashes })
    }

    /// The distance, in shingles, from one to the next.
    pub(crate) fn step(&self) -> u32 {
        self.step
    }

    /// The shingles.
    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.hashes
    }
}

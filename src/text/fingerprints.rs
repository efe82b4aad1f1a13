//! The fingerprints of a text: some of its shingles, in its order.

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

    /// The distance, in shingles, from one to the next.
    pub(crate) fn step(&self) -> u32 {
        self.step
    }

    /// The shingles.
    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.hashes
    }
}

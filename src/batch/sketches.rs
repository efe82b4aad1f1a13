//! The sketches of a batch of texts, in columns.

use super::keys::BandKeys;
use super::packed::PackedSets;
use crate::error::Error;
use crate::schema::Schema;
use crate::text::{Fingerprints, ShingleSet};

/// The sketches of n texts in columns, with a row for each text, in order.
#[derive(Clone, Debug)]
pub struct Sketches {
    bands: usize,
    /// The distance of the fingerprints, if there are any.
    step: Option<u32>,
    columns: SketchColumns,
}

/// The columns of [`Sketches`], which can be moved without a copy.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SketchColumns {
    /// The BLAKE3 hash of each text: n. Texts with the same hash are copies.
    pub hashes: Vec<[u8; 32]>,
    /// Number of distinct shingles of each text: n.
    pub sizes: Vec<u32>,
    /// The signatures, one after another: n times
    /// [`Schema::signature_bytes`](crate::Schema::signature_bytes) bytes of little-endian slots.
    pub signatures: Vec<u8>,
    /// The band keys, row by row: n times the number of bands.
    pub keys: Vec<u64>,
    /// The offsets of the packed shingles of each text, and their end: n + 1 ascending numbers, from 0.
    pub offsets: Vec<u64>,
    /// The packed shingles ([`ShingleSet::to_packed`]), one after another.
    pub packed: Vec<u8>,
    /// The offsets of the fingerprints of each text, and their end: n + 1 ascending numbers, from 0. Empty if the
    /// schema's passage is 0.
    pub fingerprint_offsets: Vec<u64>,
    /// The fingerprints, one after another: 4 little-endian bytes each
    /// ([`Schema::fingerprint_step`](crate::Schema::fingerprint_step)).
    pub fingerprints: Vec<u8>,
    /// The rows of texts that could not be read, ascending, each with the reason.
    pub failed: Vec<(usize, Error)>,
}

impl Sketches {
    /// Makes empty sketches of a schema.
    pub(super) fn new(schema: &Schema) -> Sketches {
        let step = schema.fingerprint_step();
        Sketches {
            bands: schema.bands().bands() as usize,
            step,
            columns: SketchColumns {
                offsets: vec![0],
                fingerprint_offsets: step.map(|_| 0).into_iter().collect(),
                ..SketchColumns::default()
            },
        }
    }

    /// Adds a row.
    pub(super) fn push(
        &mut self,
        hash: &[u8; 32],
        shingles: &ShingleSet,
        signature: &[u8],
        keys: &[u64],
    ) {
        let columns = &mut self.columns;
        columns.hashes.push(*hash);
        // The number fits: there are at most 2^32 distinct 32-bit hashes, and the text is shorter than that.
        let size = u32::try_from(shingles.len()).unwrap_or(u32::MAX);
        columns.sizes.push(size);
        columns.signatures.extend_from_slice(signature);
        columns.keys.extend_from_slice(keys);
        columns.packed.extend(shingles.to_packed());
        columns.offsets.push(columns.packed.len() as u64);
        if self.step.is_some() {
            let made = shingles.fingerprints().map(Fingerprints::to_bytes);
            columns.fingerprints.extend(made.unwrap_or_default());
            let end = columns.fingerprints.len() as u64;
            columns.fingerprint_offsets.push(end);
        }
    }

    /// Records why the text of the last row could not be read, if it could not.
    pub(super) fn fail(&mut self, failure: Option<Error>) {
        let last = self.len().saturating_sub(1);
        self.columns
            .failed
            .extend(failure.map(|error| (last, error)));
    }

    /// Appends the rows of `other`, which has the same schema.
    pub(super) fn append(&mut self, other: Sketches) {
        let rows = self.len();
        let (columns, other) = (&mut self.columns, other.columns);
        let bytes = columns.packed.len() as u64;
        columns.hashes.extend(other.hashes);
        columns.sizes.extend(other.sizes);
        columns.signatures.extend(other.signatures);
        columns.keys.extend(other.keys);
        let offsets = other.offsets.into_iter().skip(1);
        columns.offsets.extend(offsets.map(|offset| bytes + offset));
        columns.packed.extend(other.packed);
        let bytes = columns.fingerprints.len() as u64;
        let offsets = other.fingerprint_offsets.into_iter().skip(1);
        let offsets = offsets.map(|offset| bytes + offset);
        columns.fingerprint_offsets.extend(offsets);
        columns.fingerprints.extend(other.fingerprints);
        let failed = other.failed.into_iter();
        columns
            .failed
            .extend(failed.map(|(row, error)| (rows + row, error)));
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.columns.sizes.len()
    }

    /// Returns whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.columns.sizes.is_empty()
    }

    /// Returns the BLAKE3 hash of each text. Texts with the same hash are copies.
    pub fn hashes(&self) -> &[[u8; 32]] {
        &self.columns.hashes
    }

    /// Returns the number of distinct shingles of each text.
    pub fn sizes(&self) -> &[u32] {
        &self.columns.sizes
    }

    /// Returns the matrix of signatures: a row of [`Schema::permutations`](crate::Schema::permutations)
    /// little-endian slots for each text.
    pub fn signatures(&self) -> &[u8] {
        &self.columns.signatures
    }

    /// Returns the matrix of band keys.
    pub fn keys(&self) -> BandKeys<'_> {
        BandKeys::trusted(&self.columns.keys, self.bands)
    }

    /// Returns the packed shingles.
    pub fn sets(&self) -> PackedSets<'_> {
        let columns = &self.columns;
        let sets = PackedSets::trusted(&columns.sizes, &columns.offsets, &columns.packed);
        let offsets = &columns.fingerprint_offsets;
        sets.with_fingerprints(self.step, offsets, &columns.fingerprints)
    }

    /// Returns the rows of texts that the schema's shingling could not read, ascending, each with the reason.
    pub fn failed(&self) -> &[(usize, Error)] {
        &self.columns.failed
    }

    /// Returns the columns.
    pub fn into_columns(self) -> SketchColumns {
        self.columns
    }
}

//! Comparing the documents of a bucket that can match by size, row by row.

use std::collections::VecDeque;

use super::error::{Error, Result};
use super::groups::Group;
use super::line::BucketDocument;
use dedupdb::Schema;
use dedupdb::sketching::{Bands, ShingleSet, Signer, SlotWidth};
use rayon::prelude::*;

/// Rows of at least this many documents are compared by several threads.
const MANY: usize = 1 << 12;

/// Compares the documents of the buckets of a band.
#[derive(Debug)]
pub(super) struct BucketComparer {
    /// Signs only the slots of the band and of earlier bands.
    signer: Signer,
    bands: Bands,
    slot_width: SlotWidth,
    band: u32,
    threshold: f64,
}

/// A document of a bucket, without its line.
#[derive(Debug)]
struct UnpackedDocument {
    shingles: ShingleSet,
    /// The hashes of the bands up to the bucket's.
    hashes: Vec<u32>,
}

impl BucketComparer {
    /// Compares documents that share a bucket of this band, which the schema has.
    pub(super) fn new(schema: &Schema, band: u32) -> dedupdb::Result<BucketComparer> {
        let bands = schema.bands();
        let (width, slots) = (schema.slot_width(), (band + 1) * bands.rows());
        Ok(BucketComparer {
            signer: Signer::new(schema.family(), schema.seed(), slots, width)?,
            bands,
            slot_width: width,
            band,
            threshold: schema.threshold(),
        })
    }

    /// The band whose buckets are compared.
    pub(super) fn band(&self) -> u32 {
        self.band
    }

    /// Compares `members`, which are the lines of `group`, share the bucket `key` and are sorted by size.
    ///
    /// Passes every pair that matches and shares no earlier bucket to `take`. Documents whose sizes differ too much are
    /// not compared. Only the documents that fit the size of the current one are unpacked at a time.
    pub(super) fn compare<E: From<Error>>(
        &self,
        group: &Group,
        key: u64,
        members: &[BucketDocument<'_>],
        take: &mut impl FnMut(&BucketDocument<'_>, &BucketDocument<'_>, f64) -> Result<(), E>,
    ) -> Result<(), E> {
        // The first document of the window is that of the current row.
        let mut window: VecDeque<UnpackedDocument> = VecDeque::new();
        for (at, member) in members.iter().enumerate() {
            let rest = &members[at..];
            let fits = |other: &BucketDocument<'_>| self.can_match(member.size, other.size);
            let fitting = rest.partition_point(fits);
            if fitting > 1 {
                for member in &rest[window.len()..fitting] {
                    window.push_back(self.unpack(group, key, member)?);
                }
                for (other, jaccard) in self.row(&window) {
                    take(member, &rest[other], jaccard)?;
                }
            }
            window.pop_front();
        }
        Ok(())
    }

    /// Whether sets with these numbers of shingles, the smaller number first, can reach the threshold: J(A, B) <= |A| / |B|.
    fn can_match(&self, smaller: usize, larger: usize) -> bool {
        // A little less than computed, so that no rounding leaves out a match.
        smaller as f64 >= self.threshold * larger as f64 * (1.0 - f64::EPSILON)
    }

    /// Compares the first document with the others, and returns the places and similarities of those that match.
    fn row(&self, window: &VecDeque<UnpackedDocument>) -> Vec<(usize, f64)> {
        let similar = |other: usize| {
            let jaccard = self.verify(&window[0], &window[other])?;
            Some((other, jaccard))
        };
        if window.len() < MANY {
            (1..window.len()).filter_map(similar).collect()
        } else {
            let found = (1..window.len())
                .into_par_iter()
                .map(similar)
                .collect::<Vec<_>>();
            found.into_iter().flatten().collect()
        }
    }

    /// Returns the similarity of two documents of a bucket, if they match and share no earlier bucket.
    fn verify(&self, a: &UnpackedDocument, b: &UnpackedDocument) -> Option<f64> {
        let first_shared = a.hashes.iter().zip(&b.hashes).position(|(a, b)| a == b);
        if first_shared != Some(self.band as usize) {
            return None;
        }
        let jaccard = a.shingles.jaccard(&b.shingles);
        (jaccard >= self.threshold).then_some(jaccard)
    }

    fn unpack(
        &self,
        group: &Group,
        bucket: u64,
        member: &BucketDocument<'_>,
    ) -> Result<UnpackedDocument> {
        let place = || group.place(member.number);
        let Some(shingles) = member.shingles() else {
            return Err(Error::NoLine { place: place() });
        };
        let signature = self.signer.sign(shingles.as_slice());
        let hash = |band| self.bands.hash(signature.as_bytes(), self.slot_width, band);
        let hashes: Vec<u32> = (0..=self.band).filter_map(hash).collect();
        if hashes.last().copied().map(u64::from) != Some(bucket) {
            return Err(Error::OtherBucket { place: place() });
        }
        Ok(UnpackedDocument { shingles, hashes })
    }
}

//! Which contents of a bucket were already compared in an earlier one.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::comparisons::{BucketOrder, order};
use crate::error::Result;
use crate::storage::Snapshot;

/// Records which comparisons were skipped while buckets are searched, band by band.
#[derive(Debug, Default)]
pub(crate) struct SkippedComparisons {
    /// For each content that skipped the rest of a bucket: the band, and where the rest begins.
    ends: HashMap<u32, Vec<(u32, BucketOrder)>>,
}

impl SkippedComparisons {
    /// Records that `content` skipped the rest of its bucket in a band, from `next` on.
    pub(crate) fn end(
        &mut self,
        snapshot: &Snapshot,
        band: u32,
        content: u32,
        next: u32,
    ) -> Result<()> {
        let end = (band, order(snapshot, next)?);
        self.ends.entry(content).or_default().push(end);
        Ok(())
    }

    /// The contents that `one`, whose row is given, was compared with in buckets of bands before `band`.
    pub(crate) fn before<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        band: u32,
        one: u32,
        row: &'a SignatureRow<'a>,
    ) -> EarlierBands<'a> {
        EarlierBands {
            skipped: self,
            snapshot,
            band,
            one,
            row,
            hashes: OnceCell::new(),
        }
    }

    /// Whether the comparison of two contents was skipped in the bucket of a band, which they
    /// share.
    #[inline]
    fn was_passed_over(
        &self,
        snapshot: &Snapshot,
        band: u32,
        one: u32,
        other: u32,
    ) -> Result<bool> {
        if self.ends.is_empty() {
            return Ok(false);
        }
        let (one, other) = (order(snapshot, one)?, order(snapshot, other)?);
        // A bucket is searched for the first of the two.
        let (first, second) = (one.min(other), one.max(other));
        let mut ends = self.ends.get(&first.1).into_iter().flatten();
        Ok(ends.any(|&(of, end)| of == band && second >= end))
    }
}

/// A content's signature, of which only some first bands are needed.
#[derive(Clone, Debug)]
pub(crate) struct SignatureRow<'a> {
    signature: Cow<'a, [u8]>,
    /// The first bytes of its first band, zeros if it is shorter. Rows that are made one after the other are fetched at
    /// the same time.
    head: [u8; 8],
}

impl<'a> SignatureRow<'a> {
    #[inline]
    pub(crate) fn of(snapshot: &'a Snapshot, bands: u32, content: u32) -> Result<SignatureRow<'a>> {
        let (shape, width) = (snapshot.schema.bands(), snapshot.schema.slot_width());
        let signature = snapshot.first_slots(bands * shape.rows(), content)?;
        let band = signature.get(..shape.rows() as usize * width.bytes());
        let head = band.and_then(<[u8]>::first_chunk);
        let head = head.copied().unwrap_or_default();
        Ok(SignatureRow { signature, head })
    }
}

/// The contents that a content was compared with in the buckets of some bands.
#[derive(Debug)]
pub(crate) struct EarlierBands<'a> {
    skipped: &'a SkippedComparisons,
    snapshot: &'a Snapshot,
    /// The number of bands.
    band: u32,
    one: u32,
    row: &'a SignatureRow<'a>,
    /// Its hashes in these bands.
    hashes: OnceCell<Vec<Option<u32>>>,
}

impl EarlierBands<'_> {
    /// Whether `other`, whose row is given, is one of them.
    #[inline]
    pub(crate) fn has(&self, other: u32, row: &SignatureRow<'_>) -> Result<bool> {
        let EarlierBands { snapshot, band, .. } = *self;
        let (shape, width) = (snapshot.schema.bands(), snapshot.schema.slot_width());
        // Nearly all contents with equal hashes have equal slots, and those take less time to compare.
        let (own, others) = (&*self.row.signature, &*row.signature);
        // If their first bytes differ, the slots of the first band need no comparison.
        let first = u32::from(self.row.head != row.head);
        for equal in shape.agreeing(own, others, width, first..band) {
            if self.was_compared_in(equal, other)? {
                return Ok(true);
            }
        }
        // Unequal slots may have equal hashes, and so share a bucket all the same.
        self.has_by_hash(other, others)
    }

    /// The same by the hashes of the bands.
    fn has_by_hash(&self, other: u32, signature: &[u8]) -> Result<bool> {
        let EarlierBands { snapshot, band, .. } = *self;
        let of_band = |signature| (0..band).map(move |band| hash(snapshot, signature, band));
        let own = self
            .hashes
            .get_or_init(|| of_band(&self.row.signature).collect());
        for (band, (own, others)) in (0..).zip(own.iter().zip(of_band(signature))) {
            if *own == others && self.was_compared_in(band, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether they were compared in the bucket of a band, which they share.
    #[inline]
    fn was_compared_in(&self, band: u32, other: u32) -> Result<bool> {
        let passed_over = self
            .skipped
            .was_passed_over(self.snapshot, band, self.one, other)?;
        Ok(!passed_over)
    }
}

/// The hash of a signature in a band. Every content in a bucket has shingles.
fn hash(snapshot: &Snapshot, signature: &[u8], band: u32) -> Option<u32> {
    snapshot.schema.band_hash(1, signature, band)
}

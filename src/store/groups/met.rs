//! Which contents of a bucket met in an earlier one.

use std::collections::HashMap;

use super::comparisons::{Order, order};
use crate::error::Result;
use crate::storage::Snapshot;

/// What was compared on the way through the buckets, band after band.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Of contents for which the rest of a bucket was passed over: its band, and where that began.
    ends: HashMap<u32, Vec<(u32, Order)>>,
}

impl Met {
    /// Notes that the bucket of a band was passed over for a content, from `next` on.
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

    /// What `one` was compared with in buckets of bands before `band`.
    pub(crate) fn before<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        band: u32,
        one: u32,
    ) -> Result<Before<'a>> {
        let signature = snapshot.signature(one)?;
        let hashes = (0..band).map(|band| hash(snapshot, signature, band));
        Ok(Before {
            met: self,
            snapshot,
            one,
            hashes: hashes.collect(),
        })
    }

    /// Whether two contents were not compared in the bucket of a band, which they share.
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
        // It is the first of the two that the bucket was gone through for.
        let (first, second) = (one.min(other), one.max(other));
        let mut ends = self.ends.get(&first.1).into_iter().flatten();
        Ok(ends.any(|&(of, end)| of == band && second >= end))
    }
}

/// What a content was compared with in the buckets of some bands.
#[derive(Debug)]
pub(crate) struct Before<'a> {
    met: &'a Met,
    snapshot: &'a Snapshot,
    one: u32,
    /// Its hashes in these bands.
    hashes: Vec<Option<u32>>,
}

impl Before<'_> {
    /// Whether `other` is among them.
    pub(crate) fn has(&self, other: u32) -> Result<bool> {
        let Before { met, snapshot, .. } = self;
        let signature = snapshot.signature(other)?;
        for (band, own) in (0..).zip(&self.hashes) {
            let share = *own == hash(snapshot, signature, band);
            if share && !met.was_passed_over(snapshot, band, self.one, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The hash of a signature in a band. Contents that are in a bucket have shingles.
fn hash(snapshot: &Snapshot, signature: &[u8], band: u32) -> Option<u32> {
    snapshot.schema.band_hash(1, signature, band)
}

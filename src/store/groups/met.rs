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

    /// Whether two contents were compared in a bucket of a band before `band`.
    pub(crate) fn before(
        &self,
        snapshot: &Snapshot,
        band: u32,
        one: u32,
        other: u32,
    ) -> Result<bool> {
        // Both are in a bucket, so they have shingles.
        let hash = |signature, band| snapshot.schema.band_hash(1, signature, band);
        let (signature, others) = (snapshot.signature(one)?, snapshot.signature(other)?);
        for band in 0..band {
            let share = hash(signature, band) == hash(others, band);
            if share && !self.was_passed_over(snapshot, band, one, other)? {
                return Ok(true);
            }
        }
        Ok(false)
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

//! Which contents of a bucket met in an earlier one.

use std::collections::HashMap;

use super::comparisons::{Order, order};
use crate::error::Result;
use crate::pool::Pool;
use crate::storage::Snapshot;

/// Contents whose hashes a thread reads at a time.
const CONTENTS: usize = 1 << 9;

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

    /// Whether two contents, of which these are the hashes in the bands before one, were compared in the
    /// bucket of one of those.
    pub(crate) fn have_met(
        &self,
        snapshot: &Snapshot,
        (one, of_one): (u32, &[Option<u32>]),
        (other, of_other): (u32, &[Option<u32>]),
    ) -> Result<bool> {
        let shared = (0..).zip(of_one.iter().zip(of_other));
        for (band, _) in shared.filter(|(_, (one, other))| one == other) {
            if !self.was_passed_over(snapshot, band, one, other)? {
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

/// The hashes of some contents in the bands before one: each content is met in many pairs.
#[derive(Debug)]
pub(crate) struct Earlier {
    /// The place of the first content.
    first: usize,
    bands: usize,
    /// One for each content and band.
    hashes: Vec<Option<u32>>,
}

impl Earlier {
    /// Those of `contents`, which stand at places from `first` on, in the bands before `band`.
    pub(crate) fn read(
        snapshot: &Snapshot,
        band: u32,
        first: usize,
        contents: &[u32],
        pool: &Pool,
    ) -> Result<Earlier> {
        let read = |some: &[u32]| -> Result<Vec<Option<u32>>> {
            let mut hashes = Vec::with_capacity(some.len() * band as usize);
            for &content in some {
                hashes.extend(hashes_of(snapshot, content, band)?);
            }
            Ok(hashes)
        };
        let parts = pool.map(contents.chunks(CONTENTS).collect(), read);
        let parts: Vec<Vec<Option<u32>>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(Earlier {
            first,
            bands: band as usize,
            hashes: parts.concat(),
        })
    }

    /// Those of the content at a place.
    pub(crate) fn of(&self, place: usize) -> &[Option<u32>] {
        &self.hashes[(place - self.first) * self.bands..][..self.bands]
    }
}

/// The hashes of a content in the bands before `band`. Contents that are in a bucket have shingles.
pub(crate) fn hashes_of(
    snapshot: &Snapshot,
    content: u32,
    band: u32,
) -> Result<impl Iterator<Item = Option<u32>>> {
    let signature = snapshot.signature(content)?;
    Ok((0..band).map(move |band| snapshot.schema.band_hash(1, signature, band)))
}

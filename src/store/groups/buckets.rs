//! The buckets of one band that contents share.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::storage::Snapshot;

/// The buckets of a band that have two contents or more, ordered by hash.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    contents: Vec<u32>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl Buckets {
    /// Reads the buckets of a band without the contents in `removed`, which is sorted. The contents
    /// of each bucket are ordered by id.
    pub(crate) fn of(snapshot: &Snapshot, band: u32, removed: &[u32]) -> Result<Buckets> {
        let list = band + 1;
        let mut postings = Vec::with_capacity(snapshot.len as usize);
        snapshot.for_each_without(list, removed, |some| postings.extend_from_slice(some))?;
        let merged = postings.len();
        postings.extend(snapshot.recent_postings(list, removed));
        // Postings from tables come sorted, and recent ones by content.
        if postings.len() > merged {
            postings.sort_unstable();
        }
        let mut buckets = Buckets {
            contents: Vec::with_capacity(postings.len()),
            ends: Vec::new(),
        };
        for bucket in postings.chunk_by(|a, b| a.hash() == b.hash()) {
            if bucket.iter().any(|posting| posting.id() >= snapshot.len) {
                let index = snapshot.tables.path();
                return Err(Error::damaged(index, "a bucket has a content that is none"));
            }
            if bucket.len() > 1 {
                buckets.contents.extend(bucket.iter().map(|p| p.id()));
                buckets.ends.push(buckets.contents.len());
            }
        }
        Ok(buckets)
    }

    /// The number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The contents of all buckets, one bucket after the other.
    pub(crate) fn contents(&self) -> &[u32] {
        &self.contents
    }

    /// Some contents, to be put into another order.
    pub(crate) fn contents_mut(&mut self, range: Range<usize>) -> &mut [u32] {
        &mut self.contents[range]
    }

    /// The range of a bucket among the contents, if the bucket exists.
    pub(crate) fn range(&self, bucket: usize) -> Option<Range<usize>> {
        let end = *self.ends.get(bucket)?;
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(start..end)
    }

    /// The contents of each bucket.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len())
            .filter_map(|bucket| self.range(bucket))
            .map(|range| &self.contents[range])
    }
}

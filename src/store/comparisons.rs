//! Which contents of a band's buckets are compared with one another.

use std::ops::Range;

use super::buckets::Buckets;
use super::matching::sizes_fit;
use crate::error::Result;
use crate::storage::Snapshot;

/// Contents of a bucket from which on they are compared only with those of fitting size.
const LARGE: usize = 64;

/// Contents that another one is compared with at a time.
const STRIDE: usize = 1 << 12;

/// A content to be compared with some that come after it in its bucket.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) content: u32,
    /// Places of the others among [`Comparisons::contents`].
    pub(super) others: Range<usize>,
}

/// A way through the buckets of a band, on which all contents of each meet that can match.
///
/// The contents of a large bucket are ordered by their numbers of shingles, so that those which a
/// content can match by size are next to it.
#[derive(Debug, Default)]
pub(super) struct Comparisons {
    pub(super) band: u32,
    threshold: f64,
    buckets: Buckets,
    /// The bucket whose contents meet, and its number.
    range: Range<usize>,
    bucket: usize,
    /// Its contents' numbers of shingles, ascending, if it is a large one.
    sizes: Vec<u32>,
    /// The content that is compared, and the first of those that it is yet to be compared with.
    at: usize,
    other: usize,
}

impl Comparisons {
    /// Buckets whose contents were compared, and all.
    pub(super) fn buckets(&self) -> (usize, usize) {
        (self.bucket, self.buckets.len())
    }

    /// Those of the contents of a band that are not `removed`, which are sorted.
    pub(super) fn of(
        snapshot: &Snapshot,
        band: u32,
        removed: &[u32],
        threshold: f64,
    ) -> Result<Comparisons> {
        let buckets = Buckets::of(snapshot, band, removed)?;
        Ok(Comparisons {
            band,
            threshold,
            buckets,
            ..Comparisons::default()
        })
    }

    /// The contents that tasks name by their places.
    pub(super) fn contents(&self) -> &[u32] {
        self.buckets.contents()
    }

    /// The next task.
    pub(super) fn next(&mut self, snapshot: &Snapshot) -> Result<Option<Task>> {
        loop {
            let end = self.end();
            if self.other < end {
                let others = self.other..end.min(self.other + STRIDE);
                self.other = others.end;
                let content = self.contents()[self.at];
                return Ok(Some(Task { content, others }));
            }
            self.at += 1;
            if self.at >= self.range.end {
                let Some(range) = self.buckets.range(self.bucket) else {
                    return Ok(None);
                };
                self.bucket += 1;
                self.at = range.start;
                self.range = range;
                self.order(snapshot)?;
            }
            self.other = self.at + 1;
        }
    }

    /// The place after the last content that the current one can match.
    fn end(&self) -> usize {
        let Some(&size) = self.sizes.get(self.at - self.range.start) else {
            return self.range.end;
        };
        let fits = |&other: &u32| sizes_fit(size as usize, other as usize, self.threshold);
        self.range.start + self.sizes.partition_point(fits)
    }

    /// Orders the contents of the bucket by size, if it is a large one.
    fn order(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.sizes.clear();
        if self.range.len() < LARGE || !snapshot.schema.keeps_shingles() {
            return Ok(());
        }
        let contents = self.buckets.contents_mut(self.range.clone());
        let sized = contents
            .iter()
            .map(|&content| Ok((snapshot.content(content)?.shingle_count, content)));
        let mut sized = sized.collect::<Result<Vec<_>>>()?;
        sized.sort_unstable();
        for (place, (size, content)) in contents.iter_mut().zip(sized) {
            *place = content;
            self.sizes.push(size);
        }
        Ok(())
    }
}

//! Which contents of a band's buckets are compared with one another.

use std::ops::Range;

use super::buckets::Buckets;
use crate::error::Result;
use crate::storage::Snapshot;
use crate::text::sizes_fit;

/// Contents of a bucket from which on they are compared only with those of fitting size.
const LARGE: usize = 64;

/// Contents that another one is compared with at a time.
const STRIDE: usize = 1 << 8;

/// Comparisons of a batch.
const BATCH: usize = 1 << 16;

/// A content to be compared with some that come after it in its bucket.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) content: u32,
    /// Places of the others among [`Comparisons::contents`].
    pub(crate) others: Range<usize>,
}

/// What the contents of a large bucket are ordered by.
pub(crate) type Order = (u32, u32);

/// The order of a content: its number of shingles, as far as that bounds what it can match, and its
/// id.
pub(crate) fn order(snapshot: &Snapshot, content: u32) -> Result<Order> {
    let size = if snapshot.schema.keeps_shingles() {
        snapshot.content(content)?.shingle_count
    } else {
        0
    };
    Ok((size, content))
}

/// A way through the buckets of a band, on which all contents of each meet that can match.
///
/// The contents of a large bucket are ordered by their numbers of shingles, so that those which a
/// content can match by size are next to it. A content that has had as many false candidates in a
/// bucket as are allowed is compared with no more of it.
#[derive(Debug, Default)]
pub(crate) struct Comparisons {
    pub(crate) band: u32,
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
    /// False candidates that it may still have in this bucket, and those of its comparisons that
    /// it is not known of yet whether they were some.
    left: usize,
    open: usize,
    false_candidates: usize,
}

impl Comparisons {
    /// Buckets whose contents were compared, and all.
    pub(crate) fn buckets(&self) -> (usize, usize) {
        (self.bucket, self.buckets.len())
    }

    /// Those of the contents of a band that are not `removed`, which are sorted; a content may have
    /// so many false candidates in its bucket.
    pub(crate) fn of(
        snapshot: &Snapshot,
        band: u32,
        removed: &[u32],
        threshold: f64,
        false_candidates: usize,
    ) -> Result<Comparisons> {
        let buckets = Buckets::of(snapshot, band, removed)?;
        Ok(Comparisons {
            band,
            threshold,
            buckets,
            false_candidates,
            ..Comparisons::default()
        })
    }

    /// The contents that tasks name by their places.
    pub(crate) fn contents(&self) -> &[u32] {
        self.buckets.contents()
    }

    /// The next tasks; none when all is done. What became of those of the last content has to be
    /// said before there are more.
    pub(crate) fn batch(&mut self, snapshot: &Snapshot) -> Result<Vec<Task>> {
        let mut tasks = Vec::new();
        let mut count = 0;
        while count < BATCH
            && let Some(task) = self.next(snapshot)?
        {
            count += task.others.len();
            tasks.push(task);
        }
        Ok(tasks)
    }

    /// Takes note of false candidates that the content of the last task had in a batch. Once it
    /// has had as many as are allowed, the rest of its bucket is passed over, and the first content
    /// of that is returned.
    pub(crate) fn had_false(&mut self, candidates: usize) -> Option<u32> {
        self.open = 0;
        self.left = self.left.saturating_sub(candidates);
        let end = self.end();
        if self.left > 0 || self.other >= end {
            return None;
        }
        let next = std::mem::replace(&mut self.other, end);
        Some(self.contents()[next])
    }

    /// The next task; none at the end, nor while those that the current content had may have used
    /// up its false candidates.
    fn next(&mut self, snapshot: &Snapshot) -> Result<Option<Task>> {
        loop {
            let end = self.end();
            if self.other < end {
                let most = STRIDE.min(self.left - self.open);
                let others = self.other..end.min(self.other + most);
                if others.is_empty() {
                    return Ok(None);
                }
                self.other = others.end;
                self.open += others.len();
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
            (self.left, self.open) = (self.false_candidates, 0);
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
        let is_large = self.range.len() >= LARGE.min(self.false_candidates);
        if !is_large || !snapshot.schema.keeps_shingles() {
            return Ok(());
        }
        let contents = self.buckets.contents_mut(self.range.clone());
        let sized = contents.iter().map(|&content| order(snapshot, content));
        let mut sized = sized.collect::<Result<Vec<_>>>()?;
        sized.sort_unstable();
        for (place, (size, content)) in contents.iter_mut().zip(sized) {
            *place = content;
            self.sizes.push(size);
        }
        Ok(())
    }
}

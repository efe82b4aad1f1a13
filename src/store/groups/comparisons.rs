//! Which contents of a band's buckets are compared with each other.

use std::ops::Range;

use super::buckets::Buckets;
use crate::error::Result;
use crate::storage::Snapshot;
use crate::text::sizes_fit;

/// In buckets of at least this number of contents, only contents of fitting size are compared.
const LARGE: usize = 64;

/// The number of contents that a task compares with another one.
const STRIDE: usize = 1 << 8;

/// The number of comparisons in a batch per thread, and at most.
const OF_THREAD: usize = 1 << 13;
const MOST: usize = 1 << 16;

/// A content, and some of the contents after it in its bucket to compare it with.
#[derive(Clone, Debug)]
pub(crate) struct ComparisonTask {
    pub(crate) content: u32,
    /// Its place among [`Comparisons::contents`], and those of the others.
    pub(crate) place: usize,
    pub(crate) others: Range<usize>,
}

/// The sort key of contents in a large bucket.
pub(crate) type BucketOrder = (u32, u32);

/// The sort key of a content: its number of shingles, if that bounds what it can match, and its id.
pub(crate) fn order(snapshot: &Snapshot, content: u32) -> Result<BucketOrder> {
    let size = if snapshot.schema.keeps_shingles() {
        snapshot.content(content)?.shingle_count
    } else {
        0
    };
    Ok((size, content))
}

/// A walk through the buckets of a band that compares all contents of each bucket that can match.
///
/// The contents of a large bucket are ordered by their numbers of shingles, so the contents that
/// one can match by size are next to it. Once a content has had the allowed number of false
/// candidates in a bucket, it is not compared with the rest of the bucket.
#[derive(Debug, Default)]
pub(crate) struct Comparisons {
    pub(crate) band: u32,
    threshold: f64,
    buckets: Buckets,
    /// The current bucket, and the number of buckets begun.
    range: Range<usize>,
    bucket: usize,
    /// The numbers of shingles of its contents, ascending, if it is large.
    sizes: Vec<u32>,
    /// The places of the current content and of the next one to compare it with.
    at: usize,
    other: usize,
    /// The false candidates that it may still have in this bucket, and the number of its
    /// comparisons whose outcome is not known yet.
    left: usize,
    open: usize,
    false_candidates: usize,
}

impl Comparisons {
    /// The number of buckets that were searched, and the number of all.
    pub(crate) fn buckets(&self) -> (usize, usize) {
        (self.bucket, self.buckets.len())
    }

    /// The comparisons in the buckets of a band. A content may have `false_candidates` false candidates in its bucket.
    pub(crate) fn of(
        buckets: Buckets,
        band: u32,
        threshold: f64,
        false_candidates: usize,
    ) -> Comparisons {
        Comparisons {
            band,
            threshold,
            buckets,
            false_candidates,
            ..Comparisons::default()
        }
    }

    /// The contents that tasks refer to by place.
    pub(crate) fn contents(&self) -> &[u32] {
        self.buckets.contents()
    }

    /// Replaces `tasks` with the next ones for `threads` threads, or with none when all is done.
    ///
    /// Before the next call, [`Comparisons::had_false`] must record the outcome for the content of the last task. Where
    /// a content ends does not depend on where batches end, because it never has more open comparisons than it may have
    /// false candidates.
    pub(crate) fn batch(
        &mut self,
        snapshot: &Snapshot,
        threads: usize,
        tasks: &mut Vec<ComparisonTask>,
    ) -> Result<()> {
        let enough = MOST.min(OF_THREAD.saturating_mul(threads));
        tasks.clear();
        let mut count = 0;
        while count < enough
            && let Some(task) = self.next(snapshot)?
        {
            count += task.others.len();
            tasks.push(task);
        }
        Ok(())
    }

    /// Records the false candidates that the content of the last task had in a batch. Once it has
    /// had the allowed number, the rest of its bucket is skipped, and the first content of the rest
    /// is returned.
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

    /// The next task. None at the end, or while the open comparisons of the current content may use
    /// up its false candidates.
    fn next(&mut self, snapshot: &Snapshot) -> Result<Option<ComparisonTask>> {
        loop {
            let end = self.end();
            if self.other < end {
                // No more than may turn out false before the outcome of any of them is known.
                let most = STRIDE.min(self.left - self.open);
                let others = self.other..end.min(self.other + most);
                if others.is_empty() {
                    return Ok(None);
                }
                self.other = others.end;
                self.open += others.len();
                return Ok(Some(ComparisonTask {
                    content: self.contents()[self.at],
                    place: self.at,
                    others,
                }));
            }
            // The next content of the bucket, or the first one of the next bucket.
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

    /// Orders the contents of the bucket by size, if it is large.
    fn order(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.sizes.clear();
        // With as few contents as may be false, ordering them would save nothing.
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

//! Joins contents that match.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::candidates::PrefixCandidates;
use super::prefixes::Prefixes;
use crate::batch::Forest;
use crate::error::Result;
use crate::pool::Pool;
use crate::sketch::agreeing;
use crate::storage::Snapshot;
use crate::store::compare::{Allowance, Matcher, StoredContent};
use crate::store::groups::buckets::Buckets;
use crate::store::groups::exhaustive::ExhaustivePairs;

/// All threads work together on a bucket of at least this number of contents.
const HUGE: usize = 1 << 13;

/// Contents of buckets per task.
const BATCH: usize = 1 << 12;

/// Contents of a huge bucket per task.
const PART: usize = 1 << 8;

/// Contents of a large bucket that all others are compared with first.
const HEADS: usize = 8;

/// Joins the contents that share a bucket and reach the threshold.
///
/// Contents of the same set are never compared. In a large bucket, each content is first compared
/// with a few heads, which joins the copies of a template in one pass. Contents that remain in
/// different sets are compared only if their rarest elements allow a match. This misses no match,
/// with one exception: a content that shares its rarest elements with more contents of the bucket
/// than it may have false candidates. Which of those match depends on what other threads joined, so
/// all of them count.
pub(super) fn connect(
    snapshot: &Snapshot,
    pool: &Pool,
    allowance: &Allowance,
    removed: &[u32],
    threshold: f64,
) -> Result<Forest> {
    let forest = Forest::new(snapshot.len);
    let mut joiner = BucketJoiner {
        snapshot,
        allowance,
        forest: &forest,
        threshold,
        done: 0,
        passed_over: AtomicBool::new(false),
    };
    // The choice of skipped candidates must not depend on what other threads join in the meantime.
    let huge = HUGE.min(allowance.false_candidates());
    for band in 0..snapshot.schema.bands().bands() {
        let buckets = Buckets::of(snapshot, band, removed)?;
        // Small buckets are joined in batches, one thread a batch; all threads work on each of the huge ones
        // afterwards.
        let mut batches: Vec<Vec<&[u32]>> = Vec::new();
        let mut room = 0;
        for bucket in buckets.iter().filter(|bucket| bucket.len() < huge) {
            match batches.last_mut() {
                Some(batch) if bucket.len() <= room => batch.push(bucket),
                _ => {
                    batches.push(vec![bucket]);
                    room = BATCH;
                }
            }
            room = room.saturating_sub(bucket.len());
        }
        let join = |batch: Vec<&[u32]>| {
            let mut buckets = batch.into_iter();
            buckets.try_for_each(|bucket| joiner.join(bucket, None))
        };
        pool.map(batches, join)
            .into_iter()
            .collect::<Result<()>>()?;
        for bucket in buckets.iter().filter(|bucket| bucket.len() >= huge) {
            joiner.join(bucket, Some(pool))?;
        }
        // If a bucket was not searched in full, sharing it later proves nothing, for this band and all after it.
        if !*joiner.passed_over.get_mut() {
            joiner.done += 1;
        }
    }
    Ok(forest)
}

/// Joins the contents of all pairs that a search finds.
pub(super) fn connect_all(
    mut search: ExhaustivePairs,
    snapshot: &Snapshot,
    pool: &Pool,
) -> Result<Forest> {
    let forest = Forest::new(snapshot.len);
    while let Some(found) = search.next(snapshot, pool)? {
        for pair in found {
            forest.join(pair.larger, pair.smaller);
        }
    }
    Ok(forest)
}

/// Joins matching contents in the buckets of a band.
#[derive(Debug)]
struct BucketJoiner<'a> {
    snapshot: &'a Snapshot,
    allowance: &'a Allowance,
    forest: &'a Forest,
    threshold: f64,
    /// Bands, from the first on, in whose buckets all matching contents are joined.
    done: u32,
    /// Whether a part of a bucket was skipped.
    passed_over: AtomicBool,
}

/// The contents of a bucket, grouped by set.
#[derive(Debug)]
struct BucketSets {
    /// Contents of the same set are next to each other, the largest set last.
    contents: Vec<u32>,
    /// For each content, where its set begins.
    starts: Vec<usize>,
}

impl BucketJoiner<'_> {
    /// Joins the matching contents of a bucket, with the threads of the pool if there is one.
    fn join(&self, bucket: &[u32], pool: Option<&Pool>) -> Result<()> {
        let Some((&first, rest)) = bucket.split_first() else {
            return Ok(());
        };
        // Most buckets hold contents that an earlier band has joined.
        if rest
            .iter()
            .all(|&other| self.forest.are_joined(first, other))
        {
            return Ok(());
        }
        // First a pass that joins most contents of a large bucket, then only what is still apart.
        if bucket.len() >= self.allowance.limits().large_bucket {
            self.join_heads(bucket)?;
            return self.join_sets(&BucketSets::of(bucket, self.forest), pool);
        }
        for (place, &content) in bucket.iter().enumerate() {
            self.join_with(content, bucket[..place].iter().copied())?;
        }
        Ok(())
    }

    /// Compares a content with the others that are not in its set, and joins those that match.
    fn join_with(&self, content: u32, others: impl Iterator<Item = u32>) -> Result<()> {
        // The content is read only if another one is in a different set.
        let mut apart = others.filter(|&other| !self.forest.are_joined(content, other));
        let Some(first) = apart.next() else {
            return Ok(());
        };
        let stored = StoredContent::read(self.snapshot, content)?;
        let mut matcher = Matcher::new(self.snapshot, stored.probe(), self.threshold);
        for other in std::iter::once(first).chain(apart) {
            if self.is_match(&mut matcher, content, other)? {
                self.forest.join(content, other);
            }
        }
        Ok(())
    }

    /// Whether `other` matches `content`, which the matcher is for. False without a comparison if
    /// they share an earlier bucket whose matches are all joined, because they are still in
    /// different sets.
    fn is_match(&self, matcher: &mut Matcher<'_>, content: u32, other: u32) -> Result<bool> {
        let schema = &self.snapshot.schema;
        // The bands that are done lie at the start of the signature, one after another.
        let band = schema.bands().rows() as usize * schema.slot_width().bytes();
        let earlier = self.done as usize * band;
        let kept = |content| self.snapshot.kept_signature(content);
        // To compare small sets takes less time than to sign them.
        let (Some(one), Some(two)) = (kept(content)?, kept(other)?) else {
            return matcher.reaches(other);
        };
        let bands = one[..earlier].chunks_exact(band);
        let mut bands = bands.zip(two[..earlier].chunks_exact(band));
        Ok(!bands.any(|(one, two)| one == two) && matcher.reaches(other)?)
    }

    /// Compares each content of a bucket with a few heads until one matches. The first head is the
    /// content in the middle; the others are contents that match no head.
    fn join_heads(&self, bucket: &[u32]) -> Result<()> {
        let mut heads = vec![self.middle(bucket)?];
        for &content in bucket {
            if heads
                .iter()
                .any(|&head| self.forest.are_joined(head, content))
            {
                continue;
            }
            let stored = StoredContent::read(self.snapshot, content)?;
            let mut matcher = Matcher::new(self.snapshot, stored.probe(), self.threshold);
            let mut found = None;
            for (place, &head) in heads.iter().enumerate() {
                if self.is_match(&mut matcher, content, head)? {
                    found = Some(place);
                    break;
                }
            }
            if let Some(place) = found {
                self.forest.join(content, heads[place]);
            } else if heads.len() < HEADS {
                heads.push(content);
            }
        }
        Ok(())
    }

    /// The content that agrees best with the bucket's most frequent slots, such as the template of
    /// the others. If no value of a slot has a majority, an arbitrary value is used (Boyer and
    /// Moore, "MJRTY: A Fast Majority Vote Algorithm", 1981).
    fn middle(&self, bucket: &[u32]) -> Result<u32> {
        let width = self.snapshot.schema.slot_width();
        // A candidate for each slot, and its lead over all other values so far.
        let mut majority = vec![0; self.snapshot.schema.signature_bytes()];
        let mut votes = vec![0_u32; majority.len() / width.bytes()];
        for &content in bucket {
            let signature = self.snapshot.signature(content)?;
            let slots = signature.chunks_exact(width.bytes());
            let majority = majority.chunks_exact_mut(width.bytes());
            for ((slot, majority), votes) in slots.zip(majority).zip(&mut votes) {
                if *votes == 0 {
                    majority.copy_from_slice(slot);
                }
                if majority == slot {
                    *votes += 1;
                } else {
                    *votes -= 1;
                }
            }
        }
        // The content that is most like these candidates is most likely to match the others.
        let (mut most, mut middle) = (0, bucket[0]);
        for &content in bucket {
            let agreement = agreeing(&majority, &self.snapshot.signature(content)?, width);
            if agreement > most {
                (most, middle) = (agreement, content);
            }
        }
        Ok(middle)
    }

    /// Compares each content with those of earlier sets that it may match.
    fn join_sets(&self, sets: &BucketSets, pool: Option<&Pool>) -> Result<()> {
        // The last and largest set comes before no other, so no content is compared with it.
        let Some(&last) = sets.starts.last() else {
            return Ok(());
        };
        let limits = self.allowance.limits();
        if last <= limits.large_bucket {
            return sets.in_parts(0, pool, |part| {
                for place in part {
                    let others = &sets.contents[..sets.starts[place]];
                    self.join_with(sets.contents[place], others.iter().copied())?;
                }
                Ok(())
            });
        }
        // Between large sets, only contents that share a rare element are compared.
        let contents = sets.contents.iter().copied();
        let prefixes = Prefixes::new(self.snapshot, self.threshold, contents)?;
        let most = self.allowance.false_candidates();
        // What a content may still have of false candidates, over all parts of the index.
        let left: Vec<AtomicUsize> = sets.contents.iter().map(|_| most.into()).collect();
        let mut start = 0;
        while start < last {
            let candidates = PrefixCandidates::new(
                &prefixes,
                &sets.contents[..last],
                start,
                limits.bucket_entries,
            )?;
            sets.in_parts(start, pool, |part| {
                let (mut prefix, mut places) = (Vec::new(), Vec::new());
                for place in part {
                    let content = sets.contents[place];
                    prefixes.of(content, &mut prefix)?;
                    let most = left[place].load(Ordering::Relaxed);
                    if candidates.of(&prefix, sets.starts[place], most, &mut places) {
                        self.allowance.cut();
                        self.passed_over.store(true, Ordering::Relaxed);
                    }
                    left[place].store(most - places.len(), Ordering::Relaxed);
                    let others = places.iter().map(|&place| sets.contents[place]);
                    self.join_with(content, others)?;
                }
                Ok(())
            })?;
            start = candidates.end();
        }
        Ok(())
    }
}

impl BucketSets {
    fn of(bucket: &[u32], forest: &Forest) -> BucketSets {
        // Contents by set, small sets first: each is compared with the sets before it, so nothing is compared with the
        // largest.
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        for &content in bucket {
            *sizes.entry(forest.root(content)).or_default() += 1;
        }
        let mut rooted: Vec<(usize, u32, u32)> = bucket
            .iter()
            .map(|&content| {
                let root = forest.root(content);
                (sizes.get(&root).copied().unwrap_or(0), root, content)
            })
            .collect();
        rooted.sort_unstable();
        let mut starts = Vec::with_capacity(rooted.len());
        for set in rooted.chunk_by(|a, b| a.1 == b.1) {
            starts.resize(starts.len() + set.len(), starts.len());
        }
        BucketSets {
            contents: rooted.into_iter().map(|(_, _, content)| content).collect(),
            starts,
        }
    }

    /// Does some work for all places from `start` on, in parts. With a pool, several parts are done
    /// at the same time.
    fn in_parts(
        &self,
        start: usize,
        pool: Option<&Pool>,
        work: impl Fn(std::ops::Range<usize>) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        let all = start..self.contents.len();
        let Some(pool) = pool else {
            return work(all);
        };
        let ends = all.clone().step_by(PART);
        let parts = ends.map(|part| part..all.end.min(part + PART)).collect();
        pool.map(parts, work).into_iter().collect()
    }
}

//! Which contents match a probe.

use std::ops::Range;

use super::allowance::Allowance;
use super::matching::{Matcher, Probe, VerifiedContent};
use super::seen::SeenContents;
use crate::codec::low32;
use crate::error::Result;
use crate::storage::{ChainLink, Snapshot};

/// A search through the buckets of a snapshot.
///
/// The buckets are read side by side, the youngest contents first. Of the candidates that are read
/// together, those that share the most buckets are compared first, so that near-duplicates come
/// before texts that share a bucket because of a template or on purpose. The result does not depend
/// on which contents are in tables, except for removed contents whose postings are not dropped yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) allowance: &'a Allowance,
    pub(crate) threshold: f64,
}

/// A walk through a bucket.
#[derive(Debug)]
struct BucketCursor {
    band: u32,
    hash: u32,
    /// The range of contents that are still to be read, and the number of those that were.
    ids: Range<u32>,
    read: usize,
    /// Where the recent contents continue, once some were read.
    recent: Option<ChainLink>,
    is_done: bool,
}

/// The outcome for a content of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CandidateOutcome {
    False,
    Match,
    /// A match that makes all others unnecessary.
    Enough,
}

impl CandidateOutcome {
    fn of(is_match: bool) -> CandidateOutcome {
        if is_match {
            CandidateOutcome::Match
        } else {
            CandidateOutcome::False
        }
    }
}

impl Search<'_> {
    /// The contents within `ids` that match, ordered by id. Some may be removed already.
    pub(crate) fn matches(
        &self,
        probe: Probe<'_>,
        ids: Range<u32>,
    ) -> Result<Vec<VerifiedContent>> {
        let mut matcher = Matcher::new(self.snapshot, probe, self.threshold);
        if probe.band_hashes.is_empty() {
            // A text without tokens is in no bucket; only its exact copies match.
            let mut copies = Vec::new();
            self.snapshot.copies(probe.hash, &mut copies)?;
            copies.retain(|content| ids.contains(content));
            return matcher.verify_all(&copies);
        }
        let mut matches = Vec::new();
        self.look_at_each(
            probe,
            ids,
            self.allowance.limits().some_of_bucket,
            |content| {
                let verified = matcher.verify(content)?;
                matches.extend(verified);
                Ok(CandidateOutcome::of(verified.is_some()))
            },
        )?;
        matches.sort_unstable_by_key(|verified| verified.content);
        Ok(matches)
    }

    /// Whether a content within `ids` matches and `counts`.
    ///
    /// The search stops at the first one and reads no more of the buckets than it needs, so a large
    /// cluster of near-copies costs no more than a small one, unless none of them counts.
    pub(crate) fn any(
        &self,
        probe: Probe<'_>,
        ids: Range<u32>,
        mut counts: impl FnMut(u32) -> Result<bool>,
    ) -> Result<bool> {
        let mut matcher = Matcher::new(self.snapshot, probe, self.threshold);
        self.look_at_each(
            probe,
            ids,
            self.allowance.limits().few_of_bucket,
            |content| {
                let is_match = matcher.reaches(content)?;
                if is_match && counts(content)? {
                    return Ok(CandidateOutcome::Enough);
                }
                Ok(CandidateOutcome::of(is_match))
            },
        )
    }

    /// Looks at the candidates within `ids`, each once, until one is [`CandidateOutcome::Enough`] or too many
    /// do not match. Returns whether one was enough. `first` contents of each bucket are read
    /// first.
    fn look_at_each(
        &self,
        probe: Probe<'_>,
        ids: Range<u32>,
        first: usize,
        look: impl FnMut(u32) -> Result<CandidateOutcome>,
    ) -> Result<bool> {
        let mut walks: Vec<BucketCursor> = walks(probe, &ids).collect();
        let buckets = walks.iter().map(|walk| (walk.band, walk.hash));
        self.snapshot.approach(&ids, buckets);
        let mut looking = CandidateScan {
            look,
            left: self.allowance.false_candidates(),
            seen: SeenContents::default(),
        };
        let (mut end, mut depth) = (None, first);
        let limits = self.allowance.limits();
        if first < limits.some_of_bucket {
            // One bucket after the other, because the first one often has enough.
            for walk in &mut walks {
                let mut read = Vec::new();
                walk.read_to(self.snapshot, depth, &mut read)?;
                end = looking.look_at(read)?;
                if end.is_some() {
                    break;
                }
            }
            walks.retain(|walk| !walk.is_done);
            depth = limits.some_of_bucket;
        }
        // Then side by side, and deeper each time, so that what shares most buckets comes first.
        while end.is_none() && !walks.is_empty() {
            let mut read = Vec::new();
            for walk in &mut walks {
                walk.read_to(self.snapshot, depth, &mut read)?;
            }
            walks.retain(|walk| !walk.is_done);
            end = looking.look_at(ranked(read))?;
            depth = limits.deeper(depth);
        }
        if end == Some(ScanEnd::TooManyFalse) {
            self.allowance.cut();
        }
        Ok(end == Some(ScanEnd::Enough))
    }
}

/// A search that looks at candidates.
struct CandidateScan<L> {
    look: L,
    /// The number of candidates that may still fail to match.
    left: usize,
    seen: SeenContents,
}

/// Why the other candidates are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanEnd {
    Enough,
    TooManyFalse,
}

impl<L: FnMut(u32) -> Result<CandidateOutcome>> CandidateScan<L> {
    /// Looks at those candidates that were not seen before, in their order.
    fn look_at(&mut self, candidates: Vec<u32>) -> Result<Option<ScanEnd>> {
        self.seen.reserve(candidates.len().min(self.left));
        for content in candidates {
            if !self.seen.insert(content) {
                continue;
            }
            if self.left == 0 {
                return Ok(Some(ScanEnd::TooManyFalse));
            }
            match (self.look)(content)? {
                CandidateOutcome::False => self.left -= 1,
                CandidateOutcome::Match => {}
                CandidateOutcome::Enough => return Ok(Some(ScanEnd::Enough)),
            }
        }
        Ok(None)
    }
}

/// The contents that were read from some buckets, each once: first those in the most buckets, and
/// of these the youngest.
#[expect(
    clippy::stable_sort_primitive,
    reason = "each bucket was read in order and most contents are in one; these sorts merge such runs"
)]
fn ranked(mut read: Vec<u32>) -> Vec<u32> {
    read.sort();
    let same = read.chunk_by(|a, b| a == b);
    let mut ranks: Vec<u64> = same
        .map(|same| (same.len() as u64) << 32 | u64::from(same[0]))
        .collect();
    ranks.sort();
    ranks.into_iter().rev().map(low32).collect()
}

fn walks<'a>(probe: Probe<'a>, ids: &'a Range<u32>) -> impl Iterator<Item = BucketCursor> + 'a {
    let hashes = (0..).zip(probe.band_hashes);
    let is_asked = move |band| {
        probe
            .bands
            .is_none_or(|bands| bands.binary_search(&band).is_ok())
    };
    let asked = hashes.filter(move |(band, _)| is_asked(*band));
    asked.map(|(band, &hash)| BucketCursor {
        band,
        hash,
        ids: ids.clone(),
        read: 0,
        recent: None,
        is_done: false,
    })
}

impl BucketCursor {
    /// Appends the next contents to `found` until `depth` contents of the bucket are read.
    fn read_to(&mut self, snapshot: &Snapshot, depth: usize, found: &mut Vec<u32>) -> Result<()> {
        while !self.is_done && self.read < depth {
            // A bucket may give its recent contents first and those in tables at the next call.
            let (ids, start) = (self.ids.clone(), found.len());
            let most = start.saturating_add(depth - self.read);
            let bucket = (self.band, self.hash);
            self.is_done = snapshot.read_bucket(bucket, ids, most, &mut self.recent, found)?;
            self.read += found.len() - start;
            // The youngest come first, so what is left is below the last one.
            if let Some(&last) = found[start..].last() {
                self.ids.end = last;
            }
        }
        Ok(())
    }
}

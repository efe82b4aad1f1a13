//! Stored contents that contain a text, or that a text contains.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::lookup::SharedFingerprints;
use crate::codec::low32;
use crate::error::{Error, Result};
use crate::schema::{Schema, check_share};
use crate::storage::Snapshot;
use crate::store::compare::{Allowance, Matcher, Probe, SpreadHasher, VerifiedContent};

/// A threshold that every content with a common shingle reaches.
pub(crate) const ANY: f64 = f64::MIN_POSITIVE;

/// Shorter texts are left out, unless a query says otherwise: in tokens.
const SHORTEST: usize = 20;

/// The number of common fingerprints of which as many contents are read as may be found false.
const COMMON_LISTS: usize = 4;

/// A query by containment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Containment {
    /// The least share of a text's shingles that the other one has; `None` for a query by Jaccard similarity.
    pub(crate) least: Option<f64>,
    /// The number of tokens of the shortest texts.
    pub(crate) shortest: usize,
}

impl Default for Containment {
    fn default() -> Containment {
        Containment {
            least: None,
            shortest: SHORTEST,
        }
    }
}

impl Containment {
    /// The number of shingles of a text of the shortest length that does not repeat itself.
    pub(crate) fn shingles(self, schema: &Schema) -> usize {
        let k = usize::from(schema.shingling().k());
        self.shortest.saturating_add(1).saturating_sub(k)
    }

    /// What one text is to have of another, if this is a query by containment.
    pub(crate) fn bounds(self, schema: &Schema) -> Option<ContainmentBounds> {
        let shingles = self.shingles(schema);
        self.least
            .map(|least| ContainmentBounds { least, shingles })
    }
}

/// How much of one text is to be in the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContainmentBounds {
    /// The least share of the shingles of the shorter text.
    pub(crate) least: f64,
    /// A shorter text has at least as many shingles.
    pub(crate) shingles: usize,
}

/// The contents within `ids` that contain the probe, or that it contains, by id. Some may be removed already.
///
/// Fingerprints are counted before sets are compared (Sarawagi and Kirpal, "Efficient set joins on similarity predicates",
/// 2004). One shingle in w is a fingerprint, so of n shingles that both have, n / w are, more or less. A content with
/// fewer than half of that is not compared.
///
/// Of a fingerprint of too many contents, the youngest are read and counted. Others may have it, too, as far as is known.
/// `allowance` bounds how many contents that have nothing but such fingerprints turn out false.
pub(crate) fn contained(
    snapshot: &Snapshot,
    allowance: &Allowance,
    probe: Probe<'_>,
    bounds: ContainmentBounds,
    ids: Range<u32>,
) -> Result<Vec<VerifiedContent>> {
    check_share("containment", bounds.least)?;
    if snapshot.schema.passage() == 0 {
        let reason = "the store keeps no fingerprints, which it is found by; a store gets them when it is made, or by \
                      a rebuild with the texts. PairQuery::containment needs none"
            .to_owned();
        let parameter = "containment";
        return Err(Error::InvalidQuery { parameter, reason });
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    // Rare fingerprints give the contents to compare. For common ones, it is counted how many of them a content has.
    let distinct = probe.shingles.as_slice();
    let most = allowance.false_candidates().saturating_add(distinct.len());
    let shared = SharedFingerprints::find(snapshot, distinct, &[], most)?;
    let common = CommonCounts::read(snapshot, distinct, &shared, most)?;
    let mut comparer = ContainmentComparer {
        snapshot,
        probe,
        bounds,
        matcher: Matcher::new(snapshot, probe, ANY),
        common: &common,
        found: Vec::new(),
    };
    for of in &shared.contents {
        if ids.contains(&of.content) {
            comparer.compare(of.content, of.fingerprints)?;
        }
    }
    // Contents that have only common fingerprints are compared last, and not all of them if too many turn out false.
    let is_counted = |content: &u32| {
        let found = shared
            .contents
            .binary_search_by_key(content, |of| of.content);
        found.is_ok()
    };
    let mut false_ones = 0;
    for content in common.contents() {
        let is_left = ids.contains(&content) && !is_counted(&content);
        if is_left && false_ones < allowance.false_candidates() {
            false_ones += usize::from(comparer.compare(content, 0)? == Some(false));
        }
    }
    if !common.floors.is_empty() || false_ones >= allowance.false_candidates() {
        allowance.cut();
    }
    comparer
        .found
        .sort_unstable_by_key(|verified| verified.content);
    Ok(comparer.found)
}

/// How many common fingerprints contents have.
struct CommonCounts {
    counts: HashMap<u32, u32, BuildHasherDefault<SpreadHasher>>,
    /// For each fingerprint of which not all contents were read, the oldest that was, ascending.
    floors: Vec<u32>,
}

impl CommonCounts {
    /// Reads at most `most` contents of each fingerprint, and a few times as many of all.
    fn read(
        snapshot: &Snapshot,
        distinct: &[u32],
        shared: &SharedFingerprints,
        most: usize,
    ) -> Result<CommonCounts> {
        let mut counts = HashMap::<u32, u32, BuildHasherDefault<SpreadHasher>>::default();
        let mut floors = Vec::new();
        // Each common fingerprint gets the same share of the contents that are read.
        let all = most.saturating_mul(COMMON_LISTS);
        let each = (all / shared.common.len().max(1)).clamp(1, most);
        let mut read = Vec::new();
        for fingerprint in &shared.common {
            snapshot.with_fingerprint(distinct[fingerprint.rank], each, &mut read)?;
            for &content in &read {
                *counts.entry(content).or_default() += 1;
            }
            // Whether older contents have the fingerprint is not known.
            if read.len() < fingerprint.contents {
                floors.extend(read.last());
            }
        }
        floors.sort_unstable();
        Ok(CommonCounts { counts, floors })
    }

    /// The contents that were read, ascending.
    fn contents(&self) -> Vec<u32> {
        let mut contents: Vec<u32> = self.counts.keys().copied().collect();
        contents.sort_unstable();
        contents
    }

    /// The number of common fingerprints that a content has, at most.
    fn of(&self, content: u32) -> u32 {
        let read = self.counts.get(&content).copied().unwrap_or_default();
        // A fingerprint of which only younger contents were read counts as well, since this one may have it.
        let unread = self.floors.len() - self.floors.partition_point(|&floor| floor <= content);
        read + low32(unread as u64)
    }
}

/// Compares a probe with contents of which the number of fingerprints in common is known.
struct ContainmentComparer<'a> {
    snapshot: &'a Snapshot,
    probe: Probe<'a>,
    bounds: ContainmentBounds,
    matcher: Matcher<'a>,
    common: &'a CommonCounts,
    found: Vec<VerifiedContent>,
}

impl ContainmentComparer<'_> {
    /// Compares a content that has `count` fingerprints in common, besides common ones. Returns whether one contains the
    /// other, or `None` if fingerprints rule it out.
    fn compare(&mut self, content: u32, count: u32) -> Result<Option<bool>> {
        let row = self.snapshot.content(content)?;
        let shorter = self.probe.shingles.len().min(row.shingle_count as usize);
        let is_long = shorter >= self.bounds.shingles || row.hash == *self.probe.hash;
        if !is_long || f64::from(count + self.common.of(content)) < self.least_count(shorter) {
            return Ok(None);
        }
        let verified = self.matcher.verify(content)?;
        let verified = verified
            .filter(|verified| verified.likeness.larger_containment() >= Some(self.bounds.least));
        self.found.extend(verified);
        Ok(Some(verified.is_some()))
    }

    /// Half the number of fingerprints, on average, of the least number of shingles that two texts are to have in common,
    /// the shorter of `shorter` shingles.
    fn least_count(&self, shorter: usize) -> f64 {
        let step = self.snapshot.schema.fingerprint_step().unwrap_or(1);
        (self.bounds.least * shorter as f64 / f64::from(step) / 2.0).ceil()
    }
}

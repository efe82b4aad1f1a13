//! Which contents match a probe.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::allowance::Allowance;
use super::matching::{Matcher, Probe, Verified};
use crate::error::Result;
use crate::storage::Snapshot;

/// Contents of a bucket that are read at first where one match may be enough.
const FEW: usize = 64;

/// A search through the buckets of a snapshot.
///
/// Each bucket is gone through from its youngest content on until it ends, or has had so many false
/// candidates as are allowed. So what is found depends on the contents and the allowance alone, not
/// on which of them are in tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) allowance: &'a Allowance,
    pub(crate) threshold: f64,
}

/// A way through a bucket.
#[derive(Debug)]
struct Walk {
    band: u32,
    hash: u32,
    /// The contents that were not read.
    ids: Range<u32>,
    is_done: bool,
}

/// What a content of a bucket turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    False,
    Match,
    /// A match that makes all others needless.
    Enough,
}

impl Look {
    fn of(is_match: bool) -> Look {
        if is_match { Look::Match } else { Look::False }
    }
}

impl Search<'_> {
    /// The contents within `ids` that match, ordered by id; recent ones may be removed already.
    pub(crate) fn matches(&self, probe: Probe<'_>, ids: Range<u32>) -> Result<Vec<Verified>> {
        let mut matcher = Matcher::new(self.snapshot, probe, self.threshold);
        let mut candidates = Vec::new();
        if probe.band_hashes.is_empty() {
            // A text without tokens is in no bucket; only its exact copies are like it.
            self.snapshot.copies(probe.hash, &mut candidates)?;
            candidates.retain(|content| ids.contains(content));
            return matcher.verify_all(&candidates);
        }
        let mut large = Vec::new();
        for mut walk in walks(probe, &ids) {
            let start = candidates.len();
            let full = start.saturating_add(self.allowance.false_candidates());
            while !walk.is_done && candidates.len() < full {
                walk.read(self.snapshot, full, &mut candidates)?;
            }
            if !walk.is_done {
                large.push((walk, candidates[start..].to_vec()));
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let matches = matcher.verify_all(&candidates)?;
        if large.is_empty() {
            return Ok(matches);
        }
        let mut compared = Compared {
            matcher,
            candidates,
            matches,
            later: HashMap::new(),
            later_matches: Vec::new(),
        };
        for (walk, read) in large {
            let look = |content| Ok(Look::of(compared.is_match(content)?));
            self.follow(walk, read, look)?;
        }
        let mut matches = compared.matches;
        matches.extend(compared.later_matches);
        matches.sort_unstable_by_key(|verified| verified.content);
        Ok(matches)
    }

    /// Whether a content within `ids` matches and `counts`. It stops at the first, and reads no
    /// more of a bucket than it needs, so that a large cluster of near-copies costs no more than a
    /// small one.
    pub(crate) fn any(
        &self,
        probe: Probe<'_>,
        ids: Range<u32>,
        mut counts: impl FnMut(u32) -> Result<bool>,
    ) -> Result<bool> {
        let mut matcher = Matcher::new(self.snapshot, probe, self.threshold);
        let mut compared = HashMap::new();
        for walk in walks(probe, &ids) {
            let look = |content| {
                let unseen = match compared.entry(content) {
                    Entry::Occupied(seen) => return Ok(Look::of(*seen.get())),
                    Entry::Vacant(unseen) => unseen,
                };
                let is_match = *unseen.insert(matcher.reaches(content)?);
                if is_match && counts(content)? {
                    return Ok(Look::Enough);
                }
                Ok(Look::of(is_match))
            };
            if self.follow(walk, Vec::new(), look)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes through a bucket, of which `read` was read already, as far as its false candidates
    /// allow; says whether there was enough before.
    fn follow(
        &self,
        mut walk: Walk,
        mut read: Vec<u32>,
        mut look: impl FnMut(u32) -> Result<Look>,
    ) -> Result<bool> {
        let mut left = self.allowance.false_candidates();
        let mut taken = 0;
        loop {
            for &content in &read {
                if left == 0 {
                    self.allowance.pass_over();
                    return Ok(false);
                }
                match look(content)? {
                    Look::False => left -= 1,
                    Look::Match => {}
                    Look::Enough => return Ok(true),
                }
            }
            if walk.is_done {
                return Ok(false);
            }
            taken += read.len();
            read.clear();
            // Recent contents are gone past anew each time, so ever more are read at a time.
            let most = if left == 0 { 1 } else { taken.max(FEW) };
            walk.read(self.snapshot, most, &mut read)?;
        }
    }
}

fn walks<'a>(probe: Probe<'a>, ids: &'a Range<u32>) -> impl Iterator<Item = Walk> + 'a {
    (0..).zip(probe.band_hashes).map(|(band, &hash)| Walk {
        band,
        hash,
        ids: ids.clone(),
        is_done: false,
    })
}

impl Walk {
    /// Appends the next contents to `found`, which has room for one, until there are `most` in it
    /// or no more that are read together.
    fn read(&mut self, snapshot: &Snapshot, most: usize, found: &mut Vec<u32>) -> Result<()> {
        let start = found.len();
        let ids = self.ids.clone();
        self.is_done = snapshot.read_bucket(self.band, self.hash, ids, most, found)?;
        if let Some(&last) = found[start..].last() {
            self.ids.end = last;
        }
        Ok(())
    }
}

/// Contents that were compared with a probe, and what came of it.
#[derive(Debug)]
struct Compared<'a> {
    matcher: Matcher<'a>,
    /// Those that were compared first, and those of them that match, both ordered by id.
    candidates: Vec<u32>,
    matches: Vec<Verified>,
    later: HashMap<u32, bool>,
    later_matches: Vec<Verified>,
}

impl Compared<'_> {
    fn is_match(&mut self, content: u32) -> Result<bool> {
        if self.candidates.binary_search(&content).is_ok() {
            let found = self.matches.binary_search_by_key(&content, |m| m.content);
            return Ok(found.is_ok());
        }
        if let Some(&is_match) = self.later.get(&content) {
            return Ok(is_match);
        }
        let verified = self.matcher.verify(content)?;
        self.later.insert(content, verified.is_some());
        self.later_matches.extend(verified);
        Ok(verified.is_some())
    }
}

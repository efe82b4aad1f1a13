//! Compares a text with stored contents, shingle by shingle.

use std::cell::OnceCell;

use super::lookup::TextShingles;
use super::runs::{ShingleRun, held, runs};
use crate::codec::{low32, words};
use crate::error::Result;
use crate::storage::{PackedShingles, Snapshot};
use crate::text::ShingleSet;

/// A shingle that a text repeats more often shows no place.
const REPEATED: usize = 16;

/// How many shingles are compared in the order of two sets in the time in which one is searched for.
const SEARCHED: usize = 8;

/// A content with passages.
pub(super) struct HoldingContent {
    pub(super) keys: Vec<String>,
    pub(super) runs: Vec<ShingleRun>,
    /// For each run, the token with which it begins in the content.
    pub(super) starts: Vec<Option<u32>>,
}

/// Compares a text with contents.
pub(super) struct PassageComparer<'a> {
    snapshot: &'a Snapshot,
    shingles: &'a TextShingles,
    /// Known once a place is asked for.
    places: OnceCell<PlacesByRank>,
    /// The number of tokens over which runs are joined.
    gap: usize,
    /// The number of shingles of a long run.
    long: usize,
    /// The shingles at every `long`-th place, ascending: a long run has one of them. `None` if runs are joined.
    signs: Option<Vec<u32>>,
    /// Whether each long run has a fingerprint of its content.
    has_fingerprint: bool,
    /// The least number of distinct shingles of a long run that is not joined.
    fewest: usize,
    set: ShingleSet,
    held: Vec<bool>,
}

impl<'a> PassageComparer<'a> {
    /// A run is long if it has at least `long` shingles.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        shingles: &'a TextShingles,
        gap: usize,
        long: usize,
    ) -> PassageComparer<'a> {
        // Without a gap, a long run covers one of every `long` places, so a set without their shingles has no long run.
        let signs = shingles.ranks.iter().skip(long - 1).step_by(long);
        let signs = (gap == 0 && long > 1).then(|| {
            let mut signs: Vec<u32> = signs.copied().collect();
            signs.sort_unstable();
            signs.dedup();
            let shingle = |rank: u32| shingles.distinct[rank as usize];
            signs.into_iter().map(shingle).collect()
        });
        PassageComparer {
            snapshot,
            shingles,
            places: OnceCell::new(),
            has_fingerprint: snapshot
                .schema
                .fingerprint_step()
                .is_some_and(|step| step as usize <= long),
            gap,
            long,
            signs,
            fewest: long.saturating_sub(shingles.ranks.len() - shingles.distinct.len()),
            set: ShingleSet::default(),
            held: Vec::new(),
        }
    }

    /// The shingles of a content, unless it has no long run. `only` is the rank of its only fingerprint in the text, if it
    /// has no other one there.
    pub(super) fn candidate(
        &self,
        content: u32,
        only: Option<u32>,
    ) -> Result<Option<PackedShingles<'a>>> {
        let (row, packed) = self.snapshot.content_and_shingles(content)?;
        let Some(signs) = &self.signs else {
            return Ok(Some(packed));
        };
        if (row.shingle_count as usize) < self.fewest {
            return Ok(None);
        }
        // A long run has the fingerprint, so only the signs beside it can be in one.
        let beside = only.and_then(|rank| self.signs_beside(rank));
        let has_sign = packed.has_any(beside.as_ref().unwrap_or(signs))?;
        Ok(has_sign.then_some(packed))
    }

    /// The long runs of a text in the shingles of a content, and maybe shorter ones.
    pub(super) fn runs(&mut self, packed: &PackedShingles<'_>) -> Result<Vec<ShingleRun>> {
        packed.unpack(&mut self.set)?;
        if self.signs.is_some()
            && let Some(runs) = self.few_runs()
        {
            return Ok(runs);
        }
        // Otherwise all places are gone through: both sides ascend, so this takes one pass over the set.
        held(&self.shingles.distinct, self.set.as_slice(), &mut self.held);
        let ranks = &self.shingles.ranks;
        let is_held =
            |place: usize| self.held[ranks[place] as usize] && !self.shingles.is_ignored(place);
        let k = usize::from(self.snapshot.schema.shingling().k());
        Ok(runs(ranks.len(), k, self.gap, is_held))
    }

    /// The long runs of the set, looked for around every `long`-th place; `None` if it takes less time to go through all
    /// places.
    fn few_runs(&self) -> Option<Vec<ShingleRun>> {
        let TextShingles {
            distinct, ranks, ..
        } = self.shingles;
        let set = self.set.as_slice();
        let is_held = |place: &usize| {
            let shingle = distinct[ranks[*place] as usize];
            set.binary_search(&shingle).is_ok() && !self.shingles.is_ignored(*place)
        };
        let places = (self.long - 1..ranks.len()).step_by(self.long);
        let places: Vec<usize> = places.filter(is_held).collect();
        // Each place costs a binary search in both directions, which is more than a pass if there are many.
        if places.len() * self.long * SEARCHED > ranks.len() + set.len() {
            return None;
        }
        let mut runs: Vec<ShingleRun> = Vec::new();
        for place in places {
            if runs.last().is_some_and(|run| place < run.places.end) {
                continue;
            }
            let before = (0..place).rev().find(|place| !is_held(place));
            let after = (place..ranks.len()).find(|place| !is_held(place));
            let start = before.map_or(0, |before| before + 1);
            runs.push(ShingleRun::of(start..after.unwrap_or(ranks.len())));
        }
        Some(runs)
    }

    /// The token of a content with which each of its runs begins, if its fingerprints show exactly one.
    pub(super) fn starts(&self, content: u32, runs: &[ShingleRun]) -> Result<Vec<Option<u32>>> {
        let step = self.snapshot.schema.fingerprint_step().unwrap_or(1) as usize;
        let fingerprints: Vec<u32> = words(self.snapshot.fingerprints(content)?).collect();
        // Each fingerprint in the first stretch of a run shows where that would begin in the content: every `step`-th
        // shingle is one.
        let mut shown: Vec<Vec<usize>> = vec![Vec::new(); runs.len()];
        for (number, &fingerprint) in fingerprints.iter().enumerate() {
            for &place in self.places(fingerprint) {
                let place = place as usize;
                let after = runs.partition_point(|run| run.places.start <= place);
                let Some(run) = after.checked_sub(1) else {
                    continue;
                };
                let first = runs[run].first();
                if first.contains(&place) {
                    shown[run].extend((number * step).checked_sub(place - first.start));
                }
            }
        }
        // Where a run would begin, all fingerprints of the content that lie in it are those of the text.
        let fits = |run: &ShingleRun, start: usize| {
            let first = run.first();
            let mut numbers = start.div_ceil(step)..(start + first.len()).div_ceil(step);
            numbers.all(|number| {
                let rank = self.shingles.ranks[first.start + number * step - start];
                fingerprints.get(number) == Some(&self.shingles.distinct[rank as usize])
            })
        };
        let runs = runs.iter().zip(shown);
        let starts = runs.map(|(run, mut shown)| {
            shown.sort_unstable();
            shown.dedup();
            shown.retain(|&start| fits(run, start));
            // Several places fit if the content repeats itself.
            match shown[..] {
                [start] => Some(low32(start as u64)),
                _ => None,
            }
        });
        Ok(starts.collect())
    }

    /// The shingles at every `long`-th place that a long run with the shingle of this rank can have, ascending. `None` if all
    /// are to be looked at.
    fn signs_beside(&self, rank: u32) -> Option<Vec<u32>> {
        let places = self.places_of(rank as usize);
        if !self.has_fingerprint || places.is_empty() {
            return None;
        }
        let mut signs = Vec::with_capacity(2 * places.len());
        for &place in places {
            // The signs are at the places long - 1, 2 long - 1, ...: the last one up to this place, and the next one.
            let next = (place as usize + 1) / self.long;
            let beside = [next, next + 1].map(|sign| (sign * self.long).checked_sub(1));
            let ranks = beside.iter().flatten();
            let ranks = ranks.filter_map(|&sign| self.shingles.ranks.get(sign));
            signs.extend(ranks.map(|&rank| self.shingles.distinct[rank as usize]));
        }
        signs.sort_unstable();
        Some(signs)
    }

    /// The places of the text with a shingle, none if they are too many.
    fn places(&self, shingle: u32) -> &[u32] {
        let rank = self.shingles.distinct.binary_search(&shingle);
        rank.map_or(&[], |rank| self.places_of(rank))
    }

    /// The same for the shingle of this rank.
    fn places_of(&self, rank: usize) -> &[u32] {
        let places = self.places.get_or_init(|| PlacesByRank::of(self.shingles));
        let places = places.of_rank(rank);
        if places.len() > REPEATED { &[] } else { places }
    }
}

/// The places of a text by the rank of their shingle.
struct PlacesByRank {
    /// By rank, then ascending.
    places: Vec<u32>,
    /// Where the places of each rank begin, and the end of the last ones.
    starts: Vec<u32>,
}

impl PlacesByRank {
    fn of(shingles: &TextShingles) -> PlacesByRank {
        let mut starts = vec![0; shingles.distinct.len() + 1];
        for &rank in &shingles.ranks {
            starts[rank as usize + 1] += 1;
        }
        for rank in 1..starts.len() {
            starts[rank] += starts[rank - 1];
        }
        let mut ends = starts.clone();
        let mut places = vec![0; shingles.ranks.len()];
        for (place, &rank) in (0..).zip(&shingles.ranks) {
            let end = &mut ends[rank as usize];
            places[*end as usize] = place;
            *end += 1;
        }
        PlacesByRank { places, starts }
    }

    fn of_rank(&self, rank: usize) -> &[u32] {
        &self.places[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

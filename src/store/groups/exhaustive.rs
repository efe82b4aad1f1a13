//! The exact join over the contents of a snapshot.

use std::sync::Arc;

use super::join::{ExactJoin, JoinBounds, JoinedPair, SetSource};
use crate::codec::low32;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::storage::Snapshot;
use crate::text::ShingleSet;

/// The number of pairs to return at a time.
const PAIRS: usize = 1 << 16;

/// The default memory in bytes.
const MEMORY: u64 = 1 << 30;

/// The sets of a snapshot, as far as they count.
#[derive(Clone, Copy, Debug)]
struct CountedSets<'a> {
    snapshot: &'a Snapshot,
    ignored: Option<&'a ShingleSet>,
}

impl<'a> CountedSets<'a> {
    fn of(snapshot: &'a Snapshot, ignored: Option<&'a Arc<ShingleSet>>) -> CountedSets<'a> {
        CountedSets {
            snapshot,
            ignored: ignored.map(|ignored| &**ignored),
        }
    }
}

impl SetSource for CountedSets<'_> {
    fn read(&self, content: u32, shingles: &mut ShingleSet) -> Result<()> {
        self.snapshot.shingles(content, shingles)?;
        if let Some(ignored) = self.ignored {
            shingles.remove(ignored);
        }
        Ok(())
    }
}

/// The pairs of contents that reach a threshold, a few at a time.
#[derive(Debug)]
pub(crate) struct ExhaustivePairs {
    bounds: JoinBounds,
    /// The number of shingles of each content, and 0 for those that are left out. Empty once the join has it.
    sizes: Vec<u32>,
    /// The shingles that do not count.
    ignored: Option<Arc<ShingleSet>>,
    memory: u64,
    /// The number of contents that have shingles, but too few.
    pub(crate) short: u64,
    /// None before the first pairs are requested.
    join: Option<ExactJoin>,
    /// Pairs that were found and not yet returned, the last one first.
    found: Vec<JoinedPair>,
}

impl ExhaustivePairs {
    /// Prepares a search among the contents of at least `least` shingles that are not in `removed`. Those that are
    /// `ignored` do not count.
    pub(crate) fn new(
        snapshot: &Snapshot,
        bounds: JoinBounds,
        least: u32,
        removed: &[u32],
        ignored: Option<&Arc<ShingleSet>>,
    ) -> Result<ExhaustivePairs> {
        // With ignored shingles, a set has to be read to know how many are left.
        let mut sizes = Vec::with_capacity(snapshot.len as usize);
        let sets = CountedSets::of(snapshot, ignored);
        let mut set = ShingleSet::default();
        for content in 0..snapshot.len {
            sizes.push(if sets.ignored.is_some() {
                sets.read(content, &mut set)?;
                low32(set.len() as u64)
            } else {
                snapshot.content(content)?.shingle_count
            });
        }
        // A size of 0 leaves a content out of the join.
        for &content in removed {
            if let Some(size) = sizes.get_mut(content as usize) {
                *size = 0;
            }
        }
        let mut short = 0;
        for size in sizes.iter_mut().filter(|size| **size < least) {
            short += u64::from(std::mem::take(size) > 0);
        }
        Ok(ExhaustivePairs {
            bounds,
            sizes,
            ignored: ignored.cloned(),
            memory: MEMORY,
            short,
            join: None,
            found: Vec::new(),
        })
    }

    /// Prepares a search for the pairs whose Jaccard similarity reaches a threshold.
    ///
    /// # Errors
    ///
    /// [`Error::NoShingles`], or those of reading the store.
    pub(crate) fn by_jaccard(
        threshold: f64,
        snapshot: &Snapshot,
        removed: &[u32],
        ignored: Option<&Arc<ShingleSet>>,
    ) -> Result<ExhaustivePairs> {
        if !snapshot.schema.keeps_shingles() {
            return Err(Error::NoShingles);
        }
        ExhaustivePairs::new(
            snapshot,
            JoinBounds::Jaccard(threshold),
            0,
            removed,
            ignored,
        )
    }

    /// Sets the bytes of memory to use, besides those for each content.
    pub(crate) fn within(self, memory: Option<u64>) -> ExhaustivePairs {
        ExhaustivePairs {
            memory: memory.unwrap_or(MEMORY),
            ..self
        }
    }

    /// Whether the copies of a content are pairs: always, unless shingles are ignored and too few are left. The search
    /// must not have begun.
    pub(crate) fn has_pairs_of_copies(&self, content: u32) -> bool {
        self.ignored.is_none() || self.sizes.get(content as usize) > Some(&0)
    }

    /// The representative of each content, as [`ExactJoin::representatives`] finds it: the search must not have begun.
    pub(crate) fn representatives(
        self,
        snapshot: &Snapshot,
        pool: &Pool,
        is_linked: impl Fn(&JoinedPair) -> bool,
    ) -> Result<Vec<u32>> {
        let sets = CountedSets::of(snapshot, self.ignored.as_ref());
        let join = ExactJoin::new(self.bounds, self.sizes, self.memory, &sets, pool)?;
        join.representatives(&sets, pool, is_linked)
    }

    /// About how many contents were looked up, and the number of all.
    pub(crate) fn looked_up(&self) -> (usize, usize) {
        self.join.as_ref().map_or((0, 1), ExactJoin::looked_up)
    }

    /// The next pairs, which may be an empty list. None at the end.
    pub(crate) fn next(
        &mut self,
        snapshot: &Snapshot,
        pool: &Pool,
    ) -> Result<Option<Vec<JoinedPair>>> {
        if self.found.is_empty() {
            let sets = CountedSets::of(snapshot, self.ignored.as_ref());
            let join = if let Some(join) = &mut self.join {
                join
            } else {
                let sizes = std::mem::take(&mut self.sizes);
                let join = ExactJoin::new(self.bounds, sizes, self.memory, &sets, pool)?;
                self.join.insert(join)
            };
            let Some(found) = join.find(&sets, pool)? else {
                return Ok(None);
            };
            self.found = found;
            self.found.reverse();
        }
        // The list is reversed, so the next pairs are taken from its end without moving the rest.
        let rest = self.found.len().saturating_sub(PAIRS);
        let mut next = self.found.split_off(rest);
        next.reverse();
        Ok(Some(next))
    }
}

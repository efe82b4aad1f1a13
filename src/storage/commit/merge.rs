//! Merging: how postings enter and leave the bucket tables.
//!
//! Postings of new contents are recent: they are in memory. When there are many of them, they are merged into the
//! youngest level of tables. A level takes in all younger postings once they amount to a third of its own, and always
//! while it is small. In a store of n contents, each posting is thus written about log n times, and the large tables
//! are written seldom: this is the log-structured merge-tree (O'Neil, Cheng, Gawlick, O'Neil, Acta Informatica 33,
//! 1996).
//!
//! A merge of a large level takes seconds, and nobody should wait so long for an insert. So it is done in steps, and
//! each commit does as many as its changes pay for. The new tables are built beside those in use, which stay as they are,
//! and the last step puts them in place. A commit of many changes pays for all steps.
//!
//! The postings of a removed content stay in the tables, since taking them out would write a leaf of each list. A merge
//! drops those of the contents that were removed before it began. Once removed contents come to a third of those in a
//! level, the level is merged for their sake.
//!
//! The filters gain the postings during the steps and become durable with the last one. Until then only the handle that
//! began the merge knows what they have, so no other one goes on with it. If that handle is gone, others leave the merge
//! alone until it is overdue, and then do it from the start.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use redb::WriteTransaction;

use crate::clock::Meters;
use crate::codec::{BitSet, low32};
use crate::error::{Error, Result};
use crate::storage::disk;
use crate::storage::format::narrow;
use crate::storage::index::{FilterState, LEVELS, LevelState, MergeState, Meta, catalog, levels};
use crate::storage::limits::Limits;
use crate::storage::parallel::for_each_list;
use crate::storage::postings::update::{self, MergePart};
use crate::storage::postings::{
    BucketError, BucketLists, EmptyFilter, Filter, FilterName, Filters, KeyedLevel, LevelAge,
    OLDEST, Posting, order, prefix_bits,
};
use crate::storage::view::{Snapshot, bucket_error};

/// The number of recent contents from which on they are merged into the tables; a smaller store merges from a sixteenth
/// of the contents in its tables on. Opening a store computes the postings of all recent contents, so more of them would
/// slow it down.
const MAX_MERGE: u64 = 1 << 15;

/// How far a filter of the younger levels may grow: a new one has room for this many times its postings, or, if that is
/// less, for as many as these levels can have before they are merged into the oldest one.
const GROWTH: u64 = 8;

/// What the handle that merges knows of its merge.
#[derive(Debug)]
pub(crate) struct RunningMerge {
    /// The number of this handle in [`MergeState`].
    owner: u64,
    /// The contents that were removed when the merge began, of those that it would take in. It drops them.
    dropped: BitSet,
    /// New filters whose words are not all written yet.
    empty: Vec<(LevelAge, EmptyFilter)>,
    /// The filters that gain postings.
    gains: Vec<GainingFilter>,
    /// The approximate number of steps. A step writes a piece of an empty filter, builds a part of a list, or makes a
    /// piece of a filter durable.
    steps: u64,
    /// The number of [changes] that have paid for steps.
    paid: u64,
}

/// A filter that gains postings.
#[derive(Debug)]
struct GainingFilter {
    age: LevelAge,
    filter: Arc<Filter>,
    /// Whether the filter is new and lacks the postings in the tables of its levels.
    is_new: bool,
    /// Words from this one on are not durable yet.
    unsynced: Option<usize>,
}

impl GainingFilter {
    fn of(age: LevelAge, filter: Arc<Filter>, is_new: bool) -> GainingFilter {
        GainingFilter {
            age,
            filter,
            is_new,
            unsynced: Some(0),
        }
    }
}

/// A commit, as far as its bucket tables are concerned.
pub(crate) struct BucketCommit<'a> {
    pub(crate) transaction: &'a WriteTransaction,
    /// The last commit, and what was appended since.
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) lists: BucketLists,
    /// The number of contents that should have fingerprints and have none.
    pub(crate) unfingerprinted: u64,
    /// Whether the handle has not committed before. It may be gone before a merge ends, so it does all of it or nothing.
    pub(crate) is_first: bool,
    pub(crate) threads: usize,
    pub(crate) limits: &'a Limits,
    pub(crate) meters: &'a Meters,
}

impl BucketCommit<'_> {
    /// Counts the contents `unnamed`, sorted, as removed, and merges the recent ones of the snapshot as far as that is
    /// due.
    ///
    /// Updates `meta` accordingly. Returns the filters over all postings in tables, which are durable by then.
    pub(crate) fn run(
        &self,
        unnamed: &[u32],
        meta: &mut Meta,
        merging: &mut Option<RunningMerge>,
    ) -> Result<Filters> {
        self.meters.merging.time(|| {
            count_removed(unnamed, meta);
            self.delete_replaced(meta)?;
            self.merge(meta, merging)
        })
    }

    /// Merges the recent contents, and drops postings of removed ones, as far as that is due.
    fn merge(&self, meta: &mut Meta, merging: &mut Option<RunningMerge>) -> Result<Filters> {
        // `due` is the number of recent contents from which on a merge pays, `spread` the number of changes that pay
        // for it.
        let due = (meta.posted() / 16).clamp(self.limits.merged, MAX_MERGE);
        let spread = self.spread(due);
        let recent = meta.contents - meta.banded();
        // A merge is continued only by the handle that began it: another one does not know what the filters gained.
        let is_own = |own: &RunningMerge| own.owner == meta.merge.owner;
        let mut own = match merging.take().filter(is_own) {
            Some(own) => own,
            None if self.leaves_it(recent, due, meta) => return Ok(self.snapshot.filters.clone()),
            None => {
                self.give_up(meta)?;
                self.begin(meta)?
            }
        };
        // A commit does the share of the steps that its changes have in `spread`. If they exceed it, or the merge is far
        // behind, the commit does all.
        let unpaid = changes(meta).saturating_sub(own.paid);
        let is_all =
            self.is_first || unpaid >= spread || self.is_due(recent, due, 4 * spread, meta);
        let steps = if is_all {
            u64::MAX
        } else {
            (unpaid * own.steps).div_ceil(spread).max(1)
        };
        own.paid = changes(meta);
        if self.step(steps, meta, &mut own)? {
            return self.put_in_place(meta, &own);
        }
        *merging = Some(own);
        Ok(self.snapshot.filters.clone())
    }

    /// Whether this handle does not begin a merge.
    fn leaves_it(&self, recent: u64, due: u64, meta: &Meta) -> bool {
        let spread = self.spread(due);
        // A handle without a commit may not live to end a merge, and two handles cannot share one. Unless it is late or
        // this commit pays for all of it, leave it.
        let is_for_others = self.is_first || meta.merge.is_under_way();
        let is_overdue = self.is_due(recent, due, 2 * spread, meta);
        let changed = changes(meta).saturating_sub(changes(&self.snapshot.tables.meta));
        let is_due = self.is_due(recent, due, 0, meta);
        !is_due || (is_for_others && !is_overdue && changed < spread)
    }

    /// Whether a merge was due `late` changes ago.
    fn is_due(&self, recent: u64, due: u64, late: u64, meta: &Meta) -> bool {
        recent >= due + late || worn(&meta.levels, late, self.limits).is_some()
    }

    /// Begins a merge, whose steps the changes of this commit are the first to pay for.
    fn begin(&self, meta: &mut Meta) -> Result<RunningMerge> {
        // What is merged: all levels up to `into`, and the recent contents without the removed ones.
        let recent = meta.contents - meta.banded();
        let into = target(&meta.levels, recent, self.limits);
        let start = narrow(self.path(), levels::start(&meta.levels, into))?;
        let end = narrow(self.path(), meta.contents)?;
        let removed = catalog::removed_within(self.transaction, start..end)
            .map_err(|error| self.snapshot.in_index(error))?;
        let is_old = |&id: &u32| u64::from(id) < meta.banded();
        let added = recent - (removed.len() - removed.partition_point(is_old)) as u64;
        let levels = &meta.levels[..=into];
        let posted = levels.iter().map(|state| state.posted).sum::<u64>() + added;
        // Keys and parts are fixed now, since all steps must agree on them. No part may split a leaf.
        let before = narrow(self.path(), meta.levels[into].prefix_bits)?;
        let prefix = prefix_bits(posted, self.limits.leaf_postings, before);
        let parts = posted.div_ceil(self.limits.merged_part).max(1);
        // Random, so that no other handle takes the merge for its own. 0 means that there is none.
        let owner = RandomState::new().hash_one(self.path()).max(1);
        meta.merge = MergeState {
            owner,
            into: into as u64,
            end: meta.contents,
            posted,
            prefix_bits: prefix.into(),
            part_bits: u64::from(parts.next_power_of_two().ilog2().min(prefix)),
            ..MergeState::default()
        };
        // Each step is counted once: parts of lists, pieces of new filters, and pieces of filters to sync.
        let mut merging = RunningMerge {
            owner,
            dropped: BitSet::of(&removed),
            empty: Vec::new(),
            gains: Vec::new(),
            steps: self.parts(&meta.merge),
            paid: changes(&self.snapshot.tables.meta),
        };
        let after = Meta {
            levels: levels_after(meta),
            ..*meta
        };
        // A filter that is missing, full or damaged is replaced. Of the others, only the one of the target level gains
        // postings.
        for age in LevelAge::ALL
            .into_iter()
            .filter(|age| age.has_tables(&after))
        {
            let postings = self.postings(&after, age.levels())?;
            let is_fit = |filter: &&Arc<Filter>| !filter.is_full(postings) && !filter.met_damage();
            match self.snapshot.filters.get(age).filter(is_fit) {
                Some(filter) if age == LevelAge::of(into) => {
                    merging.steps += filter.syncs();
                    merging
                        .gains
                        .push(GainingFilter::of(age, filter.clone(), false));
                }
                Some(_) => {}
                None => {
                    let words = self.words_of_new(age, postings, &after)?;
                    merging.steps += EmptyFilter::steps(words);
                    meta.filters += 1;
                    *age.next_filter(&mut meta.merge) = meta.filters;
                    let name = FilterName::of(self.path(), meta, meta.filters)?;
                    let folder = disk::parent(self.path());
                    let empty = EmptyFilter::create(folder, name, words)?;
                    merging.empty.push((age, empty));
                }
            }
        }
        Ok(merging)
    }

    /// The number of words of a new filter for the levels of `age`, which have `postings` postings after the merge.
    fn words_of_new(&self, age: LevelAge, postings: u64, after: &Meta) -> Result<u64> {
        let expected = match age {
            // These levels grow until they are merged into the oldest one.
            LevelAge::Young => {
                let oldest = self.postings(after, LevelAge::Old.levels())?;
                (oldest / self.limits.level_ratio).min(postings * GROWTH)
            }
            LevelAge::Old => 0,
        };
        Ok(Filter::words_for(postings, expected))
    }

    /// Does the next steps of a merge, at most `steps`, and returns whether these were the last ones.
    fn step(&self, mut steps: u64, meta: &mut Meta, own: &mut RunningMerge) -> Result<bool> {
        // First the new filters, whose words must exist before they gain postings.
        while steps > 0
            && let Some((age, mut empty)) = own.empty.pop()
        {
            steps -= 1;
            if !empty.write()? {
                own.empty.push((age, empty));
                continue;
            }
            let filter = Arc::new(empty.finish()?);
            own.gains.push(GainingFilter::of(age, filter, true));
        }
        // Then the tables, while the filters gain the postings.
        let parts = self.parts(&meta.merge) - meta.merge.built;
        if parts > 0 && steps > 0 {
            self.build(steps.min(parts), meta, own)?;
        }
        steps = steps.saturating_sub(parts);
        // At last the filters become durable, because the commit that puts the tables in place promises what is in
        // them.
        for gain in &mut own.gains {
            while steps > 0
                && let Some(start) = gain.unsynced
            {
                gain.unsynced = gain.filter.sync_some(start)?;
                steps -= 1;
            }
        }
        let is_built = meta.merge.built == self.parts(&meta.merge);
        Ok(is_built && own.gains.iter().all(|gain| gain.unsynced.is_none()))
    }

    /// Builds the next `parts` parts.
    fn build(&self, parts: u64, meta: &mut Meta, own: &RunningMerge) -> Result<()> {
        let (built, end) = (meta.merge.built, meta.merge.built + parts);
        let added = self.snapshot.recent.base()..narrow(self.path(), meta.merge.end)?;
        let sources = self.sources(meta)?;
        let merge = meta.merge;
        for_each_list(0..self.lists.count(), self.threads, |place| {
            let list = self.lists.by_size(place);
            let parts = self.parts_of(place, &merge);
            // The parts of all lists have consecutive numbers. These are the list's own among the next ones.
            let numbers = built.max(parts.start)..end.min(parts.end);
            if numbers.is_empty() {
                return Ok(());
            }
            let bits = self.part_bits(list, &merge);
            let hashes = |number| update::hashes_of_part(low32(number - parts.start), bits);
            // All parts at once: to look at every recent posting for each part takes longer than to sort them.
            let all = *hashes(numbers.start).start()..=*hashes(numbers.end - 1).end();
            let new = self.new_postings(list, added.clone(), &all, own);
            let mut new = &new[..];
            for number in numbers {
                let hashes = hashes(number);
                let of_part = new.partition_point(|posting| posting.hash() <= *hashes.end());
                let (of_part, rest) = new.split_at(of_part);
                new = rest;
                let part = MergePart {
                    sources: &sources,
                    prefix: narrow(self.path(), merge.prefix_bits)?,
                    hashes,
                    dropped: &own.dropped,
                };
                self.build_part(&merge, own, list, &part, of_part.to_vec())?;
            }
            Ok(())
        })?;
        meta.merge.built = end;
        Ok(())
    }

    /// The recent postings of some hashes and contents in a list that go into a merge, sorted.
    fn new_postings(
        &self,
        list: u32,
        contents: Range<u32>,
        hashes: &RangeInclusive<u32>,
        own: &RunningMerge,
    ) -> Vec<Posting> {
        let new = self.snapshot.recent.postings(list, contents);
        let new = new.filter(|new| hashes.contains(&new.hash()));
        let new = new.filter(|new| !own.dropped.contains(new.id()));
        let mut new = order::sort(new.collect());
        new.dedup();
        new
    }

    /// Builds a part of a list. `new` has its recent postings, sorted.
    fn build_part(
        &self,
        merge: &MergeState,
        own: &RunningMerge,
        list: u32,
        part: &MergePart<'_>,
        new: Vec<Posting>,
    ) -> Result<()> {
        let into = level_of(merge);
        let mut whole = Vec::new();
        // What each filter gains: a new one also what stays in tables, an old one only what it did not have.
        for GainingFilter {
            age,
            filter,
            is_new,
            ..
        } in &own.gains
        {
            let fill = |levels| {
                let insert = |postings: &[Posting]| filter.insert(list, postings);
                let hashes = part.hashes.clone();
                self.snapshot
                    .for_each_in_levels(list, levels, hashes, insert)
            };
            let gains = LevelAge::of(into) == *age;
            // The merged table has everything that this filter is over, so the filter is filled from it below.
            if *is_new && gains && into + 1 == age.levels().end {
                whole.push(filter);
                continue;
            }
            if *is_new {
                fill(age.levels())?;
            }
            if gains {
                // The old filter has nothing of the younger levels, whose postings move there.
                if into == OLDEST {
                    fill(LevelAge::Young.levels())?;
                }
                filter.insert(list, &new);
            }
        }
        let insert = |run: &[Posting]| whole.iter().for_each(|filter| filter.insert(list, run));
        update::merge_part(self.transaction, self.lists.get(list), part, new, insert)
            .map_err(|error| self.in_buckets(error))
    }

    /// Ends a merge: puts its tables in the place of those that it was made of.
    fn put_in_place(&self, meta: &mut Meta, own: &RunningMerge) -> Result<Filters> {
        let sources = self.sources(meta)?;
        let mut merge = std::mem::take(&mut meta.merge);
        let into = KeyedLevel {
            level: level_of(&merge),
            prefix: narrow(self.path(), merge.prefix_bits)?,
        };
        // Within one transaction, readers see either all of the old tables or all of the new ones.
        for list in self.lists.all() {
            let (transaction, replaced) = (self.transaction, &mut meta.replaced);
            update::put_in_place(transaction, list, &sources, into, replaced)
                .map_err(|error| self.in_buckets(error))?;
        }
        meta.levels = levels_after(&Meta { merge, ..*meta });
        let mut filters = self.snapshot.filters.clone();
        // A filter of levels without tables would be read for nothing.
        for age in LevelAge::ALL {
            if !age.has_tables(meta) {
                *age.filter_mut(meta) = FilterState::default();
                filters.set(age, meta, None);
            }
        }
        // With the new mark in file and index, the filter counts as that of this commit.
        for GainingFilter { age, filter, .. } in &own.gains {
            let state = age.filter_mut(meta);
            let mark = filter.sync(state.mark)?;
            let number = match *age.next_filter(&mut merge) {
                0 => state.number,
                new => new,
            };
            *state = FilterState { number, mark };
            filters.set(*age, meta, Some(filter.clone()));
        }
        Ok(filters)
    }

    /// Gives up the merge of another handle, if there is one.
    fn give_up(&self, meta: &mut Meta) -> Result<()> {
        let merge = std::mem::take(&mut meta.merge);
        if !merge.is_under_way() {
            return Ok(());
        }
        let prefix = narrow(self.path(), merge.prefix_bits)?;
        // A list whose first part is built has a table.
        let is_begun = |&place: &u32| self.parts_of(place, &merge).start < merge.built;
        for place in (0..self.lists.count()).filter(is_begun) {
            let list = self.lists.get(self.lists.by_size(place));
            update::give_up(self.transaction, list, prefix, &mut meta.replaced)
                .map_err(|error| self.in_buckets(error))?;
        }
        Ok(())
    }

    /// Deletes as many of the replaced tables as the contents of this commit pay for.
    fn delete_replaced(&self, meta: &mut Meta) -> Result<()> {
        let spread = self.spread(0);
        let mut some = (self.appended() * meta.replaced).div_ceil(spread).max(1);
        while meta.replaced > 0 && some > 0 {
            update::delete_replaced(self.transaction, &mut meta.replaced)
                .map_err(|error| self.in_buckets(error))?;
            some -= 1;
        }
        Ok(())
    }

    /// The tables that a merge is made of, the youngest first.
    ///
    /// Those of the level that it goes into are among them also if it has no contents. They may exist all the same.
    fn sources(&self, meta: &Meta) -> Result<Vec<KeyedLevel>> {
        let level = level_of(&meta.merge);
        let mut sources = Vec::new();
        for younger in 0..level {
            sources.extend(self.tables(&meta.levels, younger)?);
        }
        let none = KeyedLevel { level, prefix: 0 };
        sources.push(self.tables(&meta.levels, level)?.unwrap_or(none));
        Ok(sources)
    }

    /// The tables of a level, if it has any.
    fn tables(&self, levels: &[LevelState; LEVELS], level: usize) -> Result<Option<KeyedLevel>> {
        let LevelState {
            end, prefix_bits, ..
        } = levels[level];
        let prefix = narrow(self.path(), prefix_bits)?;
        Ok((end > levels::start(levels, level)).then_some(KeyedLevel { level, prefix }))
    }

    /// The number of contents over whose commits a merge is spread.
    fn spread(&self, due: u64) -> u64 {
        (due / 2).max(self.limits.merge_spread)
    }

    /// The number of contents that this commit adds.
    fn appended(&self) -> u64 {
        u64::from(self.snapshot.len) - self.snapshot.tables.meta.contents
    }

    /// The number of postings in tables of some levels, with those of removed contents among the fingerprints.
    fn postings(&self, meta: &Meta, levels: Range<usize>) -> Result<u64> {
        let posted: u64 = meta.levels[levels.clone()]
            .iter()
            .map(|state| state.posted)
            .sum();
        // The oldest level of the range has the last number and the lowest ids.
        let (oldest, youngest) = (levels.end.saturating_sub(1), levels.start);
        let start = levels::start(&meta.levels, oldest);
        let ends = [start, meta.levels[youngest].end].map(|id| {
            let id = narrow(self.path(), id)?;
            Ok::<u64, Error>(self.snapshot.ends_before(id)?.fingerprints_end)
        });
        let [start, end] = ends;
        let fingerprints = end?.saturating_sub(start?) / size_of::<u32>() as u64;
        Ok(u64::from(self.lists.per_content()) * posted + fingerprints)
    }

    /// The number of parts of all lists in a merge.
    fn parts(&self, merge: &MergeState) -> u64 {
        self.parts_of(self.lists.count(), merge).start
    }

    /// The parts of the list at a place of the order in which they are merged.
    fn parts_of(&self, place: u32, merge: &MergeState) -> Range<u64> {
        let parts_of = |place| 1_u64 << self.part_bits(self.lists.by_size(place), merge);
        let start = (0..place).map(parts_of).sum();
        start..start + parts_of(place)
    }

    /// A list is merged in two to the power of this many parts.
    fn part_bits(&self, list: u32, merge: &MergeState) -> u32 {
        let list = self.lists.get(list);
        list.part_bits(low32(merge.prefix_bits), low32(merge.part_bits))
    }

    fn path(&self) -> &Path {
        self.snapshot.tables.path()
    }

    fn in_buckets(&self, error: BucketError) -> Error {
        bucket_error(self.path(), error)
    }
}

/// Counts the contents `unnamed`, sorted, as removed. Their postings stay until a merge drops them.
fn count_removed(unnamed: &[u32], meta: &mut Meta) {
    // Removed contents count in the level that has them, and in a merge under way if it takes them in.
    let (levels, merge) = (meta.levels, &mut meta.merge);
    let count = |start, end, posted: &mut u64, removed: &mut u64| {
        let gone = between(unnamed, start, end).len() as u64;
        *posted = posted.saturating_sub(gone);
        *removed = removed.saturating_add(gone);
    };
    for (level, state) in meta.levels.iter_mut().enumerate() {
        let start = levels::start(&levels, level);
        count(start, state.end, &mut state.posted, &mut state.removed);
    }
    if merge.is_under_way() {
        let start = levels::start(&levels, level_of(merge));
        count(start, merge.end, &mut merge.posted, &mut merge.removed);
    }
}

/// The number of changes that pay for merges: contents that were added, and those that left postings in tables.
fn changes(meta: &Meta) -> u64 {
    meta.contents + meta.removed()
}

/// The levels after the merge that is under way.
fn levels_after(meta: &Meta) -> [LevelState; LEVELS] {
    let (mut levels, merge) = (meta.levels, meta.merge);
    let into = level_of(&merge);
    // The merged levels are empty, but they end where the merge ended, so that none of them seems to have contents.
    for younger in &mut levels[..into] {
        *younger = LevelState {
            end: merge.end,
            ..LevelState::default()
        };
    }
    levels[into] = LevelState {
        end: merge.end,
        posted: merge.posted,
        removed: merge.removed,
        prefix_bits: merge.prefix_bits,
    };
    levels
}

/// The level that a merge goes into.
fn level_of(merge: &MergeState) -> usize {
    usize::try_from(merge.into).map_or(OLDEST, |into| into.min(OLDEST))
}

/// The oldest level in which removed contents outnumber, by `late` or more, what makes a merge pay.
fn worn(levels: &[LevelState; LEVELS], late: u64, limits: &Limits) -> Option<usize> {
    levels.iter().rposition(|level| {
        let least = limits.merged.max(level.posted / limits.level_ratio);
        level.removed >= least + late
    })
}

/// The level that `recent` contents, and all levels younger than it, are merged into.
fn target(levels: &[LevelState; LEVELS], recent: u64, limits: &Limits) -> usize {
    let mut younger = recent;
    let mut into = 0;
    // Go on to older levels as long as the next one is small, or not much larger than all that goes into it.
    for (level, older) in (1..).zip(&levels[1..]) {
        younger += levels[into].posted;
        let is_small = older.posted < limits.small_level;
        if !is_small && younger * limits.level_ratio < older.posted {
            break;
        }
        into = level;
    }
    into.max(worn(levels, 0, limits).unwrap_or(0))
}

/// The sorted ids from `start` to `end`.
fn between(ids: &[u32], start: u64, end: u64) -> &[u32] {
    let place = |bound| ids.partition_point(|&id| u64::from(id) < bound);
    ids.get(place(start)..place(end)).unwrap_or_default()
}

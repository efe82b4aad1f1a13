//! Merging: how postings enter and leave the bucket tables.
//!
//! Postings of new contents are recent: they are in memory. When there are many of them, they are merged into the
//! youngest level of tables. A level takes in all younger postings once they amount to a third of its own, and always
//! while it is small. In a store of n contents, each posting is thus written about log n times, and the large tables
//! are written seldom: this is the log-structured merge-tree (O'Neil, Cheng, Gawlick, O'Neil, Acta Informatica 33,
//! 1996).

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use redb::WriteTransaction;

use crate::clock::Meters;
use crate::error::Result;
use crate::storage::disk;
use crate::storage::format::narrow;
use crate::storage::index::{FilterState, LEVELS, LevelState, Meta, catalog, levels};
use crate::storage::limits::Limits;
use crate::storage::parallel::for_each_list;
use crate::storage::postings::{
    Age, Change, Filter, FilterName, Filters, Keyed, List, OLDEST, Posting, order, prefix_bits,
    update,
};
use crate::storage::view::{Snapshot, bucket_error};

/// Recent contents are merged into tables when they number a sixteenth of the contents there, or this many. More of
/// them would slow down opening.
const MAX_MERGE: u64 = 1 << 15;

/// A new filter of the younger levels has room for this many times its postings, or for as many as it can get.
const GROWTH: u64 = 8;

/// Removes the contents `unnamed`, sorted, from the tables, and merges the recent ones of `snapshot` if that is due.
///
/// Updates `meta` accordingly. Returns the filters over all postings in tables, which are durable by then.
pub(crate) fn run(
    transaction: &WriteTransaction,
    snapshot: &Snapshot,
    unnamed: &[u32],
    meta: &mut Meta,
    threads: usize,
    limits: &Limits,
    meters: &Meters,
) -> Result<Filters> {
    let merge = Merge::plan(transaction, snapshot, unnamed, meta, limits)?;
    if !merge.is_empty() {
        meters.merging.time(|| merge.run(transaction, threads))?;
    }
    for Gain { age, filter, .. } in &merge.gains {
        let state = age.filter_mut(meta);
        state.mark = filter.sync(state.mark)?;
    }
    Ok(merge.filters)
}

/// A filter that gains postings.
struct Gain {
    age: Age,
    filter: Arc<Filter>,
    /// Whether the filter is new and lacks the postings in the tables of its levels.
    is_new: bool,
}

/// The filters after a merge into level `into`, and those that gain postings.
fn filters_for(
    snapshot: &Snapshot,
    meta: &mut Meta,
    into: usize,
    limits: &Limits,
) -> Result<(Filters, Vec<Gain>)> {
    let path = snapshot.tables.path();
    let lists = u64::from(snapshot.schema.bands().bands()) + 1;
    let (mut filters, mut gains) = (snapshot.filters.clone(), Vec::new());
    for age in Age::ALL {
        if !age.has_tables(meta) {
            *age.filter_mut(meta) = FilterState::default();
            filters.set(age, meta, None);
            continue;
        }
        let levels = &meta.levels[age.levels()];
        let postings = lists * levels.iter().map(|state| state.posted).sum::<u64>();
        let known = snapshot.filters.get(age);
        let is_fit = |filter: &&Arc<Filter>| !filter.is_full(postings) && !filter.met_damage();
        let fit = known.filter(is_fit);
        let is_new = fit.is_none();
        let filter = match fit {
            Some(filter) => filter.clone(),
            None => Arc::new(new_filter(path, meta, age, postings, lists, limits)?),
        };
        filters.set(age, meta, Some(filter.clone()));
        if is_new || age == Age::of(into) {
            gains.push(Gain {
                age,
                filter,
                is_new,
            });
        }
    }
    Ok((filters, gains))
}

/// Creates an empty filter for the levels of `age`, which have `postings` postings in all lists.
fn new_filter(
    path: &Path,
    meta: &mut Meta,
    age: Age,
    postings: u64,
    lists: u64,
    limits: &Limits,
) -> Result<Filter> {
    let expected = match age {
        // These levels grow until they are merged into the oldest one.
        Age::Young => {
            let most = lists * meta.oldest().posted / limits.level_ratio;
            most.min(postings * GROWTH)
        }
        Age::Old => 0,
    };
    meta.filters += 1;
    *age.filter_mut(meta) = FilterState {
        number: meta.filters,
        mark: 0,
    };
    let name = FilterName::of(path, meta, meta.filters)?;
    Filter::create(
        disk::parent(path),
        name,
        Filter::words_for(postings, expected),
    )
}

/// The level that `recent` contents, and all levels younger than it, are merged into.
fn target(levels: &[LevelState; LEVELS], recent: u64, limits: &Limits) -> usize {
    let mut younger = recent;
    let mut into = 0;
    for (level, older) in (1..).zip(&levels[1..]) {
        younger += levels[into].posted;
        let is_small = older.posted < limits.small_level;
        if !is_small && younger * limits.level_ratio < older.posted {
            break;
        }
        into = level;
    }
    into
}

/// A change of the tables: the contents whose postings are added or removed, ascending.
struct Merge<'a> {
    snapshot: &'a Snapshot,
    /// The levels before the merge.
    levels: [LevelState; LEVELS],
    /// The level that recent and younger contents are merged into, if that is due, with the bits of its leaves' keys
    /// afterwards.
    into: Option<Keyed>,
    /// All of these are in the recent postings.
    add: Vec<u32>,
    /// All of these are in tables.
    remove: &'a [u32],
    filters: Filters,
    gains: Vec<Gain>,
}

impl<'a> Merge<'a> {
    fn plan(
        transaction: &WriteTransaction,
        snapshot: &'a Snapshot,
        unnamed: &'a [u32],
        meta: &mut Meta,
        limits: &Limits,
    ) -> Result<Merge<'a>> {
        let path = snapshot.tables.path();
        let (levels, banded) = (meta.levels, snapshot.recent.base());
        let mut merge = Merge {
            snapshot,
            levels,
            into: None,
            add: Vec::new(),
            remove: below(unnamed, banded.into()),
            filters: snapshot.filters.clone(),
            gains: Vec::new(),
        };
        for (level, state) in meta.levels.iter_mut().enumerate() {
            let removed = merge.removed_from(level..level + 1).len();
            state.posted = state.posted.saturating_sub(removed as u64);
        }
        let recent = u64::from(snapshot.len - banded);
        if recent < (meta.posted() / 16).clamp(limits.merged, MAX_MERGE) {
            return Ok(merge);
        }
        let removed = catalog::removed_since(transaction, banded)
            .map_err(|error| snapshot.in_index(error))?;
        let kept = (banded..snapshot.len).filter(|id| removed.binary_search(id).is_err());
        merge.add = kept.collect();
        let added = merge.add.len() as u64;
        let into = target(&meta.levels, added, limits);
        let posted: u64 = meta.levels[..=into].iter().map(|state| state.posted).sum();
        let end = meta.contents;
        for younger in &mut meta.levels[..into] {
            *younger = LevelState {
                end,
                ..LevelState::default()
            };
        }
        let before = narrow(path, levels[into].prefix_bits)?;
        let prefix = prefix_bits(posted + added, limits.leaf_postings, before);
        meta.levels[into] = LevelState {
            end,
            posted: posted + added,
            prefix_bits: prefix.into(),
        };
        merge.into = Some(Keyed {
            level: into,
            prefix,
        });
        (merge.filters, merge.gains) = filters_for(snapshot, meta, into, limits)?;
        Ok(merge)
    }

    fn is_empty(&self) -> bool {
        self.into.is_none() && self.remove.is_empty()
    }

    /// Those of the contents to remove that are in the levels `some`.
    fn removed_from(&self, some: Range<usize>) -> &'a [u32] {
        let start = levels::start(&self.levels, some.end - 1);
        let ids = below(self.remove, self.levels[some.start].end);
        &ids[below(ids, start).len()..]
    }

    /// The tables of a level before the merge, if it had any.
    fn tables(&self, level: usize) -> Result<Option<Keyed>> {
        let LevelState {
            end, prefix_bits, ..
        } = self.levels[level];
        let start = levels::start(&self.levels, level);
        let prefix = narrow(self.snapshot.tables.path(), prefix_bits)?;
        Ok((end > start).then_some(Keyed { level, prefix }))
    }

    /// Changes all tables, several lists in parallel.
    fn run(&self, transaction: &WriteTransaction, threads: usize) -> Result<()> {
        let lists = self.snapshot.schema.bands().bands() + 1;
        for_each_list(0..lists, threads, |list| {
            self.change_list(transaction, list)
        })
    }

    /// Adds the gained postings of a list to the filters. `new` are those that are in no table yet.
    fn fill_filters(&self, list: u32, new: &[Posting]) -> Result<()> {
        for Gain {
            age,
            filter,
            is_new,
        } in &self.gains
        {
            let fill = |levels| {
                let insert = |postings: &[Posting]| filter.insert(list, postings);
                self.snapshot.for_each_in_levels(list, levels, insert)
            };
            if *is_new {
                fill(age.levels())?;
            }
            let Some(into) = self.into.filter(|into| Age::of(into.level) == *age) else {
                continue;
            };
            if into.level == OLDEST {
                fill(Age::Young.levels())?;
            }
            filter.insert(list, new);
        }
        Ok(())
    }

    fn change_list(&self, transaction: &WriteTransaction, list: u32) -> Result<()> {
        let failed = |error| bucket_error(self.snapshot.tables.path(), error);
        let name = List::of(list);
        let mut level = 0;
        if let Some(into) = self.into {
            level = into.level + 1;
            let change = Change {
                add: self.recent_postings(list),
                remove: self.postings(self.removed_from(0..level), list)?,
            };
            self.fill_filters(list, &change.add)?;
            let mut younger = Vec::new();
            for level in 0..into.level {
                younger.extend(self.tables(level)?);
            }
            let old = self.tables(into.level)?;
            let old = old.unwrap_or(into.with(0));
            let merged = if younger.is_empty() {
                // A list without changes must still exist, with the same key length as the others.
                update::apply(transaction, name, old, into.prefix, change)
            } else {
                update::merge_tables(transaction, name, &younger, old, into.prefix, change)
            };
            merged.map_err(failed)?;
        }
        for level in level..LEVELS {
            let remove = self.postings(self.removed_from(level..level + 1), list)?;
            if let Some(old) = self.tables(level)?.filter(|_| !remove.is_empty()) {
                let add = Vec::new();
                let change = Change { add, remove };
                update::apply(transaction, name, old, old.prefix, change).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The postings that the merge adds to a list, sorted.
    fn recent_postings(&self, list: u32) -> Vec<Posting> {
        let recent = &self.snapshot.recent;
        let posting = |&id: &u32| Some(Posting::new(recent.hash(id, list)?, id));
        let mut postings = Vec::with_capacity(self.add.len());
        postings.extend(self.add.iter().filter_map(posting));
        order::sort(postings)
    }

    /// The postings of `contents` in a list, from their rows, sorted.
    fn postings(&self, contents: &[u32], list: u32) -> Result<Vec<Posting>> {
        let mut postings = Vec::with_capacity(contents.len());
        for &id in contents {
            if let Some(hash) = self.snapshot.list_hash(id, list)? {
                postings.push(Posting::new(hash, id));
            }
        }
        Ok(order::sort(postings))
    }
}

/// The prefix of sorted ids that are below `end`.
fn below(ids: &[u32], end: u64) -> &[u32] {
    &ids[..ids.partition_point(|&id| u64::from(id) < end)]
}

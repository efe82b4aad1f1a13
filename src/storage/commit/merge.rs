//! Merging: how postings get into the bucket tables and out of them.
//!
//! Postings of new contents are recent ones, in memory. When those are many, they are merged into the youngest level of
//! tables; a level takes in all that is younger once that comes to a third of what it has, and always while it is small. So
//! in a store of n contents, each posting is written about log n times, and the large tables seldom: the log-structured
//! merge-tree (O'Neil, Cheng, Gawlick, O'Neil, Acta Informatica 33, 1996).

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use redb::WriteTransaction;

use crate::clock::Meters;
use crate::error::Result;
use crate::storage::format::narrow;
use crate::storage::index::{LEVELS, LevelState, Meta, catalog};
use crate::storage::limits::Limits;
use crate::storage::parallel::for_each_list;
use crate::storage::postings::{
    Change, Filter, FilterName, Keyed, List, Posting, order, prefix_bits, update,
};
use crate::storage::view::{Snapshot, bucket_error};

/// Recent contents are merged into tables when they are a sixteenth of what is there, or this many, for
/// more would make opening slow.
const MAX_MERGE: u64 = 1 << 15;

/// Takes the contents `unnamed`, sorted, out of the tables, merges the recent ones of `snapshot`
/// into them if that is due, and changes `meta` accordingly. Returns the filter over all postings
/// in tables, which is durable then.
pub(crate) fn run(
    transaction: &WriteTransaction,
    snapshot: &Snapshot,
    unnamed: &[u32],
    meta: &mut Meta,
    threads: usize,
    limits: &Limits,
    meters: &Meters,
) -> Result<Option<Arc<Filter>>> {
    let merge = Merge::plan(transaction, snapshot, unnamed, meta, limits)?;
    if merge.is_empty() {
        return Ok(snapshot.filter.clone());
    }
    meters.merging.time(|| merge.run(transaction, threads))?;
    if let Some(filter) = merge.filter.as_ref().filter(|_| !merge.add.is_empty()) {
        filter.sync(meta.banded())?;
    }
    Ok(merge.filter)
}

/// The filter that all contents of the tables are to be in, and whether it is new and empty.
fn filter_for(snapshot: &Snapshot, meta: &mut Meta) -> Result<(Option<Arc<Filter>>, bool)> {
    let lists = u64::from(snapshot.schema.bands().bands()) + 1;
    let postings = meta.posted() * lists;
    let roomy = |filter: &&Arc<Filter>| !filter.is_full(postings);
    if let Some(filter) = snapshot.filter.as_ref().filter(roomy) {
        return Ok((Some(filter.clone()), false));
    }
    let path = snapshot.tables.path();
    meta.filter += 1;
    let folder = path.parent().unwrap_or(Path::new(""));
    let filter = Filter::create(folder, FilterName::of(path, meta)?, postings)?;
    Ok((Some(Arc::new(filter)), true))
}

/// The level that takes in so many recent contents, and all that is younger than its own.
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

/// Contents whose postings enter tables or leave them, ascending.
struct Merge<'a> {
    snapshot: &'a Snapshot,
    /// The levels as they were.
    levels: [LevelState; LEVELS],
    /// The level that recent and younger contents go into, if they are due, and the bits of its leaves' keys afterwards.
    into: Option<Keyed>,
    /// These are all in the recent postings.
    add: Vec<u32>,
    /// These are all in tables.
    remove: &'a [u32],
    filter: Option<Arc<Filter>>,
    /// Whether the filter lacks the postings that are in tables already.
    fills_filter: bool,
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
            filter: snapshot.filter.clone(),
            fills_filter: false,
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
        if added > 0 {
            (merge.filter, merge.fills_filter) = filter_for(snapshot, meta)?;
        }
        Ok(merge)
    }

    fn is_empty(&self) -> bool {
        self.into.is_none() && self.remove.is_empty()
    }

    /// Those of the contents to remove that are in some levels.
    fn removed_from(&self, levels: Range<usize>) -> &'a [u32] {
        let ends = |level: usize| self.levels.get(level).map_or(0, |state| state.end);
        let ids = below(self.remove, ends(levels.start));
        &ids[below(ids, ends(levels.end)).len()..]
    }

    /// The tables of a level as they were, unless it has none.
    fn tables(&self, level: usize) -> Result<Option<Keyed>> {
        let LevelState {
            end, prefix_bits, ..
        } = self.levels[level];
        let older = self.levels.get(level + 1).map_or(0, |older| older.end);
        let prefix = narrow(self.snapshot.tables.path(), prefix_bits)?;
        Ok((end > older).then_some(Keyed { level, prefix }))
    }

    /// Changes all tables, several lists at a time.
    fn run(&self, transaction: &WriteTransaction, threads: usize) -> Result<()> {
        let lists = self.snapshot.schema.bands().bands() + 1;
        for_each_list(0..lists, threads, |list| {
            self.fill_filter(list)?;
            self.change_list(transaction, list)
        })
    }

    fn fill_filter(&self, list: u32) -> Result<()> {
        match &self.filter {
            Some(filter) if self.fills_filter => self
                .snapshot
                .for_each_in_list(list, |postings| filter.insert(list, postings)),
            _ => Ok(()),
        }
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
            if let Some(filter) = &self.filter {
                filter.insert(list, &change.add);
            }
            let mut younger = Vec::new();
            for level in 0..into.level {
                younger.extend(self.tables(level)?);
            }
            let old = self.tables(into.level)?;
            let old = old.unwrap_or(into.with(0));
            let merged = if younger.is_empty() {
                // A list in which nothing changes must be there and keyed like the others.
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

    /// The postings in a list that the merge adds, sorted.
    fn recent_postings(&self, list: u32) -> Vec<Posting> {
        let recent = &self.snapshot.recent;
        let posting = |&id: &u32| Some(Posting::new(recent.hash(id, list)?, id));
        order::sort(self.add.iter().filter_map(posting).collect())
    }

    /// The postings of contents in a list, from their rows, sorted.
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

/// Those of sorted ids that are below an end.
fn below(ids: &[u32], end: u64) -> &[u32] {
    &ids[..ids.partition_point(|&id| u64::from(id) < end)]
}

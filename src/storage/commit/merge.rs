//! Merging: how postings get into the bucket tables and out of them.
//!
//! Postings of new contents are recent ones, in memory. When those are many, they are merged into
//! the young tables of a large store; when what is young comes to a fourth of what is old,
//! everything is merged into the old tables. So a large store that grows by small commits writes
//! its old tables seldom.

use std::path::Path;
use std::sync::Arc;

use redb::WriteTransaction;

use crate::clock::Meters;
use crate::error::Result;
use crate::storage::format::narrow;
use crate::storage::index::{Meta, catalog};
use crate::storage::limits::Limits;
use crate::storage::parallel::for_each_list;
use crate::storage::postings::{
    BucketError, Change, Filter, FilterName, Level, List, Posting, buckets, order, prefix_bits,
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
        filter.sync(meta.banded)?;
    }
    Ok(merge.filter)
}

/// The filter that all contents of the tables are to be in, and whether it is new and empty.
fn filter_for(snapshot: &Snapshot, meta: &mut Meta) -> Result<(Option<Arc<Filter>>, bool)> {
    let lists = u64::from(snapshot.schema.bands().bands()) + 1;
    let postings = (meta.posted + meta.young_posted) * lists;
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

/// Contents whose postings enter tables or leave them, ascending.
struct Merge<'a> {
    snapshot: &'a Snapshot,
    /// These are all in the recent postings.
    add: Vec<u32>,
    remove_old: Vec<u32>,
    remove_young: Vec<u32>,
    /// Whether all that is young goes into the old tables.
    ages: bool,
    /// Bits of the leaves' keys before and after.
    old_bits: (u32, u32),
    young_bits: (u32, u32),
    filter: Option<Arc<Filter>>,
    /// Whether the filter lacks the postings that are in tables already.
    fills_filter: bool,
}

impl<'a> Merge<'a> {
    fn plan(
        transaction: &WriteTransaction,
        snapshot: &'a Snapshot,
        unnamed: &[u32],
        meta: &mut Meta,
        limits: &Limits,
    ) -> Result<Merge<'a>> {
        let path = snapshot.tables.path();
        let (aged, banded) = (narrow(path, meta.aged)?, snapshot.recent.base());
        let posted = &unnamed[..unnamed.partition_point(|&id| id < banded)];
        let (remove_old, remove_young) = posted.split_at(posted.partition_point(|&id| id < aged));
        meta.posted = meta.posted.saturating_sub(remove_old.len() as u64);
        meta.young_posted = meta.young_posted.saturating_sub(remove_young.len() as u64);
        let mut add = Vec::new();
        let recent = u64::from(snapshot.len - banded);
        let in_tables = meta.posted + meta.young_posted;
        if recent >= (in_tables / 16).clamp(limits.merged, MAX_MERGE) {
            let removed = catalog::removed_since(transaction, banded)
                .map_err(|error| snapshot.in_index(error))?;
            let kept = (banded..snapshot.len).filter(|id| removed.binary_search(id).is_err());
            add = kept.collect();
            meta.young_posted += add.len() as u64;
            meta.banded = meta.contents;
        }
        let many = meta.posted >= limits.many_old.max(meta.young_posted * limits.old_to_young);
        let (filter, fills_filter) = if add.is_empty() {
            (snapshot.filter.clone(), false)
        } else {
            filter_for(snapshot, meta)?
        };
        let ages = !add.is_empty() && !many;
        let old_before = narrow(path, meta.prefix_bits)?;
        let young_before = narrow(path, meta.young_prefix_bits)?;
        if ages {
            meta.posted += std::mem::take(&mut meta.young_posted);
            meta.aged = meta.banded;
            meta.young_prefix_bits = 0;
        } else {
            meta.young_prefix_bits =
                prefix_bits(meta.young_posted, limits.leaf_postings, young_before).into();
        }
        meta.prefix_bits = prefix_bits(meta.posted, limits.leaf_postings, old_before).into();
        Ok(Merge {
            snapshot,
            add,
            remove_old: remove_old.to_vec(),
            remove_young: remove_young.to_vec(),
            ages,
            old_bits: (old_before, narrow(path, meta.prefix_bits)?),
            young_bits: (young_before, narrow(path, meta.young_prefix_bits)?),
            filter,
            fills_filter,
        })
    }

    fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove_old.is_empty() && self.remove_young.is_empty()
    }

    /// Changes all tables, several lists at a time.
    fn run(&self, transaction: &WriteTransaction, threads: usize) -> Result<()> {
        let lists = self.snapshot.schema.bands().bands() + 1;
        for_each_list(0..lists, threads, |list| {
            self.change_list(transaction, list)
        })
    }

    fn change_list(&self, transaction: &WriteTransaction, list: u32) -> Result<()> {
        let mut old = Change {
            add: Vec::new(),
            remove: self.postings(&self.remove_old, list)?,
        };
        let young = Change {
            add: self.recent_postings(list),
            remove: self.postings(&self.remove_young, list)?,
        };
        if let Some(filter) = &self.filter {
            let insert = |posting: Posting| filter.insert(list, posting.hash());
            if self.fills_filter {
                self.snapshot.for_each_in_list(list, insert)?;
            }
            young.add.iter().copied().for_each(insert);
        }
        let tables = &self.snapshot.tables;
        let name = List::of(list);
        let apply = |level, (before, after), change: &Change| {
            buckets::apply(transaction, name, level, before, after, change)
        };
        let mut change = || -> Result<(), BucketError> {
            if self.ages {
                old.add = buckets::take_young(transaction, name, self.young_bits.0, &young)?;
            } else if !self.add.is_empty() || !young.is_empty() {
                // A list in which nothing changes must be there and keyed like the others.
                apply(Level::Young, self.young_bits, &young)?;
            }
            if self.ages || !old.is_empty() {
                apply(Level::Old, self.old_bits, &old)?;
            }
            Ok(())
        };
        change().map_err(|error| bucket_error(tables.path(), error))
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

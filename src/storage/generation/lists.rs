//! The bucket tables of the next generation.

use std::ops::Range;

use redb::WriteTransaction;

use super::NextGeneration;
use super::columns::ProgressFn;
use crate::codec::low32;
use crate::error::Result;
use crate::sketch::Signer;
use crate::storage::columns::ColumnView;
use crate::storage::format::{PerColumn, narrow};
use crate::storage::index::FilterState;
use crate::storage::parallel::for_each_list;
use crate::storage::postings::{
    ALL_HASHES, Filter, KeyedLevel, LevelAge, OLDEST, Posting, PostingTables, order, prefix_bits,
    update,
};
use crate::storage::view::{ContentRows, Snapshot, bucket_error};

/// The size in bytes of a posting in memory during sorting.
const POSTING_BYTES: u64 = 16;

/// The columns of the next generation, ready to read.
struct NextViews {
    signer: Signer,
    columns: PerColumn<ColumnView>,
    snapshot: Snapshot,
}

impl NextGeneration {
    /// Writes the lists that are still missing, from the rows.
    ///
    /// Each of the `threads` holds the postings of one list in memory, or of a part of a list if whole lists would
    /// exceed `memory` bytes.
    pub(crate) fn post(
        &mut self,
        snapshot: &Snapshot,
        threads: usize,
        memory: u64,
        watch: &mut ProgressFn<'_>,
    ) -> Result<()> {
        // At the first list, the number of contents in the lists is fixed. Contents that come later are added by
        // `post_rest`.
        if self.state.lists == 0 {
            self.meta.set_banded(self.meta.contents);
            let skipped = if self.plan.renumbers {
                0
            } else {
                self.left_out.len()
            };
            self.state.posted = self.rows()? - low32(skipped as u64);
            self.count_posted(0);
        }
        let views = self.views(snapshot)?;
        let prefix = self.keyed()?.prefix;
        // The postings of a list are sorted in memory. If they do not fit, each part of the hashes is sorted on its
        // own.
        let parts = |postings: u64| {
            let need = postings * POSTING_BYTES * threads as u64;
            let parts = need.div_ceil(memory.max(1)).next_power_of_two().ilog2();
            parts.min(prefix)
        };
        let per_checkpoint = self.limits.checkpoint_postings / self.meta.banded().max(1);
        let per_checkpoint = low32(per_checkpoint.clamp(threads as u64, self.lists().into()));
        while self.state.lists < self.lists() {
            let end = self.lists().min(self.state.lists + per_checkpoint);
            let transaction = self.begin_write()?;
            let write = |list| {
                let postings = self.most_postings(list);
                self.write_list(&transaction, &views, list, parts(postings))
            };
            for_each_list(self.state.lists..end, threads, write)?;
            self.state.lists = end;
            self.commit(transaction)?;
            watch(self.progress(snapshot))?;
        }
        Ok(())
    }

    /// Writes a list in `2^parts` parts.
    fn write_list(
        &self,
        transaction: &WriteTransaction,
        views: &NextViews,
        list: u32,
        parts: u32,
    ) -> Result<()> {
        let (rows, keyed, lists) = (self.rows_of(views), self.keyed()?, self.plan.lists());
        let banded = narrow(&self.path, self.meta.banded())?;
        let snapshot = &views.snapshot;
        // The existing tables are sorted, so they are cheaper to read than rows.
        let in_tables = if self.plan.keeps_postings(&snapshot.schema) {
            narrow(&self.path, snapshot.tables.meta.banded().min(banded.into()))?
        } else {
            0
        };
        for part in 0..1_u32 << parts {
            let mut postings = Vec::with_capacity(banded as usize >> parts);
            // The parts ascend by their upper bits, so each is appended after the one before.
            let is_of_part = |hash: u32| hash.checked_shr(32 - parts).unwrap_or(0) == part;
            if in_tables > 0 {
                let is_kept = |posting: &&Posting| {
                    let id = posting.id();
                    id < in_tables && is_of_part(posting.hash()) && self.is_posted(id)
                };
                snapshot.for_each_in_list(list, |some| {
                    postings.extend(some.iter().filter(is_kept));
                })?;
            }
            for id in (in_tables..banded).filter(|&id| self.is_posted(id)) {
                rows.for_each_hash(id, lists.get(list), |hash| {
                    if is_of_part(hash) {
                        postings.push(Posting::new(hash, id));
                    }
                })?;
            }
            // Postings from tables alone are sorted already.
            if in_tables < banded {
                postings = order::sort(postings);
                postings.dedup();
            }
            update::append(transaction, lists.get(list), keyed, &postings)
                .map_err(|error| bucket_error(&self.path, error))?;
        }
        Ok(())
    }

    /// Adds the postings of contents that have rows but no postings.
    pub(crate) fn post_rest(&mut self, snapshot: &Snapshot, threads: usize) -> Result<()> {
        let rows = self.rows()?;
        let add = narrow(&self.path, self.meta.banded())?..rows;
        self.state.posted += low32(add.len() as u64);
        self.meta.set_banded(rows.into());
        let transaction = self.begin_write()?;
        self.add_to_lists(&transaction, snapshot, add, threads)?;
        self.commit(transaction)
    }

    /// Counts the contents that were removed since the rebuild began. Their postings stay until a merge drops them.
    ///
    /// `removed` holds all removed contents of a snapshot, sorted.
    pub(super) fn count_removed(&mut self, removed: &[u32]) -> Result<()> {
        let banded = narrow(&self.path, self.meta.banded())?;
        let is_new = |id: &u32| {
            self.left_out.binary_search(id).is_err() && self.unposted.binary_search(id).is_err()
        };
        let gone = removed.iter().copied().filter(is_new);
        // Contents whose postings are still to be added count when they are.
        let gone: Vec<u32> = gone.filter(|&id| self.ids.new_id(id) < banded).collect();
        self.unposted.extend(gone);
        self.unposted.sort_unstable();
        self.count_posted(self.keyed()?.prefix);
        Ok(())
    }

    fn add_to_lists(
        &mut self,
        transaction: &WriteTransaction,
        snapshot: &Snapshot,
        add: Range<u32>,
        threads: usize,
    ) -> Result<()> {
        let before = self.keyed()?;
        self.count_posted(before.prefix);
        let after = self.keyed()?.prefix;
        let views = self.views(snapshot)?;
        let rows = self.rows_of(&views);
        for_each_list(0..self.lists(), threads, |list| {
            let list = self.plan.lists().get(list);
            let mut postings = Vec::new();
            for id in add.clone() {
                let push = |hash| postings.push(Posting::new(hash, id));
                rows.for_each_hash(id, list, push)?;
            }
            let mut postings = order::sort(postings);
            postings.dedup();
            update::add(transaction, list, before, after, postings)
                .map_err(|error| bucket_error(&self.path, error))
        })
    }

    /// Creates the filter over all postings in the lists.
    pub(crate) fn fill_filter(&mut self, threads: usize) -> Result<()> {
        self.meta.filters = 1;
        self.meta.old_filter = FilterState { number: 1, mark: 0 };
        let lists = 0..self.lists();
        let postings = lists.map(|list| self.most_postings(list)).sum();
        let words = Filter::words_for_rebuilt(postings);
        let filter = Filter::create(&self.folder, self.filter_name()?, words)?;
        let transaction = self.index.begin_read(&self.path)?;
        let levels = [self.keyed()?];
        let posted = PostingTables::open(&transaction, self.plan.lists(), &levels);
        let posted = posted.map_err(|error| bucket_error(&self.path, error))?;
        for_each_list(0..self.lists(), threads, |list| {
            let fill = |postings: &[Posting]| filter.insert(list, postings);
            posted
                .for_each(list as usize, LevelAge::Old.levels(), ALL_HASHES, fill)
                .map_err(|error| bucket_error(&self.path, error))
        })?;
        self.meta.old_filter.mark = filter.sync(0)?;
        Ok(())
    }

    /// The largest number of postings that a list can have.
    fn most_postings(&self, list: u32) -> u64 {
        if Some(list) == self.plan.lists().fingerprints() {
            self.meta.fingerprint_bytes / size_of::<u32>() as u64
        } else {
            self.meta.banded()
        }
    }

    /// Whether the content with a new id below the mark has postings.
    fn is_posted(&self, id: u32) -> bool {
        self.plan.renumbers || self.left_out.binary_search(&id).is_err()
    }

    /// The tables of the lists.
    fn keyed(&self) -> Result<KeyedLevel> {
        let oldest = &self.meta.levels[OLDEST];
        let prefix = narrow(&self.path, oldest.prefix_bits)?;
        Ok(KeyedLevel {
            level: OLDEST,
            prefix,
        })
    }

    /// Records how many contents have postings. `prefix` is the present number of key bits.
    fn count_posted(&mut self, prefix: u32) {
        let leaf = self.limits.leaf_postings;
        let removed = self.unposted.len() as u64;
        let posted = u64::from(self.state.posted) - removed;
        let oldest = self.meta.oldest();
        oldest.posted = posted;
        oldest.removed = removed;
        oldest.prefix_bits = prefix_bits(oldest.posted, leaf, prefix).into();
    }

    fn views(&self, snapshot: &Snapshot) -> Result<NextViews> {
        Ok(NextViews {
            signer: self.plan.schema.signer()?,
            columns: self.columns.views(snapshot),
            snapshot: snapshot.clone(),
        })
    }

    fn rows_of<'a>(&'a self, views: &'a NextViews) -> ContentRows<'a> {
        ContentRows {
            schema: &self.plan.schema,
            signer: &views.signer,
            columns: &views.columns,
            snapshot: &views.snapshot,
        }
    }
}

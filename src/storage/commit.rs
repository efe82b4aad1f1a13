//! The commit: the one place that decides in which order things become durable.
//!
//! 1. The columns are synced while the tables are changed in a redb transaction.
//! 2. The transaction, which holds the columns' new lengths, is committed.
//!
//! A crash before the end of step 2 leaves the last commit; what the columns hold past its lengths
//! is cut off at the next open. After a failure the disk's state is unknown, so nothing more is
//! written until the store is opened anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use redb::WriteTransaction;

use super::buckets::{self, Change, List, prefix_bits};
use super::catalog::{self, DocumentChange, Meta};
use super::files::{Files, Health};
use super::leaf::Posting;
use super::recent::Recent;
use super::snapshot::{Index, Snapshot, Tables, bucket_error, narrow};
use crate::clock::Meters;
use crate::error::{Error, Result};

/// Recent contents are merged into the tables when they are a sixteenth of what is there, but not
/// fewer than `MIN_MERGE`, which is not worth it, and not more than `MAX_MERGE`, which would make
/// opening slow. The tests of this crate merge early, so that small stores see every path.
const MIN_MERGE: u64 = if cfg!(test) { 4 } else { 1 << 10 };
const MAX_MERGE: u64 = 1 << 15;

/// Fewer changes than this are not worth a thread of their own.
const PARALLEL_DOCUMENTS: usize = 1000;

/// What a commit does to the catalog.
#[derive(Clone, Debug, Default)]
pub(crate) struct CatalogChange {
    /// Sorted by key, each key once.
    pub(crate) documents: Vec<DocumentChange>,
    /// The contents that may have lost their last name, sorted, each once.
    pub(crate) maybe_unnamed: Vec<u32>,
}

impl Files {
    /// Makes everything appended and `change` durable, and returns the new state.
    ///
    /// # Errors
    ///
    /// After any error the store must be opened anew to write again.
    pub(crate) fn commit(
        &mut self,
        change: &CatalogChange,
        threads: usize,
        meters: &Meters,
    ) -> Result<Snapshot> {
        self.check_writable()?;
        self.health = Health::Unknown;
        let snapshot = self.snapshot()?;
        for (_, _, column) in self.columns.each(0) {
            column.committing();
        }
        let meta = self.write(&snapshot, change, threads, meters)?;
        for (_, _, column) in self.columns.each(0) {
            column.committed();
        }
        let tables = Tables::open(&self.index, &self.index_path, self.schema.bands().bands())?;
        if tables.meta.banded != self.tables.meta.banded {
            let lists = self.schema.bands().bands() as usize + 1;
            self.recent = Arc::new(Recent::new(self.len, lists, 0));
        }
        debug_assert_eq!(tables.meta, meta);
        self.tables = Arc::new(tables);
        self.health = Health::Sound;
        self.snapshot()
    }

    fn write(
        &mut self,
        snapshot: &Snapshot,
        change: &CatalogChange,
        threads: usize,
        meters: &Meters,
    ) -> Result<Meta> {
        let Index::Writable(database) = &*self.index else {
            return Err(Error::ReadOnly);
        };
        let path = &self.index_path;
        let in_index = |error: redb::Error| Error::index(path, error);
        let mut transaction = database
            .begin_write()
            .map_err(|error| in_index(error.into()))?;
        // A store that was killed opens at once, and redb does not take a damaged header for a
        // torn commit that it may forget.
        transaction.set_quick_repair(true);
        let generation = narrow(path, self.tables.meta.generation)?;
        let columns = &mut self.columns;
        let mut sums = Vec::new();
        for (kind, generation, column) in columns.each(generation) {
            sums.push((kind as u8, generation, column.changed_sums()));
        }
        let sync = || -> Result<()> {
            for (_, _, column) in columns.each(generation) {
                column.sync()?;
            }
            Ok(())
        };
        let (synced, meta) = beside(sync, || {
            change_tables(&transaction, snapshot, change, threads, meters)
        });
        synced?;
        let meta = meta?;
        for (kind, generation, sums) in &sums {
            catalog::write_sums(&transaction, *kind, *generation, sums).map_err(in_index)?;
        }
        meta.write(&transaction).map_err(in_index)?;
        transaction
            .commit()
            .map_err(|error| in_index(error.into()))?;
        Ok(meta)
    }
}

/// Runs `other` on a thread of its own while `this` runs here.
fn beside<A: Send, B>(other: impl FnOnce() -> A + Send, this: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let this = this();
        match other.join() {
            Ok(other) => (other, this),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Applies `change` to the tables, and merges the recent contents of `snapshot` if they are due.
fn change_tables(
    transaction: &WriteTransaction,
    snapshot: &Snapshot,
    change: &CatalogChange,
    threads: usize,
    meters: &Meters,
) -> Result<Meta> {
    let documents = || catalog::write_documents(transaction, &change.documents);
    let contents = || change_contents(transaction, snapshot, change, threads, meters);
    // The documents are a table of their own.
    let (documents, meta) = if threads > 1 && change.documents.len() >= PARALLEL_DOCUMENTS {
        beside(documents, contents)
    } else {
        (documents(), contents())
    };
    documents.map_err(|error| snapshot.in_index(error))?;
    meta
}

/// Does what [`change_tables`] does beside the documents.
fn change_contents(
    transaction: &WriteTransaction,
    snapshot: &Snapshot,
    change: &CatalogChange,
    threads: usize,
    meters: &Meters,
) -> Result<Meta> {
    let in_index = |error| snapshot.in_index(error);
    let mut meta = snapshot.tables.meta;
    meta.contents = snapshot.len.into();
    meta.shingle_bytes = snapshot.shingles.len();
    let unnamed = catalog::write_names(transaction, &change.documents, &change.maybe_unnamed)
        .map_err(in_index)?;
    catalog::write_removed(transaction, &unnamed).map_err(in_index)?;

    let banded = snapshot.recent.base();
    let mut merge = Merge {
        snapshot,
        add: Vec::new(),
        remove: unnamed.into_iter().filter(|&id| id < banded).collect(),
    };
    meta.posted = meta.posted.saturating_sub(merge.remove.len() as u64);
    let recent = u64::from(snapshot.len - banded);
    if recent >= (meta.posted / 16).clamp(MIN_MERGE, MAX_MERGE) {
        let removed = catalog::removed_since(transaction, banded).map_err(in_index)?;
        let kept = (banded..snapshot.len).filter(|id| removed.binary_search(id).is_err());
        merge.add = kept.collect();
        meta.posted += merge.add.len() as u64;
        meta.banded = meta.contents;
    }
    if !merge.add.is_empty() || !merge.remove.is_empty() {
        let old = narrow(snapshot.tables.path(), meta.prefix_bits)?;
        let new = prefix_bits(meta.posted, old);
        meta.prefix_bits = new.into();
        meters
            .merging
            .time(|| merge.run(transaction, old, new, threads))?;
    }
    Ok(meta)
}

/// Contents whose postings enter the tables or leave them, ascending.
struct Merge<'a> {
    snapshot: &'a Snapshot,
    /// These are all in the recent postings.
    add: Vec<u32>,
    remove: Vec<u32>,
}

impl Merge<'_> {
    /// Changes all tables, several at a time.
    fn run(
        &self,
        transaction: &WriteTransaction,
        old: u32,
        new: u32,
        threads: usize,
    ) -> Result<()> {
        let lists = self.snapshot.schema.bands().bands() + 1;
        let next = AtomicU32::new(0);
        let work = || -> Result<()> {
            loop {
                let list = next.fetch_add(1, Ordering::Relaxed);
                if list >= lists {
                    return Ok(());
                }
                let change = self.change(list)?;
                buckets::apply(transaction, self.list(list)?, old, new, &change)
                    .map_err(|error| bucket_error(self.snapshot.tables.path(), error))?;
            }
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(lists as usize))
                .map(|_| scope.spawn(work))
                .collect();
            let mut done = work();
            for other in others {
                match other.join() {
                    Ok(result) => done = done.and(result),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        })
    }

    /// List 0 are the copies, the others the bands.
    fn list(&self, list: u32) -> Result<List> {
        let tables = &self.snapshot.tables;
        Ok(match list.checked_sub(1) {
            None => List::Copies,
            Some(band) => List::Band {
                generation: narrow(tables.path(), tables.meta.generation)?,
                band,
            },
        })
    }

    fn change(&self, list: u32) -> Result<Change> {
        let recent = &self.snapshot.recent;
        let posting = |&id: &u32| Some(Posting::new(recent.hash(id, list)?, id));
        let mut change = Change {
            add: self.add.iter().filter_map(posting).collect(),
            remove: Vec::with_capacity(self.remove.len()),
        };
        for &id in &self.remove {
            if let Some(hash) = self.snapshot.list_hash(id, list)? {
                change.remove.push(Posting::new(hash, id));
            }
        }
        change.add.sort_unstable();
        change.remove.sort_unstable();
        Ok(change)
    }
}

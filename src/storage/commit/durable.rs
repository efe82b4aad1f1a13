//! The commit: the one place that decides in which order data becomes durable.
//!
//! 1. The columns, and the filters that gained postings, are synced while the tables are changed in a redb transaction.
//! 2. The transaction, which holds the columns' new lengths, is committed.
//!
//! A crash before the end of step 2 leaves the last commit. The next open truncates the columns to its lengths. After a
//! failure the state of the disk is unknown, so nothing more is written until the files are opened again, as after a crash.

use std::sync::Arc;

use redb::WriteTransaction;

use super::files::{Health, StoreFiles};
use super::merge::{BucketCommit, RunningMerge};
use crate::clock::{self, Meters};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::storage::disk;
use crate::storage::format::{ColumnKind, narrow};
use crate::storage::index::{
    DocumentChange, IdScope, Meta, RunRecord, SourceFile, catalog, guarded, journal,
};
use crate::storage::names::NEXT_INDEX;
use crate::storage::parallel::both;
use crate::storage::postings::{BucketLists, Filters, retired};
use crate::storage::view::{CommittedTables, Snapshot};

/// With fewer changes than this, a second thread does not pay.
const PARALLEL_DOCUMENTS: usize = 1000;

/// What a commit does to the catalog.
#[derive(Clone, Debug, Default)]
pub(crate) struct CatalogChange {
    /// Sorted by key, each key once.
    pub(crate) documents: Vec<DocumentChange>,
    /// The contents that may have lost their last name, sorted, each once.
    pub(crate) maybe_unnamed: Vec<u32>,
    /// The runs after the commit. `None` leaves them unchanged.
    pub(crate) runs: Option<RunRecord>,
    /// Files that some of the documents came from.
    pub(crate) sources: Vec<SourceFile>,
    /// The scope of ids after the commit. `None` leaves it unchanged.
    pub(crate) id_scope: Option<IdScope>,
}

/// What a commit writes in addition to rows and table entries.
struct CommitMetadata {
    meta: Meta,
    filters: Filters,
}

impl StoreFiles {
    /// Makes everything appended and `change` durable, and returns the new state.
    ///
    /// # Errors
    ///
    /// After any error, the files must be opened again before they can be written, which the next turn does.
    pub(crate) fn commit(
        &mut self,
        change: &CatalogChange,
        threads: usize,
        meters: &Meters,
    ) -> Result<Snapshot> {
        self.check_writable()?;
        self.check_in_place()?;
        // Whatever fails from here on leaves the files unusable until they are opened again.
        self.health = Health::Unknown;
        let snapshot = self.snapshot()?;
        // From now until the index answers, nobody knows whether the rows are committed, so they are not cut off.
        for (_, column) in self.columns.each_mut() {
            column.committing();
        }
        let path = self.index_path.clone();
        let CommitMetadata { meta, filters } =
            guarded(&path, || self.write(&snapshot, change, threads, meters))?;
        for (_, column) in self.columns.each_mut() {
            column.committed();
        }
        // The commit is durable. What follows only brings the state in memory up to it.
        let tables =
            CommittedTables::open(&self.index, &self.index_path, BucketLists::of(&self.schema))?;
        let banded = narrow(&path, meta.banded())?;
        // The contents that a merge has put into tables are no longer recent.
        if banded != self.recent.base() {
            self.recent = Arc::new(self.recent.after(banded, &Pool::new(threads)));
        }
        debug_assert_eq!(tables.meta, meta);
        self.filters = filters;
        // The earlier commit named these filters, so they could not be deleted before this one.
        let folder = disk::parent(&self.index_path);
        for filter in retired(&self.index_path, &self.tables.meta, &meta)? {
            filter.delete(folder);
        }
        self.tables = Arc::new(tables);
        self.has_committed = true;
        self.health = Health::Sound;
        self.snapshot()
    }

    fn write(
        &mut self,
        snapshot: &Snapshot,
        change: &CatalogChange,
        threads: usize,
        meters: &Meters,
    ) -> Result<CommitMetadata> {
        let path = &self.index_path;
        let in_index = |error: redb::Error| Error::index(path, error);
        let transaction = self.index.begin_write()?;
        let columns = &mut self.columns;
        // Taken first, because the thread that syncs borrows the columns. They are flushed, so the sums are complete.
        let mut sums = Vec::new();
        for (kind, column) in columns.each() {
            sums.push((kind, column.changed_sums()));
        }
        let sync = || -> Result<()> {
            for (_, column) in columns.each_mut() {
                column.sync()?;
            }
            Ok(())
        };
        let merge = BucketCommit {
            transaction: &transaction,
            snapshot,
            lists: BucketLists::of(&self.schema),
            unfingerprinted: self.unfingerprinted,
            is_first: !self.has_committed,
            threads,
            limits: &self.limits,
            meters,
        };
        // Both at the same time: in which order they reach the disk does not matter before the transaction commits.
        let merging = &mut self.merging;
        let change = || change_tables(&merge, change, merging);
        let (changed, ()) = both(threads, change, sync)?;
        // The metadata has the columns' new lengths. Every column is synced by now, so the commit may say so.
        for (kind, sums) in &sums {
            catalog::write_sums(&transaction, *kind, sums).map_err(in_index)?;
        }
        changed.meta.write(&transaction).map_err(in_index)?;
        transaction
            .commit()
            .map_err(|error| in_index(error.into()))?;
        Ok(changed)
    }
}

/// Applies `change` to the tables, and merges the recent contents as far as that is due.
fn change_tables(
    merge: &BucketCommit<'_>,
    change: &CatalogChange,
    merging: &mut Option<RunningMerge>,
) -> Result<CommitMetadata> {
    let documents = || {
        let written = catalog::write_documents(merge.transaction, &change.documents);
        written.map_err(|error| merge.snapshot.in_index(error))
    };
    let contents = || change_contents(merge, change, merging);
    // The documents have a table of their own.
    let is_worth_it = change.documents.len() >= PARALLEL_DOCUMENTS;
    let threads = if is_worth_it { merge.threads } else { 1 };
    both(threads, contents, documents).map(|(changed, ())| changed)
}

/// Records the changed documents for a rebuild that runs, in whichever process.
fn write_journal(
    transaction: &WriteTransaction,
    snapshot: &Snapshot,
    documents: &[DocumentChange],
    meta: &mut Meta,
) -> Result<()> {
    let in_index = |error| snapshot.in_index(error);
    if disk::is_written(&snapshot.folder().join(NEXT_INDEX))? {
        if meta.journal == 0 {
            meta.journal = meta.commit;
        }
        journal::write(transaction, meta.commit, documents).map_err(in_index)?;
    } else if meta.journal > 0 {
        meta.journal = 0;
        journal::delete(transaction).map_err(in_index)?;
    }
    Ok(())
}

/// Does the part of [`change_tables`] that does not concern documents.
fn change_contents(
    merge: &BucketCommit<'_>,
    change: &CatalogChange,
    merging: &mut Option<RunningMerge>,
) -> Result<CommitMetadata> {
    let (transaction, snapshot) = (merge.transaction, merge.snapshot);
    let in_index = |error| snapshot.in_index(error);
    // The metadata of the new commit, as far as no table has to be asked.
    let mut meta = snapshot.tables.meta;
    meta.commit += 1;
    meta.committed = clock::now().unsigned_abs();
    meta.runs = change.runs.unwrap_or(meta.runs);
    meta.id_scope = change.id_scope.map_or(meta.id_scope, IdScope::number);
    meta.contents = snapshot.len.into();
    meta.shingle_bytes = snapshot.column(ColumnKind::Shingles).len();
    meta.signature_bytes = snapshot.column(ColumnKind::Signatures).len();
    meta.unfingerprinted = merge.unfingerprinted;
    meta.fingerprint_bytes = snapshot.column(ColumnKind::Fingerprints).len();
    // A content that lost its last name is recorded as removed. Its rows and postings stay.
    let unnamed = catalog::write_names(transaction, &change.documents, &change.maybe_unnamed)
        .map_err(in_index)?;
    catalog::write_removed(transaction, &unnamed).map_err(in_index)?;
    catalog::write_sources(transaction, &change.sources).map_err(in_index)?;
    write_journal(transaction, snapshot, &change.documents, &mut meta)?;

    let filters = merge.run(&unnamed, &mut meta, merging)?;
    Ok(CommitMetadata { meta, filters })
}

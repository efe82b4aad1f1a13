//! Opening a store for reading, while another process may be writing to it.
//!
//! One transaction of the index names the files and their committed lengths, and its tables do not change while it is
//! read. The files are opened after it. By then a writer may have committed again, and deleted files that only the
//! earlier commit named. In that case the newer commit names the right files.
//!
//! **Invariant: a file that a commit names exists, and is at least as long as the commit records, until a later commit
//! names another.**

use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::ReadTransaction;

use super::files::{read_meta, rebuild_recent};
use crate::error::Result;
use crate::schema::Schema;
use crate::storage::columns::{ColumnSpec, Trust};
use crate::storage::format::{ColumnKind, PerColumn, narrow};
use crate::storage::index::{Index, Meta, existing_index};
use crate::storage::postings::{BucketLists, Filters, RecentPostings};
use crate::storage::view::{CommittedTables, Snapshot};

/// How many commits are tried if a writer commits faster than the files can be opened.
const ATTEMPTS: usize = 100;

impl Snapshot {
    /// Opens the last commit of the store in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Snapshot> {
        CommitRecord::read(folder)?.open_last(folder, None)
    }

    /// The last commit of the store in `folder`, read from its open index, with columns that the caller verifies.
    pub(super) fn unverified(folder: &Path, path: PathBuf, index: Index) -> Result<Snapshot> {
        CommitRecord::of(path, index)?.open_files(folder, None, Trust::File)
    }

    /// The last commit of the store in `folder`, if it differs from this one.
    pub(crate) fn newer(&self, folder: &Path) -> Result<Option<Snapshot>> {
        let commit = CommitRecord::read(folder)?;
        if commit.meta == self.tables.meta {
            return Ok(None);
        }
        commit.open_last(folder, Some(self)).map(Some)
    }
}

/// What the index records as of one commit.
struct CommitRecord {
    path: PathBuf,
    index: Arc<Index>,
    transaction: ReadTransaction,
    meta: Meta,
    schema: Schema,
}

impl CommitRecord {
    /// Reads the last commit of the store in `folder`.
    fn read(folder: &Path) -> Result<CommitRecord> {
        let path = existing_index(folder)?;
        let index = Index::open_read_only(&path)?;
        CommitRecord::of(path, index)
    }

    /// Reads the last commit from an open index.
    fn of(path: PathBuf, index: Index) -> Result<CommitRecord> {
        let transaction = index.begin_read(&path)?;
        let (meta, schema) = read_meta(&transaction, &path)?;
        Ok(CommitRecord {
            path,
            index: Arc::new(index),
            transaction,
            meta,
            schema,
        })
    }

    /// Opens the files of this commit or, if some are already deleted, those of a newer one.
    fn open_last(self, folder: &Path, known: Option<&Snapshot>) -> Result<Snapshot> {
        let mut commit = self;
        for _ in 0..ATTEMPTS {
            let tried = commit.meta;
            let error = match commit.open_files(folder, known, Trust::Sums) {
                Ok(snapshot) => return Ok(snapshot),
                Err(error) => error,
            };
            // A writer may have deleted files of this commit. If it has not committed again, the error is real.
            commit = CommitRecord::read(folder)?;
            if commit.meta == tried {
                return Err(error);
            }
        }
        commit.open_files(folder, known, Trust::Sums)
    }

    fn open_files(self, folder: &Path, known: Option<&Snapshot>, trust: Trust) -> Result<Snapshot> {
        let CommitRecord {
            path,
            index,
            transaction,
            meta,
            schema,
        } = self;
        let tables =
            CommittedTables::of(transaction, &meta, &index, &path, BucketLists::of(&schema))?;
        let view = |kind| ColumnSpec::of(kind, &meta, &schema)?.view(folder, trust);
        let mut snapshot = Snapshot {
            columns: PerColumn::try_new(view)?,
            recent: Arc::new(RecentPostings::new(0, 1, 0, 0)),
            filters: Filters::open(&path, &meta, false)?,
            len: narrow(&path, meta.contents)?,
            signer: Arc::new(schema.signer()?),
            schema: Arc::new(schema),
            tables: Arc::new(tables),
        };
        // Blocks that were verified in the same generation need not be read again.
        let is_same = |known: &&Snapshot| {
            let known = &known.tables.meta;
            (known.store, known.generation) == (meta.store, meta.generation)
        };
        let known = known.filter(is_same);
        if let Some(known) = known {
            for kind in ColumnKind::ALL {
                snapshot.column(kind).know(known.column(kind));
            }
        }
        let earlier = known.map(|known| &known.recent);
        snapshot.recent = rebuild_recent(&snapshot, earlier)?;
        Ok(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Meters;
    use crate::error::Error;
    use crate::storage::{CatalogChange, StoreFiles};

    fn commit(files: &mut StoreFiles) {
        let change = CatalogChange::default();
        files.commit(&change, 1, &Meters::default()).unwrap();
    }

    #[test]
    fn a_reader_whose_files_are_gone_takes_a_newer_commit() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = StoreFiles::create(folder.path(), Schema::default(), 1).unwrap();
        // The commit of a generation that a later one has replaced.
        let mut old = CommitRecord::read(folder.path()).unwrap();
        old.meta.files[ColumnKind::Signatures] = 7;
        commit(&mut files);
        let snapshot = old.open_last(folder.path(), None).unwrap();
        assert_eq!(
            (snapshot.tables.meta.generation, snapshot.tables.meta.commit),
            (1, 1)
        );
        assert!(snapshot.newer(folder.path()).unwrap().is_none());
    }

    #[test]
    fn a_commit_is_opened_as_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = StoreFiles::create(folder.path(), Schema::default(), 1).unwrap();
        let old = CommitRecord::read(folder.path()).unwrap();
        commit(&mut files);
        let snapshot = old.open_last(folder.path(), None).unwrap();
        assert_eq!(snapshot.tables.meta.commit, 0);
        let newer = snapshot.newer(folder.path()).unwrap().unwrap();
        assert_eq!(newer.tables.meta.commit, 1);
    }

    #[test]
    fn a_file_that_is_missing_for_good_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = StoreFiles::create(folder.path(), Schema::default(), 1).unwrap();
        let snapshot = Snapshot::open(folder.path()).unwrap();
        commit(&mut files);
        let gone = folder.path().join("contents.1");
        std::fs::remove_file(&gone).unwrap();
        let is_of_the_file = |error| matches!(error, Error::Io { path, .. } if path == gone);
        assert!(is_of_the_file(Snapshot::open(folder.path()).unwrap_err()));
        assert!(is_of_the_file(snapshot.newer(folder.path()).unwrap_err()));
    }
}

//! Documents, names and removed contents of the next generation.

use std::collections::BTreeSet;

use redb::WriteTransaction;

use super::Next;
use crate::error::{Error, Result};
use crate::storage::columns::BLOCK_BYTES;
use crate::storage::format::{Kind, narrow};
use crate::storage::index::{DocumentChange, DocumentRow, Runs, catalog};
use crate::storage::view::Snapshot;

impl Next {
    /// Copies the catalog of `snapshot`, in place of one that an earlier attempt copied.
    pub(crate) fn copy_catalog(&mut self, snapshot: &Snapshot, threads: usize) -> Result<()> {
        let transaction = self.begin_write()?;
        let tables = &snapshot.tables.catalog;
        let copied = || -> Result<(), redb::Error> {
            catalog::clear(&transaction)?;
            tables.copy_renumbered(&transaction, threads, |id| self.ids.new_id(id))?;
            for kind in Kind::ALL {
                if self.columns.of(kind).is_none() {
                    tables.copy_sums(&transaction, kind, 0)?;
                }
            }
            Ok(())
        };
        copied().map_err(|error| self.in_index(error))?;
        self.summed = Kind::ALL.map(|kind| snapshot.column(kind).len());
        self.removed.clear();
        self.write_removed(&transaction, removed_in(snapshot)?)?;
        self.commit(transaction)
    }

    /// Brings what changed up to `snapshot` into the catalog and the lists: the documents `keys`,
    /// and the contents that were removed.
    pub(super) fn catch_up(
        &mut self,
        transaction: &WriteTransaction,
        snapshot: &Snapshot,
        keys: BTreeSet<String>,
        threads: usize,
    ) -> Result<()> {
        let keys: Vec<String> = keys.into_iter().collect();
        let old = catalog::content_of(transaction, &keys).map_err(|error| self.in_index(error))?;
        let mut changes = Vec::with_capacity(keys.len());
        for (key, old) in keys.into_iter().zip(old) {
            let new = snapshot.document(&key)?.map(|row| DocumentRow {
                content: self.ids.new_id(row.content),
                ..row
            });
            let key = key.into();
            changes.push(DocumentChange { key, old, new });
        }
        catalog::write_documents(transaction, &changes)
            .and_then(|()| catalog::write_names(transaction, &changes, &[]))
            .map_err(|error| self.in_index(error))?;
        let removed = removed_in(snapshot)?;
        self.unpost(transaction, snapshot, &removed, threads)?;
        self.write_removed(transaction, removed)
    }

    /// Takes the runs of `snapshot` over. The first content of the open one gets its new id.
    pub(super) fn take_runs(&mut self, snapshot: &Snapshot) -> Result<()> {
        let runs = snapshot.tables.meta.runs;
        let first = narrow(&self.path, runs.first)?;
        self.meta.runs = Runs {
            first: self.ids.new_id(first).into(),
            ..runs
        };
        Ok(())
    }

    /// Brings the checksums of shared columns up to `snapshot`.
    pub(super) fn copy_new_sums(
        &self,
        transaction: &WriteTransaction,
        snapshot: &Snapshot,
    ) -> Result<()> {
        let tables = &snapshot.tables.catalog;
        for (kind, summed) in Kind::ALL.into_iter().zip(self.summed) {
            if self.columns.of(kind).is_none() {
                let first = summed / BLOCK_BYTES;
                tables
                    .copy_sums(transaction, kind, first)
                    .map_err(|error| Error::index(&self.path, error))?;
            }
        }
        Ok(())
    }

    /// Writes those of the `removed` contents that have rows here and are not known as removed.
    fn write_removed(&mut self, transaction: &WriteTransaction, removed: Vec<u32>) -> Result<()> {
        let is_new =
            |id: &u32| !self.ids.leaves_out(*id) && self.removed.binary_search(id).is_err();
        let new = removed.iter().copied().filter(is_new);
        let new: Vec<u32> = new.map(|id| self.ids.new_id(id)).collect();
        catalog::write_removed(transaction, &new).map_err(|error| self.in_index(error))?;
        self.removed = removed;
        Ok(())
    }
}

/// The removed contents of `snapshot`, by their old ids, sorted.
fn removed_in(snapshot: &Snapshot) -> Result<Vec<u32>> {
    snapshot.removed_contents()
}

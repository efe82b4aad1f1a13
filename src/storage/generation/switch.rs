//! The switch from the generation in use to the next one.

use std::sync::Arc;

use super::columns::RowMaker;
use super::{NextGeneration, state};
use crate::error::Result;
use crate::storage::columns::ColumnWriters;
use crate::storage::commit::{Health, StoreFiles};
use crate::storage::disk;
use crate::storage::folder::leftovers;
use crate::storage::view::Snapshot;

impl NextGeneration {
    /// Takes over what was committed up to `snapshot`.
    pub(crate) fn follow(&mut self, snapshot: &Snapshot, threads: usize) -> Result<()> {
        let transaction = self.begin_write()?;
        self.catch_up(&transaction, snapshot, threads)?;
        self.commit(transaction)
    }

    /// Takes over the rest, and puts the next generation into use.
    ///
    /// The caller has the turn of `files`, which ends once the new generation is durably in use. The new index has a
    /// turn of its own, which the caller then has. Every row appended to `files` must be committed.
    ///
    /// All steps that can fail come before the switch, which is one rename. If the rename cannot be made durable, the
    /// next generation is in use nevertheless and nothing more is written. The error is then returned along with the
    /// snapshot.
    pub(crate) fn install(
        mut self,
        files: &mut StoreFiles,
        rows: &dyn RowMaker,
        threads: usize,
    ) -> Result<(Snapshot, Result<()>)> {
        files.check_writable()?;
        files.check_in_place()?;
        // First the copy becomes complete: what was committed since the last look, under the turn, so that nothing
        // follows.
        let snapshot = files.view();
        self.cover(&snapshot, rows, &mut |_| Ok(()))?;
        let transaction = self.begin_write()?;
        self.catch_up(&transaction, &snapshot, threads)?;
        self.copy_new_sums(&transaction, &snapshot)?;
        self.take_runs(&snapshot)?;
        // A commit of its own, so that readers notice the change.
        self.meta.id_scope = snapshot.tables.meta.id_scope;
        self.meta.committed = snapshot.tables.meta.committed;
        self.meta.commit = snapshot.tables.meta.commit + 1;
        self.meta.packed = self.meta.contents;
        self.meta
            .write(&transaction)
            .and_then(|()| state::clear(&transaction))
            .map_err(|error| self.in_index(error))?;
        let committed = transaction.commit();
        committed.map_err(|error| self.in_index(error))?;

        // Then the new files are opened for writing by the names that they will have. Until the rename, a failure
        // changes nothing.
        let (next_path, index_path) = (self.path, files.index_path.clone());
        let (folder, meta, schema) = (self.folder, self.meta, self.plan.schema);
        drop(self.columns);
        let columns = ColumnWriters::open(&folder, &meta, &schema)?;
        let mut next =
            StoreFiles::with_columns(Arc::new(self.index), index_path.clone(), schema, columns)?;
        next.limits = files.limits;
        next.wait = files.wait.clone();
        next.is_exclusive = files.is_exclusive;
        let snapshot = next.snapshot()?;

        // At last the switch, if the store is still where it was.
        files.view().check_in_place()?;
        disk::rename(&next_path, &index_path)?;
        let durable = disk::sync_folder(&folder);
        if durable.is_err() {
            next.health = Health::Unknown;
        } else {
            // A leftover only costs space.
            leftovers::clear(&folder, &meta).unwrap_or_default();
        }
        *files = next;
        Ok((snapshot, durable))
    }
}

//! The moment at which the next generation becomes the one in use.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::columns::Sign;
use super::{Next, state};
use crate::error::Result;
use crate::storage::columns::{Columns, Trust};
use crate::storage::commit::{Files, Health};
use crate::storage::disk;
use crate::storage::folder::leftovers;
use crate::storage::view::Snapshot;

impl Next {
    /// Takes over what was committed up to `snapshot`: contents, and the documents `keys`.
    pub(crate) fn follow(
        &mut self,
        snapshot: &Snapshot,
        keys: BTreeSet<String>,
        threads: usize,
    ) -> Result<()> {
        let transaction = self.begin_write()?;
        self.catch_up(&transaction, snapshot, keys, threads)?;
        self.commit(transaction)
    }

    /// Takes over the rest, of which the documents are `keys`, and puts the next generation in the
    /// place of the one in use. Nothing is appended to `files` that is not committed.
    ///
    /// # Errors
    ///
    /// After one that comes with the store switched already, `files` must be opened anew.
    pub(crate) fn install(
        mut self,
        files: &mut Files,
        keys: BTreeSet<String>,
        sign: &Sign<'_>,
        threads: usize,
    ) -> Result<Snapshot> {
        files.check_writable()?;
        files.check_in_place()?;
        let snapshot = files.view();
        self.cover(&snapshot, sign, &mut |_| Ok(()))?;
        let transaction = self.begin_write()?;
        self.catch_up(&transaction, &snapshot, keys, threads)?;
        self.copy_new_sums(&transaction, &snapshot)?;
        self.take_runs(&snapshot)?;
        self.meta.packed = self.meta.contents;
        self.meta
            .write(&transaction)
            .and_then(|()| state::clear(&transaction))
            .map_err(|error| self.in_index(error))?;
        let committed = transaction.commit();
        committed.map_err(|error| self.in_index(error))?;

        let index_path = files.index_path.clone();
        files.view().check_in_place()?;
        disk::rename(&self.path, &index_path)?;
        files.health = Health::Unknown;
        disk::sync_folder(&self.folder)?;
        let Next {
            folder,
            index,
            plan,
            meta,
            columns,
            ..
        } = self;
        drop(columns);
        let columns = Columns::open(&folder, &meta, &plan.schema, Trust::Sums)?;
        let index = Arc::new(index);
        let limits = files.limits;
        *files = Files::with_columns(index, index_path, plan.schema, columns)?;
        files.limits = limits;
        leftovers::clear(&folder, &meta)?;
        files.snapshot()
    }
}

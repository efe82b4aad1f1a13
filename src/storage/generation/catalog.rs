//! Documents, names and removed contents of the next generation.

use std::collections::BTreeSet;

use redb::WriteTransaction;

use super::NextGeneration;
use crate::error::Result;
use crate::storage::columns::BLOCK_BYTES;
use crate::storage::format::{ColumnKind, PerColumn, narrow};
use crate::storage::index::{DocumentChange, DocumentRow, RunRecord, Sources, catalog, guarded};
use crate::storage::view::Snapshot;

impl NextGeneration {
    /// Copies the catalog of `snapshot`, replacing one that an earlier attempt copied.
    pub(crate) fn copy_catalog(&mut self, snapshot: &Snapshot, threads: usize) -> Result<()> {
        let transaction = self.begin_write()?;
        self.copy_all(&transaction, snapshot, threads)?;
        self.commit(transaction)
    }

    fn copy_all(
        &mut self,
        transaction: &WriteTransaction,
        snapshot: &Snapshot,
        threads: usize,
    ) -> Result<()> {
        let tables = &snapshot.tables.catalog;
        let copied = || -> Result<(), redb::Error> {
            // Whatever an earlier attempt copied may be of another commit.
            catalog::clear(transaction)?;
            tables.copy_renumbered(transaction, threads, |id| self.ids.new_id(id))?;
            // The checksums of a shared column are those in the index in use. Those of blocks that grow later follow at
            // the end.
            for kind in ColumnKind::ALL {
                if self.columns[kind].is_none() {
                    tables.copy_sums(transaction, kind, 0)?;
                }
            }
            Ok(())
        };
        self.copying(snapshot, copied)?;
        self.summed = PerColumn::new(|kind| snapshot.column(kind).len());
        self.removed.clear();
        self.followed = snapshot.tables.meta.commit;
        self.write_removed(transaction, removed_in(snapshot)?)
    }

    /// Applies the changes up to `snapshot` to the catalog, and counts the removed contents.
    pub(super) fn catch_up(
        &mut self,
        transaction: &WriteTransaction,
        snapshot: &Snapshot,
        threads: usize,
    ) -> Result<()> {
        // The journal has the keys that changed. Without it, they are all copied again.
        match snapshot.tables.changed_after(self.followed)? {
            Some(keys) => self.change_documents(transaction, snapshot, keys)?,
            None => self.copy_all(transaction, snapshot, threads)?,
        }
        self.followed = snapshot.tables.meta.commit;
        let removed = removed_in(snapshot)?;
        self.count_removed(&removed)?;
        self.write_removed(transaction, removed)
    }

    /// Takes over the rows of the documents `keys`.
    fn change_documents(
        &self,
        transaction: &WriteTransaction,
        snapshot: &Snapshot,
        keys: BTreeSet<String>,
    ) -> Result<()> {
        let keys: Vec<String> = keys.into_iter().collect();
        // What this index has of them, which may be of any earlier commit: a key may have changed several times since.
        let old = catalog::content_of(transaction, &keys).map_err(|error| self.in_index(error))?;
        let mut changes = Vec::with_capacity(keys.len());
        let mut sources = Sources::default();
        for (key, old) in keys.into_iter().zip(old) {
            let row = snapshot.document(&key)?;
            if let Some(row) = row {
                sources.note(snapshot.source(row.source)?.as_ref());
            }
            let new = row.map(|row| DocumentRow {
                content: self.ids.new_id(row.content),
                ..row
            });
            let key = key.into();
            changes.push(DocumentChange { key, old, new });
        }
        catalog::write_documents(transaction, &changes)
            .and_then(|()| catalog::write_names(transaction, &changes, &[]))
            .and_then(|_| catalog::write_sources(transaction, &sources.all()))
            .map_err(|error| self.in_index(error))
    }

    /// Takes over the runs of `snapshot`, giving the first content of the open run its new id.
    pub(super) fn take_runs(&mut self, snapshot: &Snapshot) -> Result<()> {
        let runs = snapshot.tables.meta.runs;
        let first = narrow(&self.path, runs.first)?;
        self.meta.runs = RunRecord {
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
        for (kind, summed) in self.summed.each() {
            if self.columns[kind].is_none() {
                let first = summed / BLOCK_BYTES;
                self.copying(snapshot, || tables.copy_sums(transaction, kind, first))?;
            }
        }
        Ok(())
    }

    /// Copies from the index of `snapshot`.
    ///
    /// A corrupt page is blamed on that index, since this process wrote the other one.
    fn copying(
        &self,
        snapshot: &Snapshot,
        copy: impl FnOnce() -> Result<(), redb::Error>,
    ) -> Result<()> {
        guarded(snapshot.tables.path(), || {
            copy().map_err(|error| match error {
                redb::Error::Corrupted(_) => snapshot.in_index(error),
                error => self.in_index(error),
            })
        })
    }

    /// Records those of the `removed` contents that have rows here and are not yet recorded as removed.
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

/// The removed contents of `snapshot`, by old id, sorted.
fn removed_in(snapshot: &Snapshot) -> Result<Vec<u32>> {
    snapshot.removed_contents()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Meters;
    use crate::error::Error;
    use crate::schema::Schema;
    use crate::storage::generation::RebuildPlan;
    use crate::storage::{CatalogChange, Limits, StoreFiles};
    use std::sync::Arc;

    /// The size of an index page in bytes.
    const PAGE: usize = 4096;

    /// A document that is removed again. Its long key makes its entry long.
    fn change(number: u32) -> DocumentChange {
        let key = format!("{number:0200}");
        let new = Some(DocumentRow {
            content: 0,
            size: 0,
            modified: None,
            added: 0,
            run: 0,
            source: 0,
            last_seen: 0,
        });
        DocumentChange {
            key: key.into(),
            old: None,
            new,
        }
    }

    #[test]
    fn a_page_that_makes_no_sense_is_an_error_that_names_the_index_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = StoreFiles::create(folder.path(), Schema::default(), 1).unwrap();
        let documents = (0..300).map(change).collect();
        let change = CatalogChange {
            documents,
            ..CatalogChange::default()
        };
        files.commit(&change, 1, &Meters::default()).unwrap();
        let index = files.index_path.clone();
        drop(files);
        let sound = std::fs::read(&index).unwrap();
        let mut refused = 0;
        for page in 1..sound.len() / PAGE {
            let mut damaged = sound.clone();
            damaged[page * PAGE..][..PAGE].fill(0);
            std::fs::write(&index, damaged).unwrap();
            // Opened for reading: in test builds, opening for writing reads all pages.
            let Ok(snapshot) = Snapshot::open(folder.path()) else {
                continue;
            };
            let plan = RebuildPlan {
                schema: Arc::new(Schema::default()),
                renumbers: false,
            };
            let Ok(mut next) = NextGeneration::take_up(&snapshot, &plan, Limits::default()) else {
                continue;
            };
            for threads in [1, 2] {
                if let Err(error) = next.copy_catalog(&snapshot, threads) {
                    assert!(
                        matches!(&error, Error::Damaged { path, .. } if *path == index),
                        "page {page}: {error}"
                    );
                    refused += 1;
                }
            }
            drop(next);
            NextGeneration::discard(folder.path(), &snapshot).unwrap();
        }
        assert!(refused > 10, "{refused}");
    }
}

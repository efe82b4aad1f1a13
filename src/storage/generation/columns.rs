//! The columns that the next generation does not share with the one in use.

use std::path::Path;

use super::NextGeneration;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::columns::{ColumnSpec, ColumnView, ColumnWriter, Trust};
use crate::storage::format::{ColumnKind, PerColumn, narrow};
use crate::storage::index::{Meta, catalog};
use crate::storage::view::Snapshot;

/// Makes rows of contents of a snapshot again, under the plan's schema.
pub(crate) trait RowMaker {
    /// The signatures that are kept of some contents, one after another.
    fn signatures(&self, snapshot: &Snapshot, contents: &[u32]) -> Result<Vec<u8>>;

    /// The fingerprints of a content in stored form.
    fn fingerprints(&self, snapshot: &Snapshot, content: u32) -> Result<Vec<u8>>;
}

/// Receives the progress of the work. An error stops the work.
pub(crate) type ProgressFn<'a> = dyn FnMut(super::GenerationProgress) -> Result<()> + 'a;

/// The writers of the columns that are not shared.
pub(super) type NextColumns = PerColumn<Option<ColumnWriter>>;

impl NextColumns {
    /// Creates empty columns for the generation of `meta`, with the access rights of those of `snapshot`.
    pub(super) fn begin(
        folder: &Path,
        meta: &Meta,
        schema: &Schema,
        snapshot: &Snapshot,
    ) -> Result<NextColumns> {
        NextColumns::with(meta, schema, |spec| {
            let like = snapshot.column(spec.header.kind).path();
            spec.create(folder, Some(like))
        })
    }

    /// Opens the columns of the generation of `meta` and truncates them to the lengths that it records.
    pub(super) fn resume(folder: &Path, meta: &Meta, schema: &Schema) -> Result<NextColumns> {
        NextColumns::with(meta, schema, |spec| spec.open(folder, Trust::File))
    }

    fn with(
        meta: &Meta,
        schema: &Schema,
        make: impl Fn(ColumnSpec) -> Result<ColumnWriter>,
    ) -> Result<NextColumns> {
        PerColumn::try_new(|kind| {
            let spec = ColumnSpec::of(kind, meta, schema)?;
            let is_new = u64::from(spec.header.generation) == meta.generation;
            is_new.then(|| make(spec)).transpose()
        })
    }

    /// The columns that are not shared.
    fn own(&mut self) -> impl Iterator<Item = (ColumnKind, &mut ColumnWriter)> {
        self.each_mut()
            .filter_map(|(kind, column)| Some((kind, column.as_mut()?)))
    }

    /// The length in bytes of the columns that are not shared.
    fn own_len(&self) -> u64 {
        let own = self.each().filter_map(|(_, column)| column.as_ref());
        own.map(ColumnWriter::len).sum()
    }

    /// Views of the columns, which are those of `snapshot` if they are shared.
    pub(super) fn views(&self, snapshot: &Snapshot) -> PerColumn<ColumnView> {
        PerColumn::new(|kind| {
            let column = self[kind].as_ref().map(ColumnWriter::view);
            column.unwrap_or_else(|| snapshot.column(kind).clone())
        })
    }

    fn are_shared(&self) -> bool {
        self.each().all(|(_, column)| column.is_none())
    }
}

impl NextGeneration {
    /// Takes over the rows of all contents of `snapshot`, with periodic checkpoints and a final one.
    pub(crate) fn cover(
        &mut self,
        snapshot: &Snapshot,
        rows: &dyn RowMaker,
        watch: &mut ProgressFn<'_>,
    ) -> Result<()> {
        if self.behind(snapshot) == 0 {
            return Ok(());
        }
        if self.columns.are_shared() {
            // Nothing to make durable yet: the next commit records it.
            self.state.covered = snapshot.len;
            return self.count_rows(snapshot);
        }
        let mut saved = self.columns.own_len();
        while self.state.covered < snapshot.len {
            let end = snapshot
                .len
                .min(self.state.covered.saturating_add(self.limits.taken_over));
            self.cover_batch(snapshot, end, rows)?;
            if self.columns.own_len() - saved >= self.limits.checkpoint_bytes {
                self.checkpoint(snapshot)?;
                saved = self.columns.own_len();
            }
            if let Err(stopped) = watch(self.progress(snapshot)) {
                if matches!(stopped, Error::Stopped) {
                    self.checkpoint(snapshot)?;
                }
                return Err(stopped);
            }
        }
        self.checkpoint(snapshot)
    }

    /// Takes over the rows of the contents below `end`.
    fn cover_batch(&mut self, snapshot: &Snapshot, end: u32, rows: &dyn RowMaker) -> Result<()> {
        let ids = (self.state.covered..end).filter(|&id| !self.ids.leaves_out(id));
        let ids: Vec<u32> = ids.collect();
        let schema = self.plan.schema.clone();
        let signed = |column: &ColumnWriter| schema.signatures_in(column.len());
        let mut signatures = self.columns[ColumnKind::Signatures].as_ref().map(signed);
        for &id in &ids {
            // A row is copied, except for the ends of blocks in columns that are written again.
            let mut row = snapshot.content(id)?;
            if let Some(signatures) = &mut signatures {
                *signatures += u32::from(schema.keeps_signature(row.shingle_count));
                row.signatures = *signatures;
            }
            if let Some(shingles) = &mut self.columns[ColumnKind::Shingles] {
                shingles.append(snapshot.packed_shingles(id)?)?;
                row.shingles_end = shingles.len();
            }
            if let Some(fingerprints) = &mut self.columns[ColumnKind::Fingerprints] {
                let made = rows.fingerprints(snapshot, id)?;
                let lacks = made.is_empty() && row.shingle_count > 0;
                let is_kept = self.plan.schema.fingerprint_step().is_some();
                self.meta.unfingerprinted += u64::from(lacks && is_kept);
                fingerprints.append(&made)?;
                row.fingerprints_end = fingerprints.len();
            }
            if let Some(contents) = &mut self.columns[ColumnKind::Contents] {
                contents.append(&row.encode())?;
            }
        }
        // All at once, because the signatures are made on several threads.
        if let Some(column) = &mut self.columns[ColumnKind::Signatures] {
            column.append(&rows.signatures(snapshot, &ids)?)?;
            debug_assert_eq!(Some(signed(column)), signatures);
        }
        self.state.covered = end;
        Ok(())
    }

    /// Makes the rows taken over from `snapshot` durable.
    fn checkpoint(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.count_rows(snapshot)?;
        let transaction = self.begin_write()?;
        // The rows first, then the counts that name them, as in a commit of the store.
        for (kind, column) in self.columns.own() {
            column.sync()?;
            catalog::write_sums(&transaction, kind, &column.changed_sums())
                .map_err(|error| Error::index(&self.path, error))?;
            column.committing();
        }
        self.commit(transaction)?;
        for (_, column) in self.columns.own() {
            column.committed();
        }
        Ok(())
    }

    fn count_rows(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.meta.contents = self.ids.new_id(self.state.covered).into();
        let ends = snapshot.ends_before(self.state.covered)?;
        let len = |kind, shared| {
            self.columns[kind]
                .as_ref()
                .map_or(shared, ColumnWriter::len)
        };
        if self.columns[ColumnKind::Fingerprints].is_none() {
            self.meta.unfingerprinted = snapshot.tables.meta.unfingerprinted;
        }
        self.meta.shingle_bytes = len(ColumnKind::Shingles, ends.shingles_end);
        let signature_bytes = self.plan.schema.signature_bytes() as u64;
        let signed = u64::from(ends.signatures) * signature_bytes;
        self.meta.signature_bytes = len(ColumnKind::Signatures, signed);
        self.meta.fingerprint_bytes = len(ColumnKind::Fingerprints, ends.fingerprints_end);
        Ok(())
    }

    /// The number of contents that have rows, counted by new id.
    pub(super) fn rows(&self) -> Result<u32> {
        narrow(&self.path, self.meta.contents)
    }
}

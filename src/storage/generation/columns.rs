//! The columns that the next generation does not share with the one in use.

use std::path::Path;

use super::NextGeneration;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::columns::{ColumnSpec, ColumnView, ColumnWriter, Trust};
use crate::storage::format::{ColumnKind, narrow};
use crate::storage::index::{Meta, catalog};
use crate::storage::view::Snapshot;

/// Computes the signatures of some contents of a snapshot, under the plan's schema, and concatenates them.
pub(crate) type SignContents<'a> = dyn Fn(&Snapshot, &[u32]) -> Result<Vec<u8>> + 'a;

/// Receives the progress of the work. An error stops the work.
pub(crate) type ProgressFn<'a> = dyn FnMut(super::GenerationProgress) -> Result<()> + 'a;

/// The writers of the columns that are not shared.
#[derive(Debug)]
pub(super) struct NextColumns {
    contents: Option<ColumnWriter>,
    shingles: Option<ColumnWriter>,
    signatures: Option<ColumnWriter>,
}

impl NextColumns {
    /// Creates empty columns for the generation of `meta`, with the access rights of those of `snapshot`.
    pub(super) fn create(
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
    pub(super) fn open(folder: &Path, meta: &Meta, schema: &Schema) -> Result<NextColumns> {
        NextColumns::with(meta, schema, |spec| spec.open(folder, Trust::File))
    }

    fn with(
        meta: &Meta,
        schema: &Schema,
        make: impl Fn(ColumnSpec) -> Result<ColumnWriter>,
    ) -> Result<NextColumns> {
        let column = |kind| {
            let spec = ColumnSpec::of(kind, meta, schema)?;
            let is_new = u64::from(spec.header.generation) == meta.generation;
            is_new.then(|| make(spec)).transpose()
        };
        Ok(NextColumns {
            contents: column(ColumnKind::Contents)?,
            shingles: column(ColumnKind::Shingles)?,
            signatures: column(ColumnKind::Signatures)?,
        })
    }

    fn each(&mut self) -> impl Iterator<Item = (ColumnKind, &mut ColumnWriter)> {
        let columns = [
            (ColumnKind::Contents, &mut self.contents),
            (ColumnKind::Shingles, &mut self.shingles),
            (ColumnKind::Signatures, &mut self.signatures),
        ];
        columns
            .into_iter()
            .filter_map(|(kind, column)| Some((kind, column.as_mut()?)))
    }

    /// The column of a kind, if it is not shared.
    pub(super) fn of(&self, kind: ColumnKind) -> Option<&ColumnWriter> {
        match kind {
            ColumnKind::Contents => self.contents.as_ref(),
            ColumnKind::Shingles => self.shingles.as_ref(),
            ColumnKind::Signatures => self.signatures.as_ref(),
        }
    }

    /// The length in bytes of the column of a kind, or 0 if it is shared.
    pub(super) fn len(&self, kind: ColumnKind) -> u64 {
        self.of(kind).map_or(0, ColumnWriter::len)
    }

    /// A view of the column of a kind, which is that of `snapshot` if it is shared.
    pub(super) fn view(&self, kind: ColumnKind, snapshot: &Snapshot) -> ColumnView {
        let column = self.of(kind).map(ColumnWriter::view);
        column.unwrap_or_else(|| snapshot.column(kind).clone())
    }

    fn are_shared(&self) -> bool {
        self.signatures.is_none()
    }
}

impl NextGeneration {
    /// Takes over the rows of all contents of `snapshot`, with periodic checkpoints and a final one.
    pub(crate) fn cover(
        &mut self,
        snapshot: &Snapshot,
        sign: &SignContents<'_>,
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
        let bytes = |next: &NextGeneration| {
            let kinds = ColumnKind::ALL;
            kinds.iter().map(|&kind| next.columns.len(kind)).sum()
        };
        let mut saved: u64 = bytes(self);
        while self.state.covered < snapshot.len {
            let end = snapshot
                .len
                .min(self.state.covered.saturating_add(self.limits.taken_over));
            self.cover_batch(snapshot, end, sign)?;
            if bytes(self) - saved >= self.limits.checkpoint_bytes {
                self.checkpoint(snapshot)?;
                saved = bytes(self);
            }
            if let Err(stopped) = watch(self.progress(snapshot)) {
                if matches!(stopped, Error::Interrupted) {
                    self.checkpoint(snapshot)?;
                }
                return Err(stopped);
            }
        }
        self.checkpoint(snapshot)
    }

    /// Takes over the rows of the contents below `end`.
    fn cover_batch(
        &mut self,
        snapshot: &Snapshot,
        end: u32,
        sign: &SignContents<'_>,
    ) -> Result<()> {
        let ids = (self.state.covered..end).filter(|&id| !self.ids.leaves_out(id));
        let ids: Vec<u32> = ids.collect();
        if let (Some(contents), Some(shingles)) =
            (&mut self.columns.contents, &mut self.columns.shingles)
        {
            for &id in &ids {
                let mut row = snapshot.content(id)?;
                shingles.append(snapshot.packed_shingles(id)?)?;
                row.shingles_end = shingles.len();
                contents.append(&row.encode())?;
            }
        }
        if let Some(signatures) = &mut self.columns.signatures {
            let signed = sign(snapshot, &ids)?;
            debug_assert_eq!(signed.len(), ids.len() * self.plan.schema.signature_bytes());
            signatures.append(&signed)?;
        }
        self.state.covered = end;
        Ok(())
    }

    /// Makes the rows taken over from `snapshot` durable.
    fn checkpoint(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.count_rows(snapshot)?;
        let transaction = self.begin_write()?;
        for (kind, column) in self.columns.each() {
            column.sync()?;
            catalog::write_sums(&transaction, kind, &column.changed_sums())
                .map_err(|error| Error::index(&self.path, error))?;
            column.committing();
        }
        self.commit(transaction)?;
        for (_, column) in self.columns.each() {
            column.committed();
        }
        Ok(())
    }

    fn count_rows(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.meta.contents = self.ids.new_id(self.state.covered).into();
        self.meta.shingle_bytes = match &self.columns.shingles {
            Some(shingles) => shingles.len(),
            None => snapshot.shingles_before(self.state.covered)?,
        };
        Ok(())
    }

    /// The number of contents that have rows, counted by new id.
    pub(super) fn rows(&self) -> Result<u32> {
        narrow(&self.path, self.meta.contents)
    }
}

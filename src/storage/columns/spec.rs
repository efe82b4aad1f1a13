//! The files and the writing sides of a store's columns.

use std::path::{Path, PathBuf};

use super::column::{ColumnView, ColumnWriter, Trust};
use crate::codec::low32;
use crate::error::Result;
use crate::schema::Schema;
use crate::storage::format::{ColumnKind, ContentRow, Header, PerColumn, narrow};
use crate::storage::index::Meta;
use crate::storage::names::INDEX;

/// The writing sides of a store's columns.
pub(crate) type ColumnWriters = PerColumn<ColumnWriter>;

impl ColumnWriters {
    /// Creates the columns that `meta` names, empty, with the access rights of the file at `like`, if given.
    pub(crate) fn create(
        folder: &Path,
        like: Option<&Path>,
        meta: &Meta,
        schema: &Schema,
    ) -> Result<ColumnWriters> {
        PerColumn::try_new(|kind| ColumnSpec::of(kind, meta, schema)?.create(folder, like))
    }

    /// Opens the columns that `meta` names, and truncates them to the lengths that it records.
    pub(crate) fn open(folder: &Path, meta: &Meta, schema: &Schema) -> Result<ColumnWriters> {
        PerColumn::try_new(|kind| ColumnSpec::of(kind, meta, schema)?.open(folder, Trust::Sums))
    }
}

/// What the index records of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) header: Header,
    /// The number of committed bytes.
    pub(crate) len: u64,
}

impl ColumnSpec {
    /// The record of the column of a kind in `meta`.
    pub(crate) fn of(kind: ColumnKind, meta: &Meta, schema: &Schema) -> Result<ColumnSpec> {
        let (row_bytes, len) = match kind {
            ColumnKind::Contents => {
                let bytes = ContentRow::BYTES;
                (bytes, meta.contents * bytes as u64)
            }
            ColumnKind::Shingles => (0, meta.shingle_bytes),
            ColumnKind::Signatures => (schema.signature_bytes(), meta.signature_bytes),
            ColumnKind::Fingerprints => (0, meta.fingerprint_bytes),
        };
        let header = Header {
            kind,
            store: meta.store,
            generation: narrow(Path::new(INDEX), meta.files[kind])?,
            row_bytes: low32(row_bytes as u64),
        };
        Ok(ColumnSpec { header, len })
    }

    /// The path of the column's file in a store's folder.
    pub(crate) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.header.kind.file_name(self.header.generation))
    }

    /// Creates the file, without rows, with the access rights of the file `like`.
    pub(crate) fn create(&self, folder: &Path, like: Option<&Path>) -> Result<ColumnWriter> {
        ColumnWriter::create(&self.path(folder), &self.header, like)
    }

    /// Opens the file for writing.
    pub(crate) fn open(&self, folder: &Path, trust: Trust) -> Result<ColumnWriter> {
        ColumnWriter::open(&self.path(folder), &self.header, self.len, trust)
    }

    /// Opens the file for reading.
    pub(crate) fn view(&self, folder: &Path, trust: Trust) -> Result<ColumnView> {
        ColumnView::open(&self.path(folder), &self.header, self.len, trust)
    }
}

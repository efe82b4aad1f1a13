//! The rows of a content, and its buckets.

use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::columns::ColumnView;
use crate::storage::format::{ColumnKind, ContentRow, copy_hash};

/// The columns with fixed row sizes, of equal length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentRows<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) contents: &'a ColumnView,
    pub(crate) signatures: &'a ColumnView,
    /// The snapshot with the checksums of those columns that this process shares with others.
    pub(crate) snapshot: &'a Snapshot,
}

impl<'a> ContentRows<'a> {
    /// The row of `content`.
    #[inline]
    pub(crate) fn content(self, content: u32) -> Result<ContentRow> {
        let bytes = self.row(
            ColumnKind::Contents,
            self.contents,
            content,
            ContentRow::BYTES,
        )?;
        match bytes.first_chunk() {
            Some(row) => Ok(ContentRow::decode(row)),
            None => Err(Error::damaged(self.contents.path(), "a row is cut short")),
        }
    }

    /// The row of `content`, and where its shingles begin according to the row before it.
    #[inline]
    pub(super) fn content_and_start(self, content: u32) -> Result<(ContentRow, u64)> {
        let Some(before) = content.checked_sub(1) else {
            return Ok((self.content(content)?, 0));
        };
        let bytes = self.rows(
            ColumnKind::Contents,
            self.contents,
            before,
            2,
            ContentRow::BYTES,
        )?;
        match bytes.as_chunks().0 {
            [before, row] => Ok((ContentRow::decode(row), ContentRow::shingles_end(before))),
            _ => Err(Error::damaged(self.contents.path(), "a row is cut short")),
        }
    }

    /// The signature of `content` in stored form.
    #[inline]
    pub(crate) fn signature(self, content: u32) -> Result<&'a [u8]> {
        let row_bytes = self.schema.signature_bytes();
        self.row(ColumnKind::Signatures, self.signatures, content, row_bytes)
    }

    #[inline]
    fn row(
        self,
        kind: ColumnKind,
        column: &'a ColumnView,
        index: u32,
        row_bytes: usize,
    ) -> Result<&'a [u8]> {
        self.rows(kind, column, index, 1, row_bytes)
    }

    /// `count` rows from `first` on.
    #[inline]
    fn rows(
        self,
        kind: ColumnKind,
        column: &'a ColumnView,
        first: u32,
        count: u64,
        row_bytes: usize,
    ) -> Result<&'a [u8]> {
        let row_bytes = row_bytes as u64;
        let start = u64::from(first) * row_bytes;
        let range = start..start + count * row_bytes;
        self.snapshot.verify(kind, column, &range)?;
        column.bytes(range)
    }

    /// The hash of `content` in a list of buckets: list 0 is that of the copies, the others are the bands.
    ///
    /// `None` if the content is in no bucket of the list.
    pub(crate) fn list_hash(self, content: u32, list: u32) -> Result<Option<u32>> {
        let row = self.content(content)?;
        let Some(band) = list.checked_sub(1) else {
            return Ok(Some(copy_hash(&row.hash)));
        };
        if row.shingle_count == 0 {
            return Ok(None);
        }
        let signature = self.signature(content)?;
        let shingles = row.shingle_count as usize;
        Ok(self.schema.band_hash(shingles, signature, band))
    }
}

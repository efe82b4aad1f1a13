//! The rows of a content, and the buckets that follow from them.

use super::column::ColumnView;
use super::format::{ContentRow, copy_hash};
use crate::error::{Error, Result};
use crate::schema::Schema;

/// The columns of fixed width, of one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    pub(super) schema: &'a Schema,
    pub(super) contents: &'a ColumnView,
    pub(super) signatures: &'a ColumnView,
}

impl<'a> Rows<'a> {
    /// The row of `content`.
    pub(super) fn content(self, content: u32) -> Result<ContentRow> {
        let bytes = self.contents.row(content, ContentRow::BYTES)?;
        match bytes.first_chunk() {
            Some(row) => Ok(ContentRow::decode(row)),
            None => Err(Error::damaged(self.contents.path(), "a row is cut short")),
        }
    }

    /// The signature of `content`, as stored.
    pub(super) fn signature(self, content: u32) -> Result<&'a [u8]> {
        self.signatures.row(content, self.schema.signature_bytes())
    }

    /// The hash of `content` in a list of buckets: list 0 are the copies, the others the bands. None
    /// where it is in no bucket of the list.
    pub(super) fn list_hash(self, content: u32, list: u32) -> Result<Option<u32>> {
        let row = self.content(content)?;
        let Some(band) = list.checked_sub(1) else {
            return Ok(Some(copy_hash(&row.hash)));
        };
        if row.shingle_count == 0 {
            return Ok(None);
        }
        let signature = self.signature(content)?;
        let width = self.schema.slot_width();
        Ok(Some(self.schema.bands().hash(signature, width, band)))
    }
}

//! The rows of a content, and its buckets.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use super::snapshot::Snapshot;
use crate::codec::words;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::storage::columns::{ColumnView, packed};
use crate::storage::format::{ColumnKind, ContentRow, MOST_BYTES, PerColumn, copy_hash};
use crate::storage::postings::BucketList;
use crate::text::ShingleSet;

/// The columns that contents are looked up in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentRows<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) signer: &'a Signer,
    pub(crate) columns: &'a PerColumn<ColumnView>,
    /// The snapshot with the checksums of those columns that this process shares with others.
    pub(crate) snapshot: &'a Snapshot,
}

/// Where the blocks of a content end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockEnds {
    pub(crate) shingles_end: u64,
    pub(crate) fingerprints_end: u64,
    /// The number of signatures.
    pub(crate) signatures: u32,
}

thread_local! {
    /// The memory in which a thread unpacks small sets to sign them.
    static SMALL_SET: Cell<ShingleSet> = Cell::default();
}

impl<'a> ContentRows<'a> {
    /// The row of `content`.
    #[inline]
    pub(crate) fn content(self, content: u32) -> Result<ContentRow> {
        let bytes = self.row(ColumnKind::Contents, content, ContentRow::BYTES)?;
        match bytes.first_chunk() {
            Some(row) => Ok(ContentRow::decode(row)),
            None => Err(self.cut_short()),
        }
    }

    /// The row of `content`, and where the blocks of the content before it end.
    #[inline]
    fn content_and_before(self, content: u32) -> Result<(ContentRow, BlockEnds)> {
        let Some(before) = content.checked_sub(1) else {
            return Ok((self.content(content)?, BlockEnds::default()));
        };
        let bytes = self.rows(ColumnKind::Contents, before, 2, ContentRow::BYTES)?;
        match bytes.as_chunks().0 {
            [before, row] => Ok((ContentRow::decode(row), BlockEnds::of_row(before))),
            _ => Err(self.cut_short()),
        }
    }

    /// The row of `content`, and its shingles.
    #[inline]
    pub(super) fn content_and_shingles(
        self,
        content: u32,
    ) -> Result<(ContentRow, PackedShingles<'a>)> {
        let (row, before) = self.content_and_before(content)?;
        let shingles = PackedShingles {
            rows: self,
            range: before.shingles_end..row.shingles_end,
            count: row.shingle_count as usize,
        };
        Ok((row, shingles))
    }

    /// Where the blocks of all contents below `content` end.
    pub(crate) fn ends_before(self, content: u32) -> Result<BlockEnds> {
        let Some(before) = content.checked_sub(1) else {
            return Ok(BlockEnds::default());
        };
        let ContentRow {
            shingles_end,
            fingerprints_end,
            signatures,
            ..
        } = self.content(before)?;
        Ok(BlockEnds {
            shingles_end,
            fingerprints_end,
            signatures,
        })
    }

    #[cold]
    fn cut_short(self) -> Error {
        Error::damaged(
            self.columns[ColumnKind::Contents].path(),
            "a row is cut short",
        )
    }

    /// The signature of `content` in stored form. That of a small set is made of its shingles.
    #[inline]
    pub(crate) fn signature(self, content: u32) -> Result<Cow<'a, [u8]>> {
        self.first_slots(u32::MAX, content)
    }

    /// The same, of which no more than the first `slots` slots are needed: no others are made.
    #[inline]
    pub(crate) fn first_slots(self, slots: u32, content: u32) -> Result<Cow<'a, [u8]>> {
        let (row, packed) = self.content_and_shingles(content)?;
        match self.kept_signature(&row)? {
            Some(kept) => Ok(Cow::Borrowed(kept)),
            None => self.made_slots(slots, &packed).map(Cow::Owned),
        }
    }

    /// The same, of a content that has these shingles: none are unpacked.
    #[inline]
    pub(crate) fn signature_of(self, content: u32, shingles: &ShingleSet) -> Result<Cow<'a, [u8]>> {
        Ok(match self.kept_signature(&self.content(content)?)? {
            Some(kept) => Cow::Borrowed(kept),
            None => Cow::Owned(self.signer.first_slots(u32::MAX, shingles.as_slice())),
        })
    }

    /// The signature of the content with this row, if it is kept.
    #[inline]
    pub(super) fn kept_signature(self, row: &ContentRow) -> Result<Option<&'a [u8]>> {
        if !self.schema.keeps_signature(row.shingle_count) {
            return Ok(None);
        }
        let Some(place) = row.signatures.checked_sub(1) else {
            return Err(self.cut_short());
        };
        let bytes = self.schema.signature_bytes();
        self.row(ColumnKind::Signatures, place, bytes).map(Some)
    }

    /// The first slots of the signature that these shingles have.
    fn made_slots(self, slots: u32, packed: &PackedShingles<'_>) -> Result<Vec<u8>> {
        let mut shingles = SMALL_SET.take();
        let unpacked = packed.unpack(&mut shingles);
        let made = self.signer.first_slots(slots, shingles.as_slice());
        SMALL_SET.set(shingles);
        unpacked.map(|()| made)
    }

    /// The fingerprints of `content` in stored form.
    pub(crate) fn fingerprints(self, content: u32) -> Result<&'a [u8]> {
        let (row, before) = self.content_and_before(content)?;
        let range = before.fingerprints_end..row.fingerprints_end;
        self.block(ColumnKind::Fingerprints, &range)
    }

    #[inline]
    fn row(self, kind: ColumnKind, index: u32, row_bytes: usize) -> Result<&'a [u8]> {
        self.rows(kind, index, 1, row_bytes)
    }

    /// `count` rows from `first` on.
    #[inline]
    fn rows(self, kind: ColumnKind, first: u32, count: u64, row_bytes: usize) -> Result<&'a [u8]> {
        let row_bytes = row_bytes as u64;
        let start = u64::from(first) * row_bytes;
        self.block(kind, &(start..start + count * row_bytes))
    }

    /// The bytes in a range of the column of a kind.
    #[inline]
    pub(super) fn block(self, kind: ColumnKind, range: &Range<u64>) -> Result<&'a [u8]> {
        let column = &self.columns[kind];
        self.snapshot.verify(kind, column, range)?;
        column.bytes(range.clone())
    }

    /// Calls `visit` with each hash of `content` in a list of buckets. A fingerprint may come more than once.
    pub(crate) fn for_each_hash(
        self,
        content: u32,
        list: BucketList,
        mut visit: impl FnMut(u32),
    ) -> Result<()> {
        match list {
            BucketList::Copies => visit(copy_hash(&self.content(content)?.hash)),
            BucketList::Band(band) => {
                let row = self.content(content)?;
                if row.shingle_count > 0 {
                    let signature = self.signature(content)?;
                    let shingles = row.shingle_count as usize;
                    let hash = self.schema.band_hash(shingles, &signature, band);
                    hash.into_iter().for_each(visit);
                }
            }
            BucketList::Fingerprints { .. } => {
                words(self.fingerprints(content)?).for_each(visit);
            }
        }
        Ok(())
    }
}

/// The shingles of a content, not yet read.
#[derive(Clone, Debug)]
pub(crate) struct PackedShingles<'a> {
    rows: ContentRows<'a>,
    range: Range<u64>,
    count: usize,
}

impl<'a> PackedShingles<'a> {
    /// The shingles in stored form.
    #[inline]
    pub(crate) fn bytes(&self) -> Result<&'a [u8]> {
        self.rows.block(ColumnKind::Shingles, &self.range)
    }

    /// The tails of the shingles, if they have any.
    #[inline]
    pub(crate) fn tails(&self) -> Result<Option<&'a [[u8; 4]]>> {
        Ok(packed::stored_tails(self.bytes()?, self.count))
    }

    /// Replaces `set` by the shingles.
    pub(crate) fn unpack(&self, set: &mut ShingleSet) -> Result<()> {
        let unpacked = packed::unpack_stored(self.bytes()?, self.count, set);
        unpacked.map_err(|reason| self.damaged(reason))
    }

    /// Whether one of `values`, which ascend, is among the shingles.
    pub(crate) fn has_any(&self, values: &[u32]) -> Result<bool> {
        let has_any = packed::has_any(self.bytes()?, self.count, values);
        has_any.map_err(|reason| self.damaged(reason))
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::damaged(self.rows.columns[ColumnKind::Shingles].path(), reason)
    }
}

impl BlockEnds {
    /// Checks that a row can hold them.
    ///
    /// # Errors
    ///
    /// [`Error::Full`].
    pub(crate) fn check(&self) -> Result<()> {
        if self.shingles_end.max(self.fingerprints_end) < MOST_BYTES {
            Ok(())
        } else {
            Err(Error::Full)
        }
    }

    fn of_row(bytes: &[u8; ContentRow::BYTES]) -> BlockEnds {
        BlockEnds {
            shingles_end: ContentRow::shingles_end(bytes),
            fingerprints_end: ContentRow::fingerprints_end(bytes),
            signatures: ContentRow::signatures(bytes),
        }
    }
}

//! The rows of a content, and its buckets.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use super::snapshot::Snapshot;
use crate::codec::words;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::storage::columns::{ColumnView, unpack_stored};
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
    /// The memory in which a thread makes signatures of small sets.
    static SIGNING: Cell<(ShingleSet, Vec<u32>)> = Cell::default();
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
    pub(super) fn content_and_before(self, content: u32) -> Result<(ContentRow, BlockEnds)> {
        let Some(before) = content.checked_sub(1) else {
            return Ok((self.content(content)?, BlockEnds::default()));
        };
        let bytes = self.rows(ColumnKind::Contents, before, 2, ContentRow::BYTES)?;
        match bytes.as_chunks().0 {
            [before, row] => Ok((ContentRow::decode(row), BlockEnds::of_row(before))),
            _ => Err(self.cut_short()),
        }
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
        match self.kept_signature(content)? {
            Some(kept) => Ok(Cow::Borrowed(kept)),
            None => self.made_signature(content).map(Cow::Owned),
        }
    }

    /// The signature of `content` if it is kept.
    #[inline]
    pub(crate) fn kept_signature(self, content: u32) -> Result<Option<&'a [u8]>> {
        let row = self.content(content)?;
        if !self.schema.keeps_signature(row.shingle_count) {
            return Ok(None);
        }
        let Some(place) = row.signatures.checked_sub(1) else {
            return Err(self.cut_short());
        };
        let bytes = self.schema.signature_bytes();
        self.row(ColumnKind::Signatures, place, bytes).map(Some)
    }

    /// The signature that the shingles of `content` have.
    fn made_signature(self, content: u32) -> Result<Vec<u8>> {
        let (row, before) = self.content_and_before(content)?;
        let range = before.shingles_end..row.shingles_end;
        let packed = self.block(ColumnKind::Shingles, &range)?;
        let mut signature = Vec::with_capacity(self.schema.signature_bytes());
        let (mut shingles, mut minima) = SIGNING.take();
        let unpacked = unpack_stored(packed, row.shingle_count as usize, &mut shingles);
        self.signer
            .sign_into(shingles.as_slice(), &mut minima, &mut signature);
        SIGNING.set((shingles, minima));
        match unpacked {
            Ok(()) => Ok(signature),
            Err(reason) => Err(Error::damaged(
                self.columns[ColumnKind::Shingles].path(),
                reason,
            )),
        }
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

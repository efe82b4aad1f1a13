//! The space that a compaction would free.

use super::snapshot::{Snapshot, file_size};
use crate::error::Result;
use crate::storage::format::ContentRow;
use crate::storage::limits::Limits;

/// The approximate number of bytes that redb reserves in an index, or leaves free even after a rebuild.
const OWN_BYTES: u64 = 128 << 10;

impl Snapshot {
    /// Whether rewriting the index would free about half of its file, given what was added since it was last written as
    /// a whole.
    pub(crate) fn is_loose(&self, limits: &Limits) -> bool {
        let meta = &self.tables.meta;
        let added = meta.contents.saturating_sub(meta.packed);
        added >= limits.loose && added >= meta.contents / limits.all_to_loose
    }

    /// Whether a compaction would free nothing: no content was removed, none was added since the index was last written
    /// as a whole, and the index has no unused pages.
    pub(crate) fn is_compact(&self) -> Result<bool> {
        let meta = &self.tables.meta;
        Ok(meta.contents == meta.packed && self.reclaimable()? == 0)
    }

    /// The number of bytes of removed contents and unused pages of the index.
    ///
    /// The postings of removed contents count as their share of the bucket tables.
    pub(crate) fn reclaimable(&self) -> Result<u64> {
        let removed = self.removed_contents()?;
        let mut bytes = 0;
        for &content in &removed {
            let signature = self.kept_signature(content)?.unwrap_or_default();
            bytes += (ContentRow::BYTES + signature.len()) as u64;
            bytes += self.packed_shingles(content)?.len() as u64;
            bytes += self.fingerprints(content)?.len() as u64;
        }
        let (posted, catalog) = self.tables.page_bytes()?;
        let (_, index) = file_size(self.tables.path())?;
        bytes += posted / u64::from(self.len.max(1)) * removed.len() as u64;
        Ok(bytes + index.saturating_sub(posted + catalog + OWN_BYTES))
    }
}

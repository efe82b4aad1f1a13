//! The bucket tables: for each level, one redb table of packed leaves per band, and one for content hashes.
//!
//! The key of a leaf is the top `prefix` bits of its hashes. Hashes are uniform, so the load of the leaves is too.
//! `prefix` grows with the number of contents so that a leaf holds 128 to 256 of them. When it grows, the table is
//! rewritten. A bucket with more contents than that only makes its leaf longer.

use std::ops::RangeInclusive;

use redb::{ReadOnlyTable, ReadTransaction, WriteTransaction};

use super::error::BucketError;
use super::leaf::Leaf;
use super::list::{BucketList, KeyedLevel, LeafTableDefinition};
use super::runs::{PostingRuns, key};
use crate::storage::index::{copy, page_bytes};

/// A bucket table of a snapshot.
#[derive(Debug)]
pub(crate) struct BucketTable {
    table: ReadOnlyTable<u32, &'static [u8]>,
    level: usize,
    hash_bits: u32,
    name: String,
}

impl BucketTable {
    /// Opens a table of `list` as seen by `transaction`.
    pub(crate) fn open(
        transaction: &ReadTransaction,
        list: BucketList,
        keyed: KeyedLevel,
    ) -> Result<BucketTable, BucketError> {
        let name = list.table(keyed);
        let table = match transaction.open_table(LeafTableDefinition::new(&name)) {
            Err(redb::TableError::TableDoesNotExist(_)) => {
                return Err(BucketError::Damaged(format!("the table {name} is missing")));
            }
            table => table?,
        };
        Ok(BucketTable {
            table,
            level: keyed.level,
            hash_bits: list.hash_bits(keyed),
            name,
        })
    }

    /// Appends to `found` the ids below `end` whose hash is `hash`, descending, until it holds `most` ids.
    pub(crate) fn look_up(
        &self,
        hash: u32,
        end: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) -> Result<(), BucketError> {
        let room = most.saturating_sub(found.len());
        if room == 0 {
            return Ok(());
        }
        let hash_bits = self.hash_bits;
        let Some(bytes) = self.table.get(key(hash, hash_bits))? else {
            return Ok(());
        };
        let leaf = Leaf::new(bytes.value(), hash_bits).map_err(BucketError::Damaged)?;
        found.extend(leaf.ids_below(hash, end).take(room));
        Ok(())
    }

    /// The number of bytes in the pages of the table.
    pub(crate) fn page_bytes(&self) -> Result<u64, BucketError> {
        Ok(page_bytes(&self.table)?)
    }

    /// Copies the table into an index that has none for its list and level.
    pub(crate) fn copy_to(&self, transaction: &WriteTransaction) -> Result<(), BucketError> {
        let mut target = transaction.open_table(LeafTableDefinition::new(&self.name))?;
        Ok(copy(&self.table, &mut target)?)
    }

    /// Adds the table's postings with some hashes to `runs`.
    pub(super) fn add_to<'t>(
        &'t self,
        runs: &mut PostingRuns<'t>,
        hashes: RangeInclusive<u32>,
    ) -> Result<(), BucketError> {
        runs.add_table(&self.table, self.hash_bits, hashes)
    }

    /// The level of the table.
    pub(super) fn level(&self) -> usize {
        self.level
    }

    /// The number of bits of a hash that the leaves store.
    pub(super) fn hash_bits(&self) -> u32 {
        self.hash_bits
    }
}

//! The bucket tables of a snapshot, in all levels.

use std::ops::{Range, RangeInclusive};

use redb::{ReadTransaction, WriteTransaction};

use super::buckets::BucketTable;
use super::error::BucketError;
use super::filters::{ByAge, LevelAge};
use super::leaf::Posting;
use super::list::{BucketLists, KeyedLevel};
use super::runs::PostingRuns;

/// All postings that are in tables: see [`BucketLists`].
///
/// Each list has its tables, the youngest first. No posting is in two of them, and all ids of a table are above those
/// of the next one.
#[derive(Debug)]
pub(crate) struct PostingTables {
    lists: Vec<Vec<BucketTable>>,
}

impl PostingTables {
    /// Opens the tables of `lists` as seen by `transaction`. `levels` are the levels that have tables.
    pub(crate) fn open(
        transaction: &ReadTransaction,
        lists: BucketLists,
        levels: &[KeyedLevel],
    ) -> Result<PostingTables, BucketError> {
        let open = |list| {
            let tables = levels.iter();
            let tables = tables.map(|&keyed| BucketTable::open(transaction, list, keyed));
            tables.collect::<Result<Vec<_>, BucketError>>()
        };
        Ok(PostingTables {
            lists: lists.all().map(open).collect::<Result<_, BucketError>>()?,
        })
    }

    /// The number of bytes in the pages of the tables.
    pub(crate) fn page_bytes(&self) -> Result<u64, BucketError> {
        let tables = self.lists.iter().flatten();
        tables.map(BucketTable::page_bytes).sum()
    }

    /// Copies the tables into an index that has none.
    pub(crate) fn copy_to(&self, transaction: &WriteTransaction) -> Result<(), BucketError> {
        let mut tables = self.lists.iter().flatten();
        tables.try_for_each(|table| table.copy_to(transaction))
    }

    /// Appends to `found` the ids below `end` in a list whose hash is `hash`, descending, until it holds `most` ids.
    ///
    /// `holders` tells which levels may hold the hash.
    pub(crate) fn look_up(
        &self,
        (list, hash): (usize, u32),
        holders: ByAge<bool>,
        end: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) -> Result<(), BucketError> {
        let mut tables = self.lists.get(list).into_iter().flatten();
        tables.try_for_each(|table| {
            if *holders.of(LevelAge::of(table.level())) {
                table.look_up(hash, end, most, found)?;
            }
            Ok(())
        })
    }

    /// Calls `visit` with every posting of a list that is in some levels and has some hash, sorted and in batches.
    pub(crate) fn for_each(
        &self,
        list: usize,
        levels: Range<usize>,
        hashes: RangeInclusive<u32>,
        mut visit: impl FnMut(&[Posting]),
    ) -> Result<(), BucketError> {
        let tables = self.lists.get(list).into_iter().flatten();
        let tables = tables.filter(|table| levels.contains(&table.level()));
        let Some(oldest) = tables.clone().next_back() else {
            return Ok(());
        };
        // A leaf of the oldest table, which is the largest one, is a run.
        let mut runs = PostingRuns::new(oldest.hash_bits());
        for table in tables {
            table.add_to(&mut runs, hashes.clone())?;
        }
        while let Some(run) = runs.next()? {
            visit(run);
        }
        Ok(())
    }
}

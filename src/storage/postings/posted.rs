//! The bucket tables of a snapshot, old and young.

use redb::{ReadTransaction, WriteTransaction};

use super::buckets::{BucketError, BucketTable, Level, List};
use super::leaf::Posting;

/// The tables of one list of buckets. No posting is in both.
#[derive(Debug)]
struct Tables {
    old: BucketTable,
    young: BucketTable,
}

/// All postings that are in tables: list 0 are the copies, the others the bands.
#[derive(Debug)]
pub(crate) struct Posted {
    lists: Vec<Tables>,
}

/// How the tables of a level are keyed, and whether there must be any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelState {
    pub(crate) prefix: u32,
    pub(crate) posted: u64,
}

impl Posted {
    /// Opens the tables of so many lists as `transaction` sees them.
    pub(crate) fn open(
        transaction: &ReadTransaction,
        lists: u32,
        old: LevelState,
        young: LevelState,
    ) -> Result<Posted, BucketError> {
        let open = |list, level, state: LevelState| {
            BucketTable::open(transaction, list, level, state.prefix, state.posted > 0)
        };
        let lists = (0..lists).map(List::of).map(|list| {
            Ok(Tables {
                old: open(list, Level::Old, old)?,
                young: open(list, Level::Young, young)?,
            })
        });
        Ok(Posted {
            lists: lists.collect::<Result<_, BucketError>>()?,
        })
    }

    /// Bytes of the pages that hold the tables.
    pub(crate) fn page_bytes(&self) -> Result<u64, BucketError> {
        let tables = self.lists.iter().flat_map(|list| [&list.old, &list.young]);
        tables.map(BucketTable::page_bytes).sum()
    }

    /// Writes the tables into an index that has none.
    pub(crate) fn copy_to(&self, transaction: &WriteTransaction) -> Result<(), BucketError> {
        for (tables, list) in self.lists.iter().zip((0..).map(List::of)) {
            tables.old.copy_to(transaction, list, Level::Old)?;
            tables.young.copy_to(transaction, list, Level::Young)?;
        }
        Ok(())
    }

    /// Appends to `found` the ids below `end` in a list whose hash is `hash`, descending, until
    /// there are `most` in it.
    pub(crate) fn look_up(
        &self,
        list: usize,
        hash: u32,
        end: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) -> Result<(), BucketError> {
        if let Some(tables) = self.lists.get(list) {
            // All ids of the young table are above all of the old one.
            tables.young.look_up(hash, end, most, found)?;
            tables.old.look_up(hash, end, most, found)?;
        }
        Ok(())
    }

    /// Calls `visit` with every posting of a list, sorted.
    pub(crate) fn for_each(
        &self,
        list: usize,
        mut visit: impl FnMut(Posting),
    ) -> Result<(), BucketError> {
        let Some(tables) = self.lists.get(list) else {
            return Ok(());
        };
        let mut young = Vec::new();
        tables.young.for_each(|posting| young.push(posting))?;
        let mut young = young.into_iter().peekable();
        tables.old.for_each(|posting| {
            while let Some(before) = young.next_if(|young| *young < posting) {
                visit(before);
            }
            visit(posting);
        })?;
        young.for_each(visit);
        Ok(())
    }
}

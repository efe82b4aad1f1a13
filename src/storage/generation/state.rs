//! What the index of an unfinished generation holds in addition to that of a finished one.

use std::path::Path;

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};

use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::index::{Meta, catalog};

const STATE: TableDefinition<'_, &str, u32> = TableDefinition::new("rebuild");
const LEFT_OUT: TableDefinition<'_, u32, ()> = TableDefinition::new("left-out");

/// The progress of a rebuild at its last checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RebuildState {
    /// 1 if contents are renumbered.
    pub(super) renumbers: u32,
    /// Contents of the store, by old id, whose rows are in the columns.
    pub(super) covered: u32,
    /// Lists of buckets that are written.
    pub(super) lists: u32,
    /// Contents whose postings are in the lists, including those removed since.
    pub(super) posted: u32,
}

impl RebuildState {
    fn fields(&mut self) -> [(&'static str, &mut u32); 4] {
        [
            ("renumbers", &mut self.renumbers),
            ("covered", &mut self.covered),
            ("lists", &mut self.lists),
            ("posted", &mut self.posted),
        ]
    }

    pub(super) fn write(mut self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(STATE)?;
        for (name, value) in self.fields() {
            table.insert(name, *value)?;
        }
        Ok(())
    }
}

/// Records the contents that were removed when the rebuild began.
pub(super) fn write_left_out(
    transaction: &WriteTransaction,
    contents: &[u32],
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(LEFT_OUT)?;
    for &content in contents {
        table.insert(content, ())?;
    }
    Ok(())
}

/// Deletes the tables that only an unfinished generation has.
pub(super) fn clear(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.delete_table(STATE)?;
    transaction.delete_table(LEFT_OUT)?;
    Ok(())
}

/// What the index of an unfinished generation records.
#[derive(Debug)]
pub(super) struct UnfinishedGeneration {
    pub(super) meta: Meta,
    pub(super) schema: Schema,
    pub(super) state: RebuildState,
    /// The contents that had been removed when the rebuild began, sorted.
    pub(super) left_out: Vec<u32>,
}

/// Reads what an index records of itself, or `None` if it is not that of an unfinished generation.
pub(super) fn read(
    transaction: &ReadTransaction,
    path: &Path,
) -> Result<Option<UnfinishedGeneration>> {
    let in_index = |error: redb::Error| Error::index(path, error);
    let Some(meta) = Meta::read(transaction, path)? else {
        return Ok(None);
    };
    let schema = Schema::from_parameters(&catalog::read_schema(transaction).map_err(in_index)?)?;
    let read = || -> Result<Option<(RebuildState, Vec<u32>)>, redb::Error> {
        let table = transaction.open_table(STATE)?;
        let mut state = RebuildState::default();
        for (name, value) in state.fields() {
            let Some(stored) = table.get(name)? else {
                return Ok(None);
            };
            *value = stored.value();
        }
        let left_out = transaction.open_table(LEFT_OUT)?;
        let left_out = left_out.iter()?.map(|entry| Ok(entry?.0.value()));
        let left_out: Result<Vec<u32>, redb::Error> = left_out.collect();
        Ok(Some((state, left_out?)))
    };
    let found = read().map_err(in_index)?;
    Ok(found.map(|(state, left_out)| UnfinishedGeneration {
        meta,
        schema,
        state,
        left_out,
    }))
}

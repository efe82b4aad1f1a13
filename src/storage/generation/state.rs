//! What the index of a generation that is being made says beside what any index says.

use std::path::Path;

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};

use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::index::{Meta, catalog};

const STATE: TableDefinition<'_, &str, u32> = TableDefinition::new("rebuild");
const LEFT_OUT: TableDefinition<'_, u32, ()> = TableDefinition::new("left-out");

/// How far a rebuild had come at its last checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// 1 if contents are numbered anew.
    pub(super) renumbers: u32,
    /// Contents of the store, by their old ids, that the columns have rows of.
    pub(super) covered: u32,
    /// Lists of buckets that are written.
    pub(super) lists: u32,
    /// Contents whose postings are in them, those that were removed since included.
    pub(super) posted: u32,
}

impl State {
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

/// Takes note of the contents that were removed when the rebuild began.
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

/// Takes away what only a generation that is being made has.
pub(super) fn clear(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.delete_table(STATE)?;
    transaction.delete_table(LEFT_OUT)?;
    Ok(())
}

/// What the index of a generation that is being made holds beside its tables.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) meta: Meta,
    pub(super) schema: Schema,
    pub(super) state: State,
    /// The contents that were removed when it was begun, sorted.
    pub(super) left_out: Vec<u32>,
}

/// Reads what an index says of itself; nothing if it is not that of a generation that is being made.
pub(super) fn read(transaction: &ReadTransaction, path: &Path) -> Result<Option<Begun>> {
    let in_index = |error: redb::Error| Error::index(path, error);
    let Some(meta) = Meta::read(transaction, path)? else {
        return Ok(None);
    };
    let schema = Schema::from_parameters(&catalog::read_schema(transaction).map_err(in_index)?)?;
    let read = || -> Result<Option<(State, Vec<u32>)>, redb::Error> {
        let table = transaction.open_table(STATE)?;
        let mut state = State::default();
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
    Ok(found.map(|(state, left_out)| Begun {
        meta,
        schema,
        state,
        left_out,
    }))
}

//! Which documents each commit changed, recorded while a rebuild runs.
//!
//! A rebuild copies the documents of one commit, and then takes over what later commits changed, whichever process made
//! them. The journal is part of the index that the rebuild replaces, so it ends with it. If the rebuild ends in another
//! way, the next commit deletes it.

use std::collections::BTreeSet;

use redb::{ReadTransaction, TableDefinition, TableError, WriteTransaction};

use super::catalog::text;
use super::document::DocumentChange;

/// The number of a commit and the key of a document.
const JOURNAL: TableDefinition<'_, (u64, &[u8]), ()> = TableDefinition::new("journal");

/// Records the documents that a commit changes, sorted by key.
pub(crate) fn write(
    transaction: &WriteTransaction,
    commit: u64,
    documents: &[DocumentChange],
) -> Result<(), redb::Error> {
    let mut journal = transaction.open_table(JOURNAL)?;
    for change in documents {
        journal.insert((commit, change.key.as_bytes()), ())?;
    }
    Ok(())
}

/// Deletes the journal.
pub(crate) fn delete(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.delete_table(JOURNAL)?;
    Ok(())
}

/// The documents that were changed by commits after `commit`.
pub(crate) fn read_after(
    transaction: &ReadTransaction,
    commit: u64,
) -> Result<BTreeSet<String>, redb::Error> {
    let journal = match transaction.open_table(JOURNAL) {
        Err(TableError::TableDoesNotExist(_)) => return Ok(BTreeSet::new()),
        journal => journal?,
    };
    let mut keys = BTreeSet::new();
    for entry in journal.range((commit + 1, &[][..])..)? {
        keys.insert(text(entry?.0.value().1)?);
    }
    Ok(keys)
}

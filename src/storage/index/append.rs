//! Appending sorted entries to a table.
//!
//! With a cursor, redb does this several times faster than with an insertion that searches for each entry's place.

use std::borrow::Borrow;
use std::mem::ManuallyDrop;
use std::ops::Bound;

use redb::{CursorMut, Key, ReadOnlyTable, ReadableTable, Table, Value};

/// Appends to a table.
///
/// redb's cursor writes its pending entries when it is dropped. This may panic if pages are damaged, and aborts the
/// process if another panic is already unwinding. So a cursor that was not closed is leaked: its transaction is never
/// committed.
pub(crate) struct Appender<'t, K: Key + 'static, V: Value + 'static> {
    cursor: ManuallyDrop<CursorMut<'t, K, V>>,
}

impl<'t, K: Key + 'static, V: Value + 'static> Appender<'t, K, V> {
    pub(crate) fn new(table: &'t mut Table<'_, K, V>) -> Result<Appender<'t, K, V>, redb::Error> {
        let cursor = table.upper_bound_mut(Bound::<K::SelfType<'_>>::Unbounded)?;
        Ok(Appender {
            cursor: ManuallyDrop::new(cursor),
        })
    }

    /// Writes an entry, whose key must be above all others.
    pub(crate) fn push<'k, 'v>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: impl Borrow<V::SelfType<'v>>,
    ) -> Result<(), redb::Error> {
        Ok(self.cursor.insert_before(key, value)?)
    }

    pub(crate) fn close(self) -> Result<(), redb::Error> {
        Ok(ManuallyDrop::into_inner(self.cursor).close()?)
    }
}

/// Appends `entries`, which must ascend and come after the last entry of `table`.
pub(crate) fn append<'e, K: Key + 'static, V: Value + 'static>(
    table: &mut Table<'_, K, V>,
    entries: impl Iterator<Item = (K::SelfType<'e>, V::SelfType<'e>)>,
) -> Result<(), redb::Error> {
    let mut appender = Appender::new(table)?;
    for (key, value) in entries {
        appender.push(key, value)?;
    }
    appender.close()
}

/// Copies all entries of `source` to `target`, which must be empty.
pub(crate) fn copy<K: Key + 'static, V: Value + 'static>(
    source: &ReadOnlyTable<K, V>,
    target: &mut Table<'_, K, V>,
) -> Result<(), redb::Error> {
    let mut appender = Appender::new(target)?;
    for entry in source.iter()? {
        let (key, value) = entry?;
        appender.push(key.value(), value.value())?;
    }
    appender.close()
}

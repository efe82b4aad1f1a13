//! Writing sorted entries behind the last one of a table, which redb does several times faster
//! through a cursor than by looking for the place of each.

use std::ops::Bound;

use redb::{Key, ReadOnlyTable, ReadableTable, Table, Value};

/// Writes `entries`, ascending and all behind the last entry of `table`.
pub(super) fn append<'e, K: Key + 'static, V: Value + 'static>(
    table: &mut Table<'_, K, V>,
    entries: impl Iterator<Item = (K::SelfType<'e>, V::SelfType<'e>)>,
) -> Result<(), redb::Error> {
    let mut cursor = table.upper_bound_mut(Bound::<K::SelfType<'e>>::Unbounded)?;
    for (key, value) in entries {
        cursor.insert_before(key, value)?;
    }
    cursor.close()?;
    Ok(())
}

/// Writes all entries of `source` into `target`, which is empty.
pub(super) fn copy<K: Key + 'static, V: Value + 'static>(
    source: &ReadOnlyTable<K, V>,
    target: &mut Table<'_, K, V>,
) -> Result<(), redb::Error> {
    let mut cursor = target.upper_bound_mut(Bound::<K::SelfType<'_>>::Unbounded)?;
    for entry in source.iter()? {
        let (key, value) = entry?;
        cursor.insert_before(key.value(), value.value())?;
    }
    cursor.close()?;
    Ok(())
}

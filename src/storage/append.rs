//! Writing sorted entries behind the last one of a table, which redb does several times faster
//! through a cursor than by looking for the place of each.

use std::ops::Bound;

use redb::{Key, Table, Value};

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

//! Changes of bucket tables.

use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};

use super::fault::BucketError;
use super::leaf::{Leaf, Posting, Unpacked, pack};
use super::list::{Definition, Keyed, List};
use super::runs::{Runs, key, merge};
use crate::storage::index::Appender;

/// A commit's changes to the postings of a list. Both parts are sorted.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub(crate) add: Vec<Posting>,
    pub(crate) remove: Vec<Posting>,
}

/// Applies `change` to the table `old` of `list`, which is keyed by `prefix` bits afterwards, at least as many as
/// before.
pub(crate) fn apply(
    transaction: &WriteTransaction,
    list: List,
    old: Keyed,
    prefix: u32,
    change: Change,
) -> Result<(), BucketError> {
    if old.prefix == prefix {
        let name = list.table(old);
        let mut table = transaction.open_table(Definition::new(&name))?;
        if !touches_most(&table, &change)? {
            return update_leaves(&mut table, old.hash_bits(), &change);
        }
    }
    merge_tables(transaction, list, &[], old, prefix, change)
}

/// Merges younger tables of `list` and a change into the table `old`, which is keyed by `prefix` bits afterwards.
///
/// Deletes the younger tables.
pub(crate) fn merge_tables(
    transaction: &WriteTransaction,
    list: List,
    younger: &[Keyed],
    old: Keyed,
    prefix: u32,
    change: Change,
) -> Result<(), BucketError> {
    let new = old.with(prefix);
    let new_name = list.table(new);
    let beside = format!("{new_name}-next");
    let sources = younger.iter().chain([&old]);
    let names: Vec<String> = sources.clone().map(|&keyed| list.table(keyed)).collect();
    {
        let opened = names
            .iter()
            .map(|name| transaction.open_table(Definition::new(name)));
        let tables: Vec<_> = opened.collect::<Result<_, _>>()?;
        let mut runs = Runs::new(new.hash_bits());
        runs.add(change.add);
        for (table, keyed) in tables.iter().zip(sources) {
            runs.add_table(table, keyed.hash_bits())?;
        }
        let mut target = transaction.open_table(Definition::new(&beside))?;
        let mut writer = LeafWriter::new(&mut target, new.hash_bits())?;
        let mut remove = change.remove.as_slice();
        while let Some(run) = runs.next()? {
            take_out(run, &mut remove);
            writer.write(run)?;
        }
        writer.close()?;
    }
    for name in &names {
        transaction.delete_table(Definition::new(name))?;
    }
    transaction.rename_table(Definition::new(&beside), Definition::new(&new_name))?;
    Ok(())
}

/// Appends sorted postings to the table of `list`. Two calls must not add to the same leaf.
pub(crate) fn append(
    transaction: &WriteTransaction,
    list: List,
    keyed: Keyed,
    postings: &[Posting],
) -> Result<(), BucketError> {
    let name = list.table(keyed);
    let mut table = transaction.open_table(Definition::new(&name))?;
    let mut writer = LeafWriter::new(&mut table, keyed.hash_bits())?;
    let hash_bits = keyed.hash_bits();
    for leaf in postings.chunk_by(|a, b| key(a.hash(), hash_bits) == key(b.hash(), hash_bits)) {
        writer.write(leaf)?;
    }
    writer.close()
}

/// Whether a change has at least one posting for every other leaf.
///
/// If so, rewriting the table from front to back takes less time, and fewer pages, than replacing each leaf.
fn touches_most(
    table: &Table<'_, u32, &'static [u8]>,
    change: &Change,
) -> Result<bool, BucketError> {
    let changed = (change.add.len() + change.remove.len()) as u64;
    Ok(changed > table.len()? / 2)
}

/// Merges the change into the leaves that it touches.
fn update_leaves(
    table: &mut Table<'_, u32, &'static [u8]>,
    hash_bits: u32,
    change: &Change,
) -> Result<(), BucketError> {
    let mut add = change.add.as_slice();
    let mut remove = change.remove.as_slice();
    let (mut postings, mut bytes) = (Vec::new(), Vec::new());
    let mut room = Unpacked::default();
    while let Some(first) = earlier(add.first(), remove.first()) {
        let prefix = key(first.hash(), hash_bits);
        let is_of_leaf = |posting: &Posting| key(posting.hash(), hash_bits) == prefix;
        let (added, rest) = add.split_at(add.partition_point(is_of_leaf));
        add = rest;
        postings.clear();
        if let Some(old) = table.get(prefix)? {
            let leaf = Leaf::new(old.value(), hash_bits).map_err(BucketError::Damaged)?;
            leaf.unpack(prefix, &mut room, &mut postings);
        }
        merge(&mut postings, added);
        postings.dedup();
        take_out(&mut postings, &mut remove);
        // The remaining postings to remove with this prefix are not in this leaf.
        remove = &remove[remove.partition_point(is_of_leaf)..];
        if postings.is_empty() {
            table.remove(prefix)?;
        } else {
            pack(&postings, hash_bits, &mut bytes);
            table.insert(prefix, bytes.as_slice())?;
        }
    }
    Ok(())
}

/// Removes the postings in `remove` from `postings`. Both are sorted.
///
/// Leaves in `remove` the postings that come after the last one of `postings`.
fn take_out(postings: &mut Vec<Posting>, remove: &mut &[Posting]) {
    if remove.is_empty() {
        return;
    }
    postings.retain(|posting| {
        while let Some((first, rest)) = remove.split_first()
            && first < posting
        {
            *remove = rest;
        }
        remove.first() != Some(posting)
    });
}

fn earlier(a: Option<&Posting>, b: Option<&Posting>) -> Option<Posting> {
    match (a, b) {
        (Some(a), Some(b)) => Some(*a.min(b)),
        (one, other) => one.or(other).copied(),
    }
}

/// Writes the leaves of a table from front to back.
struct LeafWriter<'a> {
    appender: Appender<'a, u32, &'static [u8]>,
    hash_bits: u32,
    bytes: Vec<u8>,
}

impl<'a> LeafWriter<'a> {
    fn new(
        table: &'a mut Table<'_, u32, &'static [u8]>,
        hash_bits: u32,
    ) -> Result<LeafWriter<'a>, BucketError> {
        Ok(LeafWriter {
            appender: Appender::new(table)?,
            hash_bits,
            bytes: Vec::new(),
        })
    }

    /// Writes a leaf, unless it has no postings.
    fn write(&mut self, postings: &[Posting]) -> Result<(), BucketError> {
        let Some(first) = postings.first() else {
            return Ok(());
        };
        pack(postings, self.hash_bits, &mut self.bytes);
        let prefix = key(first.hash(), self.hash_bits);
        Ok(self.appender.push(prefix, self.bytes.as_slice())?)
    }

    fn close(self) -> Result<(), BucketError> {
        Ok(self.appender.close()?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use redb::ReadableDatabase;

    use super::*;
    use crate::storage::postings::{BucketTable, Posted};

    const LIST: List = List::Band(3);

    type Set = BTreeSet<(u32, u32)>;

    fn postings() -> impl Strategy<Value = Set> {
        let hash = prop_oneof![any::<u32>(), 0_u32..5, Just(u32::MAX)];
        prop::collection::btree_set((hash, 0_u32..200), 0..120)
    }

    fn sorted(set: &Set) -> Vec<Posting> {
        set.iter().map(|&(h, id)| Posting::new(h, id)).collect()
    }

    fn add(set: &Set) -> Change {
        Change {
            add: sorted(set),
            remove: Vec::new(),
        }
    }

    fn database() -> redb::Database {
        redb::Database::builder()
            .create_with_backend(redb::backends::InMemoryBackend::new())
            .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_table_is_the_set_of_its_changes(
            batches in prop::collection::vec((postings(), 0_u32..4), 1..6)
        ) {
            let db = database();
            let mut model = Set::new();
            let mut keyed = Keyed { level: 2, prefix: 0 };
            for (index, (batch, grow)) in batches.iter().enumerate() {
                let transaction = db.begin_write().unwrap();
                // Every third batch removes what an earlier one added, and more.
                let change = if index % 3 == 2 {
                    model.retain(|p| !batch.contains(p));
                    Change { add: vec![], remove: sorted(batch) }
                } else {
                    model.extend(batch.iter().copied());
                    add(batch)
                };
                let prefix = keyed.prefix + grow;
                apply(&transaction, LIST, keyed, prefix, change).unwrap();
                keyed = keyed.with(prefix);
                transaction.commit().unwrap();
            }
            let table = BucketTable::open(&db.begin_read().unwrap(), LIST, keyed).unwrap();
            let mut runs = Runs::new(32);
            table.add_to(&mut runs).unwrap();
            let stored = runs.next().unwrap().cloned().unwrap_or_default();
            prop_assert_eq!(&stored, &sorted(&model));
            for hash in model.iter().map(|p| p.0).chain([1, 7]) {
                for (end, most) in [(u32::MAX, usize::MAX), (100, usize::MAX), (150, 2)] {
                    let mut ids = Vec::new();
                    table.look_up(hash, end, most, &mut ids).unwrap();
                    let ids_of = model.iter().rev().filter(|p| p.0 == hash && p.1 < end);
                    let expected: Vec<u32> = ids_of.map(|p| p.1).take(most).collect();
                    prop_assert_eq!(ids, expected);
                }
            }
        }

        #[test]
        fn levels_that_are_merged_are_one_table(
            levels in prop::collection::vec((postings(), 0_u32..6), 2..4),
            (added, removed) in (postings(), postings()),
            grow in 0_u32..3,
        ) {
            let db = database();
            let transaction = db.begin_write().unwrap();
            // The younger the level, the higher the ids.
            let aged = |level: usize, set: &Set| -> Set {
                let age = u32::try_from(4 - level).unwrap();
                set.iter().map(|&(hash, id)| (hash, 200 * age + id)).collect()
            };
            let mut keyed = Vec::new();
            let mut model = Set::new();
            for (level, (set, prefix)) in levels.iter().enumerate() {
                let table = Keyed { level, prefix: *prefix };
                apply(&transaction, List::Copies, table, *prefix, add(&aged(level, set))).unwrap();
                model.extend(aged(level, set));
                keyed.push(table);
            }
            let added: Set = added.iter().map(|&(hash, id)| (hash, 1000 + id)).collect();
            model.extend(&added);
            let removed: Set = model.iter().copied().filter(|p| removed.iter().any(|r| r.0 == p.0)).collect();
            model.retain(|posting| !removed.contains(posting));
            let (old, younger) = keyed.split_last().unwrap();
            let prefix = old.prefix + grow;
            let change = Change { add: sorted(&added), remove: sorted(&removed) };
            merge_tables(&transaction, List::Copies, younger, *old, prefix, change).unwrap();
            prop_assert_eq!(transaction.list_tables().unwrap().count(), 1);
            transaction.commit().unwrap();
            let posted = Posted::open(&db.begin_read().unwrap(), 1, &[old.with(prefix)]).unwrap();
            let mut stored = Vec::new();
            posted.for_each(0, 0..9, |some| stored.extend_from_slice(some)).unwrap();
            prop_assert_eq!(stored, sorted(&model));
        }
    }
}

//! Changes of bucket tables.

use std::ops::RangeInclusive;

use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};

use super::error::BucketError;
use super::leaf::{Leaf, Posting, UnpackedLeaf, pack};
use super::list::{BucketList, KeyedLevel, LeafTableDefinition};
use super::runs::{ALL_HASHES, PostingRuns, key, merge};
use crate::codec::{BitSet, bits, low32};
use crate::storage::index::Appender;

/// Adds sorted postings to the table `old` of `list`, which is keyed by `prefix` bits afterwards, at least as many as
/// before.
pub(crate) fn add(
    transaction: &WriteTransaction,
    list: BucketList,
    old: KeyedLevel,
    prefix: u32,
    add: Vec<Posting>,
) -> Result<(), BucketError> {
    if old.prefix == prefix {
        let name = list.table(old);
        let mut table = transaction.open_table(LeafTableDefinition::new(&name))?;
        if !touches_most(&table, &add)? {
            return update_leaves(&mut table, list.hash_bits(old), &add);
        }
    }
    let name = list.table(old.with(prefix));
    // Otherwise the whole table is written beside the old one, and takes its name.
    let beside = format!("{name}-next");
    let whole = MergePart {
        sources: &[old],
        prefix,
        hashes: ALL_HASHES,
        dropped: &BitSet::default(),
    };
    merge_into(transaction, list, &beside, &whole, add, |_| {})?;
    let old = list.table(old);
    transaction.delete_table(LeafTableDefinition::new(&old))?;
    transaction.rename_table(
        LeafTableDefinition::new(&beside),
        LeafTableDefinition::new(&name),
    )?;
    Ok(())
}

/// A part of a merge of tables.
#[derive(Clone, Debug)]
pub(crate) struct MergePart<'a> {
    /// The tables, the youngest first.
    pub(crate) sources: &'a [KeyedLevel],
    /// The number of bits in the keys of the new table.
    pub(crate) prefix: u32,
    /// The hashes that belong to the part.
    pub(crate) hashes: RangeInclusive<u32>,
    /// The contents whose postings the new table does not get.
    pub(crate) dropped: &'a BitSet,
}

/// The hashes of a part of a list that has two to the power of `part_bits` parts.
pub(crate) fn hashes_of_part(part: u32, part_bits: u32) -> RangeInclusive<u32> {
    let lower = u32::BITS - part_bits;
    let first = part.checked_shl(lower).unwrap_or(0);
    first..=first | low32(bits::mask(lower))
}

/// Merges a part of `list` and new postings, sorted, into the table of a merge that is under way.
///
/// The parts come in ascending order, and no two of them share a leaf. `visit` is called with all postings that the
/// table gets.
pub(crate) fn merge_part(
    transaction: &WriteTransaction,
    list: BucketList,
    part: &MergePart<'_>,
    add: Vec<Posting>,
    visit: impl FnMut(&[Posting]),
) -> Result<(), BucketError> {
    let name = list.merged_table(part.prefix);
    merge_into(transaction, list, &name, part, add, visit)
}

/// Puts the merged table of `list` in the place of those that it was made of, as `into`.
pub(crate) fn put_in_place(
    transaction: &WriteTransaction,
    list: BucketList,
    sources: &[KeyedLevel],
    into: KeyedLevel,
    replaced: &mut u64,
) -> Result<(), BucketError> {
    for &source in sources {
        replace(transaction, &list.table(source), replaced)?;
    }
    let (merged, name) = (list.merged_table(into.prefix), list.table(into));
    transaction.rename_table(
        LeafTableDefinition::new(&merged),
        LeafTableDefinition::new(&name),
    )?;
    Ok(())
}

/// Gives up the merged table of `list`.
pub(crate) fn give_up(
    transaction: &WriteTransaction,
    list: BucketList,
    prefix: u32,
    replaced: &mut u64,
) -> Result<(), BucketError> {
    replace(transaction, &list.merged_table(prefix), replaced)
}

/// Puts a table among those that are to be deleted. Deleting a large one takes as long as reading it.
fn replace(
    transaction: &WriteTransaction,
    name: &str,
    replaced: &mut u64,
) -> Result<(), BucketError> {
    let aside = replaced_table(*replaced);
    transaction.rename_table(
        LeafTableDefinition::new(name),
        LeafTableDefinition::new(&aside),
    )?;
    *replaced += 1;
    Ok(())
}

/// Deletes the last one of the `replaced` tables.
pub(crate) fn delete_replaced(
    transaction: &WriteTransaction,
    replaced: &mut u64,
) -> Result<(), BucketError> {
    if let Some(rest) = replaced.checked_sub(1) {
        transaction.delete_table(LeafTableDefinition::new(&replaced_table(rest)))?;
        *replaced = rest;
    }
    Ok(())
}

fn replaced_table(number: u64) -> String {
    format!("replaced-{number}")
}

/// Appends a part of a merge to the table `name`.
fn merge_into(
    transaction: &WriteTransaction,
    list: BucketList,
    name: &str,
    part: &MergePart<'_>,
    add: Vec<Posting>,
    mut visit: impl FnMut(&[Posting]),
) -> Result<(), BucketError> {
    let sources: Vec<String> = part.sources.iter().map(|&old| list.table(old)).collect();
    let open = |name: &String| transaction.open_table(LeafTableDefinition::new(name));
    let tables: Vec<_> = sources.iter().map(open).collect::<Result<_, _>>()?;
    let hash_bits = u32::BITS - list.prefix(part.prefix);
    let mut runs = PostingRuns::new(hash_bits);
    // The new postings first, then the tables from young to old: the sources with few postings come first.
    runs.add(add);
    for (table, keyed) in tables.iter().zip(part.sources) {
        runs.add_table(table, list.hash_bits(*keyed), part.hashes.clone())?;
    }
    let mut target = transaction.open_table(LeafTableDefinition::new(name))?;
    let mut writer = LeafWriter::new(&mut target, hash_bits)?;
    while let Some(run) = runs.next()? {
        if !part.dropped.is_empty() {
            // A leaf that loses all of its postings is not written.
            run.retain(|posting| !part.dropped.contains(posting.id()));
        }
        writer.write(run)?;
        visit(run);
    }
    writer.close()
}

/// Appends sorted postings to the table of `list`. Two calls must not add to the same leaf.
pub(crate) fn append(
    transaction: &WriteTransaction,
    list: BucketList,
    keyed: KeyedLevel,
    postings: &[Posting],
) -> Result<(), BucketError> {
    let name = list.table(keyed);
    let mut table = transaction.open_table(LeafTableDefinition::new(&name))?;
    let hash_bits = list.hash_bits(keyed);
    let mut writer = LeafWriter::new(&mut table, hash_bits)?;
    for leaf in postings.chunk_by(|a, b| key(a.hash(), hash_bits) == key(b.hash(), hash_bits)) {
        writer.write(leaf)?;
    }
    writer.close()
}

/// Whether there is at least one new posting for every other leaf.
///
/// If so, rewriting the table from front to back takes less time, and fewer pages, than replacing each leaf.
fn touches_most(
    table: &Table<'_, u32, &'static [u8]>,
    add: &[Posting],
) -> Result<bool, BucketError> {
    Ok(add.len() as u64 > table.len()? / 2)
}

/// Merges new postings into the leaves that they touch.
fn update_leaves(
    table: &mut Table<'_, u32, &'static [u8]>,
    hash_bits: u32,
    add: &[Posting],
) -> Result<(), BucketError> {
    let (mut postings, mut bytes) = (Vec::new(), Vec::new());
    let mut room = UnpackedLeaf::default();
    let prefix_of = |posting: &Posting| key(posting.hash(), hash_bits);
    for added in add.chunk_by(|a, b| prefix_of(a) == prefix_of(b)) {
        let prefix = prefix_of(&added[0]);
        postings.clear();
        if let Some(old) = table.get(prefix)? {
            let leaf = Leaf::new(old.value(), hash_bits).map_err(BucketError::Damaged)?;
            leaf.unpack(prefix, &mut room, &mut postings);
        }
        merge(&mut postings, added);
        postings.dedup();
        pack(&postings, hash_bits, &mut bytes);
        table.insert(prefix, bytes.as_slice())?;
    }
    Ok(())
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
    use crate::storage::postings::{BucketLists, BucketTable, PostingTables};

    const LIST: BucketList = BucketList::Band(3);

    type Set = BTreeSet<(u32, u32)>;

    fn postings() -> impl Strategy<Value = Set> {
        let hash = prop_oneof![any::<u32>(), 0_u32..5, Just(u32::MAX)];
        prop::collection::btree_set((hash, 0_u32..200), 0..120)
    }

    fn sorted(set: &Set) -> Vec<Posting> {
        set.iter().map(|&(h, id)| Posting::new(h, id)).collect()
    }

    fn database() -> redb::Database {
        redb::Database::builder()
            .create_with_backend(redb::backends::InMemoryBackend::new())
            .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_table_is_the_set_of_what_was_added(
            batches in prop::collection::vec((postings(), 0_u32..4), 1..6)
        ) {
            let db = database();
            let mut model = Set::new();
            let mut keyed = KeyedLevel { level: 2, prefix: 0 };
            for (batch, grow) in &batches {
                let transaction = db.begin_write().unwrap();
                model.extend(batch.iter().copied());
                let prefix = keyed.prefix + grow;
                add(&transaction, LIST, keyed, prefix, sorted(batch)).unwrap();
                keyed = keyed.with(prefix);
                transaction.commit().unwrap();
            }
            let table = BucketTable::open(&db.begin_read().unwrap(), LIST, keyed).unwrap();
            let mut runs = PostingRuns::new(32);
            table.add_to(&mut runs, ALL_HASHES).unwrap();
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
            added in postings(),
            removed in prop::collection::btree_set(0_u32..1200, 0..200),
            (grow, part_bits) in (0_u32..3, 0_u32..4),
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
                let table = KeyedLevel { level, prefix: *prefix };
                add(&transaction, BucketList::Copies, table, *prefix, sorted(&aged(level, set))).unwrap();
                model.extend(aged(level, set));
                keyed.push(table);
            }
            let added: Set = added.iter().map(|&(hash, id)| (hash, 1000 + id)).collect();
            model.extend(&added);
            model.retain(|(_, id)| !removed.contains(id));
            let dropped = BitSet::of(&removed.into_iter().collect::<Vec<_>>());
            let prefix = keyed.iter().map(|old| old.prefix).max().unwrap() + grow;
            let into = KeyedLevel { level: 3, prefix };
            for part in 0..1_u32 << part_bits.min(prefix) {
                let hashes = hashes_of_part(part, part_bits.min(prefix));
                let add = sorted(&added);
                let add = add.into_iter().filter(|p| hashes.contains(&p.hash())).collect();
                let mut visited = Vec::new();
                let part = MergePart { sources: &keyed, prefix, hashes: hashes.clone(), dropped: &dropped };
                merge_part(&transaction, BucketList::Copies, &part, add, |some| visited.extend_from_slice(some)).unwrap();
                let of_part: Set = model.iter().copied().filter(|p| hashes.contains(&p.0)).collect();
                prop_assert_eq!(visited, sorted(&of_part));
            }
            let mut replaced = 0;
            put_in_place(&transaction, BucketList::Copies, &keyed, into, &mut replaced).unwrap();
            prop_assert_eq!(replaced, keyed.len() as u64);
            while replaced > 0 {
                delete_replaced(&transaction, &mut replaced).unwrap();
            }
            prop_assert_eq!(transaction.list_tables().unwrap().count(), 1);
            transaction.commit().unwrap();
            let posted = PostingTables::open(&db.begin_read().unwrap(), BucketLists::COPIES, &[into]).unwrap();
            let mut stored = Vec::new();
            posted.for_each(0, 0..9, ALL_HASHES, |some| stored.extend_from_slice(some)).unwrap();
            prop_assert_eq!(stored, sorted(&model));
        }
    }
}

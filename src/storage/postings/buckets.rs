//! The bucket tables: one redb table for each band, and one for content hashes, of packed leaves.
//!
//! The key of a leaf is the top `prefix` bits of its hashes. As hashes are uniform, so is the load
//! of the leaves; `prefix` grows with the number of contents so that a leaf holds 128 to 256 of
//! them, and a table is written anew when it does. A bucket with more contents than that makes its
//! leaf longer, nothing else.

use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata, TableDefinition,
    WriteTransaction,
};

use super::leaf::{Leaf, Posting, pack};
use crate::codec::low32;
use crate::storage::index::{Appender, copy, page_bytes};

/// A leaf's key has at most this many bits.
pub(crate) const MAX_PREFIX: u32 = 24;

type Definition<'a> = TableDefinition<'a, u32, &'static [u8]>;

/// What can go wrong with a bucket table.
#[derive(Debug)]
pub(crate) enum BucketError {
    Redb(redb::Error),
    Damaged(String),
}

impl<E: Into<redb::Error>> From<E> for BucketError {
    fn from(error: E) -> Self {
        BucketError::Redb(error.into())
    }
}

/// Which list of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Copies,
    Band(u32),
}

/// Which of the two tables of a list: nearly all contents are in the old one, those that came
/// lately in the young one, so that a merge writes a small table many times and a large one seldom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Old,
    Young,
}

impl List {
    /// The list of a number: 0 are the copies, the others the bands.
    pub(crate) fn of(number: u32) -> List {
        number.checked_sub(1).map_or(List::Copies, List::Band)
    }

    /// The name of a table whose leaves are keyed by `prefix` bits.
    fn table(self, level: Level, prefix: u32) -> String {
        let age = match level {
            Level::Old => "",
            Level::Young => "young-",
        };
        match self {
            List::Copies => format!("{age}copies-{prefix:02}"),
            List::Band(band) => format!("{age}band-{band:03}-{prefix:02}"),
        }
    }
}

/// The prefix length, in bits, for tables of `postings`, at most so many a leaf on average; never less
/// than `current`.
pub(crate) fn prefix_bits(postings: u64, leaf: u64, current: u32) -> u32 {
    let leaves = postings.div_ceil(leaf).max(1);
    leaves
        .next_power_of_two()
        .ilog2()
        .clamp(current, MAX_PREFIX)
}

/// A bucket table of a snapshot.
#[derive(Debug)]
pub(crate) struct BucketTable {
    /// None where nothing was merged yet.
    table: Option<ReadOnlyTable<u32, &'static [u8]>>,
    hash_bits: u32,
}

impl BucketTable {
    /// Opens a table of `list` as `transaction` sees it.
    ///
    /// It may only be missing if nothing was `merged` into it yet.
    pub(crate) fn open(
        transaction: &ReadTransaction,
        list: List,
        level: Level,
        prefix: u32,
        merged: bool,
    ) -> Result<BucketTable, BucketError> {
        let name = list.table(level, prefix);
        let table = match transaction.open_table(Definition::new(&name)) {
            Ok(table) => Some(table),
            Err(redb::TableError::TableDoesNotExist(_)) if !merged => None,
            Err(redb::TableError::TableDoesNotExist(_)) => {
                return Err(BucketError::Damaged(format!("the table {name} is missing")));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(BucketTable {
            table,
            hash_bits: 32 - prefix,
        })
    }

    /// Appends to `found` the ids below `end` whose hash is `hash`, descending, until there are
    /// `most` in it.
    pub(crate) fn look_up(
        &self,
        hash: u32,
        end: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) -> Result<(), BucketError> {
        let room = most.saturating_sub(found.len());
        let Some(table) = self.table.as_ref().filter(|_| room > 0) else {
            return Ok(());
        };
        let Some(bytes) = table.get(key(hash, self.hash_bits))? else {
            return Ok(());
        };
        let leaf = Leaf::new(bytes.value(), self.hash_bits).map_err(BucketError::Damaged)?;
        found.extend(leaf.ids_below(hash, end).take(room));
        Ok(())
    }

    /// Bytes of the pages that hold the table.
    pub(crate) fn page_bytes(&self) -> Result<u64, BucketError> {
        let bytes = self.table.as_ref().map(page_bytes).transpose()?;
        Ok(bytes.unwrap_or(0))
    }

    /// Writes the table into an index that has none of `list` and `level`.
    pub(crate) fn copy_to(
        &self,
        transaction: &WriteTransaction,
        list: List,
        level: Level,
    ) -> Result<(), BucketError> {
        let Some(table) = &self.table else {
            return Ok(());
        };
        let name = list.table(level, 32 - self.hash_bits);
        let mut target = transaction.open_table(Definition::new(&name))?;
        Ok(copy(table, &mut target)?)
    }

    /// Calls `visit` with every posting, sorted.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Posting)) -> Result<(), BucketError> {
        let Some(table) = &self.table else {
            return Ok(());
        };
        for entry in table.iter()? {
            let (prefix, bytes) = entry?;
            let leaf = Leaf::new(bytes.value(), self.hash_bits).map_err(BucketError::Damaged)?;
            leaf.postings(prefix.value()).for_each(&mut visit);
        }
        Ok(())
    }
}

/// What a commit does to one bucket table. Both lists are sorted.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub(crate) add: Vec<Posting>,
    pub(crate) remove: Vec<Posting>,
}

impl Change {
    pub(crate) fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }
}

/// Applies `change` to a table of `list`, whose leaves are keyed by `old` bits before and by `new`
/// bits, as many or more, after.
pub(crate) fn apply(
    transaction: &WriteTransaction,
    list: List,
    level: Level,
    old: u32,
    new: u32,
    change: &Change,
) -> Result<(), BucketError> {
    let (old_name, new_name) = (list.table(level, old), list.table(level, new));
    let beside = format!("{new_name}-next");
    {
        let mut source = transaction.open_table(Definition::new(&old_name))?;
        if old == new && !touches_most(&source, change)? {
            return update_leaves(&mut source, 32 - new, change);
        }
        let mut target = transaction.open_table(Definition::new(&beside))?;
        rewrite_leaves(&source, &mut target, 32 - old, 32 - new, change)?;
    }
    transaction.delete_table(Definition::new(&old_name))?;
    transaction.rename_table(Definition::new(&beside), Definition::new(&new_name))?;
    Ok(())
}

/// Whether a change has a posting for every other leaf: then a table that is written from front to back takes
/// less time, and fewer pages, than one in which each leaf is replaced.
fn touches_most(
    table: &redb::Table<'_, u32, &'static [u8]>,
    change: &Change,
) -> Result<bool, BucketError> {
    let changed = (change.add.len() + change.remove.len()) as u64;
    Ok(changed > table.len()? / 2)
}

/// Writes sorted postings behind those of the old table of `list`, whose leaves are keyed by `prefix`
/// bits. No leaf may get postings in two calls.
pub(crate) fn append(
    transaction: &WriteTransaction,
    list: List,
    prefix: u32,
    postings: &[Posting],
) -> Result<(), BucketError> {
    let name = list.table(Level::Old, prefix);
    let mut table = transaction.open_table(Definition::new(&name))?;
    let mut writer = LeafWriter {
        appender: Appender::new(&mut table)?,
        hash_bits: 32 - prefix,
        bytes: Vec::new(),
    };
    writer.write(postings)?;
    Ok(writer.appender.close()?)
}

/// Takes the young table of `list`, whose leaves are keyed by `prefix` bits, out of the store, and
/// returns its postings with `change`, sorted.
pub(crate) fn take_young(
    transaction: &WriteTransaction,
    list: List,
    prefix: u32,
    change: &Change,
) -> Result<Vec<Posting>, BucketError> {
    let name = list.table(Level::Young, prefix);
    let mut young = Vec::new();
    {
        let table = transaction.open_table(Definition::new(&name))?;
        for entry in table.iter()? {
            let (prefix_of, bytes) = entry?;
            let leaf = Leaf::new(bytes.value(), 32 - prefix).map_err(BucketError::Damaged)?;
            young.extend(leaf.postings(prefix_of.value()));
        }
    }
    transaction.delete_table(Definition::new(&name))?;
    let mut all = Vec::with_capacity(young.len() + change.add.len());
    merge(young.into_iter(), &change.add, &change.remove, &mut all);
    Ok(all)
}

/// Merges the change into the leaves that it touches.
fn update_leaves(
    table: &mut redb::Table<'_, u32, &'static [u8]>,
    hash_bits: u32,
    change: &Change,
) -> Result<(), BucketError> {
    let mut add = change.add.as_slice();
    let mut remove = change.remove.as_slice();
    let (mut merged, mut bytes) = (Vec::new(), Vec::new());
    while let Some(first) = earlier(add.first(), remove.first()) {
        let prefix = key(first.hash(), hash_bits);
        let added = take_leaf(&mut add, prefix, hash_bits);
        let removed = take_leaf(&mut remove, prefix, hash_bits);
        merged.clear();
        if let Some(old) = table.get(prefix)? {
            let leaf = Leaf::new(old.value(), hash_bits).map_err(BucketError::Damaged)?;
            merge(leaf.postings(prefix), added, removed, &mut merged);
        } else {
            merge(std::iter::empty(), added, removed, &mut merged);
        }
        if merged.is_empty() {
            table.remove(prefix)?;
        } else {
            pack(&merged, hash_bits, &mut bytes);
            table.insert(prefix, bytes.as_slice())?;
        }
    }
    Ok(())
}

/// Writes all leaves of `source`, with the change, into `target` with shorter hashes.
fn rewrite_leaves(
    source: &redb::Table<'_, u32, &'static [u8]>,
    target: &mut redb::Table<'_, u32, &'static [u8]>,
    old_bits: u32,
    new_bits: u32,
    change: &Change,
) -> Result<(), BucketError> {
    let mut writer = LeafWriter {
        appender: Appender::new(target)?,
        hash_bits: new_bits,
        bytes: Vec::new(),
    };
    let mut add = change.add.as_slice();
    let mut remove = change.remove.as_slice();
    let mut merged = Vec::new();
    for entry in source.iter()? {
        let (prefix, bytes) = entry?;
        let prefix = prefix.value();
        // What comes before this leaf falls into ranges that had none.
        let before = add.partition_point(|p| key(p.hash(), old_bits) < prefix);
        let (gap, rest) = add.split_at(before);
        add = rest;
        writer.write(gap)?;
        let nowhere = remove.partition_point(|p| key(p.hash(), old_bits) < prefix);
        remove = &remove[nowhere..];
        let added = take_leaf(&mut add, prefix, old_bits);
        let removed = take_leaf(&mut remove, prefix, old_bits);
        let leaf = Leaf::new(bytes.value(), old_bits).map_err(BucketError::Damaged)?;
        merged.clear();
        merge(leaf.postings(prefix), added, removed, &mut merged);
        writer.write(&merged)?;
    }
    writer.write(add)?;
    Ok(writer.appender.close()?)
}

/// Packs sorted postings into the leaves of a table that is written from front to back.
struct LeafWriter<'a> {
    appender: Appender<'a, u32, &'static [u8]>,
    hash_bits: u32,
    bytes: Vec<u8>,
}

impl LeafWriter<'_> {
    /// Writes whole leaves: no posting of theirs may come in a later call.
    fn write(&mut self, postings: &[Posting]) -> Result<(), BucketError> {
        for leaf in
            postings.chunk_by(|a, b| key(a.hash(), self.hash_bits) == key(b.hash(), self.hash_bits))
        {
            let Some(first) = leaf.first() else { continue };
            pack(leaf, self.hash_bits, &mut self.bytes);
            let prefix = key(first.hash(), self.hash_bits);
            self.appender.push(prefix, self.bytes.as_slice())?;
        }
        Ok(())
    }
}

/// The key of the leaf that holds `hash`.
fn key(hash: u32, hash_bits: u32) -> u32 {
    low32(u64::from(hash) >> hash_bits)
}

fn earlier(a: Option<&Posting>, b: Option<&Posting>) -> Option<Posting> {
    match (a, b) {
        (Some(a), Some(b)) => Some(*a.min(b)),
        (one, other) => one.or(other).copied(),
    }
}

/// Splits the postings of the leaf `prefix` off the front.
fn take_leaf<'a>(postings: &mut &'a [Posting], prefix: u32, hash_bits: u32) -> &'a [Posting] {
    let len = postings
        .iter()
        .take_while(|p| key(p.hash(), hash_bits) == prefix)
        .count();
    let (leaf, rest) = postings.split_at(len);
    *postings = rest;
    leaf
}

/// Merges sorted postings into `out`: `old` and `add`, without `remove`.
fn merge(
    old: impl Iterator<Item = Posting>,
    add: &[Posting],
    mut remove: &[Posting],
    out: &mut Vec<Posting>,
) {
    let mut keep = |posting: Posting, out: &mut Vec<Posting>| {
        while let Some((first, rest)) = remove.split_first() {
            if *first < posting {
                remove = rest;
            } else {
                if *first == posting {
                    return;
                }
                break;
            }
        }
        if out.last() != Some(&posting) {
            out.push(posting);
        }
    };
    let mut add = add.iter().copied().peekable();
    for posting in old {
        while let Some(added) = add.next_if(|added| *added < posting) {
            keep(added, out);
        }
        keep(posting, out);
    }
    for added in add {
        keep(added, out);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use redb::ReadableDatabase;

    use super::*;

    const LIST: List = List::Band(3);

    fn postings() -> impl Strategy<Value = BTreeSet<(u32, u32)>> {
        let hash = prop_oneof![any::<u32>(), 0_u32..5, Just(u32::MAX)];
        prop::collection::btree_set((hash, 0_u32..200), 0..120)
    }

    fn sorted(set: &BTreeSet<(u32, u32)>) -> Vec<Posting> {
        set.iter().map(|&(h, id)| Posting::new(h, id)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_table_is_the_set_of_its_changes(
            batches in prop::collection::vec((postings(), 0_u32..4), 1..6)
        ) {
            let db = redb::Database::builder()
                .create_with_backend(redb::backends::InMemoryBackend::new())
                .unwrap();
            let mut model = BTreeSet::new();
            let mut bits = 0;
            for (index, (batch, grow)) in batches.iter().enumerate() {
                let transaction = db.begin_write().unwrap();
                // Every third batch removes what an earlier one added, and more.
                let change = if index % 3 == 2 {
                    model.retain(|p| !batch.contains(p));
                    Change { add: vec![], remove: sorted(batch) }
                } else {
                    model.extend(batch.iter().copied());
                    Change { add: sorted(batch), remove: vec![] }
                };
                apply(&transaction, LIST, Level::Old, bits, bits + grow, &change).unwrap();
                bits += grow;
                transaction.commit().unwrap();
            }
            let table = BucketTable::open(&db.begin_read().unwrap(), LIST, Level::Old, bits, true).unwrap();
            let mut stored = Vec::new();
            table.for_each(|p| stored.push(p)).unwrap();
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
    }

    #[test]
    fn prefixes_keep_leaves_between_half_full_and_full() {
        assert_eq!(prefix_bits(0, 256, 0), 0);
        assert_eq!(prefix_bits(256, 256, 0), 0);
        assert_eq!(prefix_bits(257, 256, 0), 1);
        assert_eq!(prefix_bits(4 * 8, 8, 0), 2);
        assert_eq!(prefix_bits(10, 256, 5), 5);
    }
}

//! The names of the bucket tables.

use redb::TableDefinition;

use crate::storage::index::LEVELS;

/// The maximum number of bits in a leaf's key.
pub(crate) const MAX_PREFIX: u32 = 24;

/// The definition of a bucket table: leaves by the top bits of their hashes.
pub(super) type LeafTableDefinition<'a> = TableDefinition<'a, u32, &'static [u8]>;

/// A list of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BucketList {
    Copies,
    Band(u32),
}

impl BucketList {
    /// The list with a number: 0 is that of the copies, the others are the bands.
    pub(crate) fn of(number: u32) -> BucketList {
        number
            .checked_sub(1)
            .map_or(BucketList::Copies, BucketList::Band)
    }

    /// The name of the list's table in a level.
    pub(super) fn table(self, table: KeyedLevel) -> String {
        self.table_of(&format!("level-{}", table.level), table.prefix)
    }

    /// The name of the list's table in a merge that is under way.
    pub(super) fn merged_table(self, prefix: u32) -> String {
        self.table_of("merged", prefix)
    }

    fn table_of(self, of: &str, prefix: u32) -> String {
        match self {
            BucketList::Copies => format!("{of}-copies-{prefix:02}"),
            BucketList::Band(band) => format!("{of}-band-{band:03}-{prefix:02}"),
        }
    }
}

/// The level of the oldest contents.
pub(crate) const OLDEST: usize = LEVELS - 1;

/// The tables of a level, whose leaves are keyed by `prefix` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyedLevel {
    pub(crate) level: usize,
    pub(crate) prefix: u32,
}

impl KeyedLevel {
    /// The same level with keys of `prefix` bits.
    pub(crate) fn with(self, prefix: u32) -> KeyedLevel {
        KeyedLevel { prefix, ..self }
    }

    /// The number of bits of a hash that are not in the key of its leaf.
    pub(super) fn hash_bits(self) -> u32 {
        u32::BITS - self.prefix
    }
}

/// The prefix length, in bits, for tables of `postings` postings with at most `leaf` per leaf on average.
///
/// It is never less than `current`.
pub(crate) fn prefix_bits(postings: u64, leaf: u64, current: u32) -> u32 {
    let leaves = postings.div_ceil(leaf).max(1);
    leaves
        .next_power_of_two()
        .ilog2()
        .clamp(current, MAX_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_keep_leaves_between_half_full_and_full() {
        assert_eq!(prefix_bits(0, 256, 0), 0);
        assert_eq!(prefix_bits(256, 256, 0), 0);
        assert_eq!(prefix_bits(257, 256, 0), 1);
        assert_eq!(prefix_bits(4 * 8, 8, 0), 2);
        assert_eq!(prefix_bits(10, 256, 5), 5);
    }
}

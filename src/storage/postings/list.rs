//! The names of the bucket tables.

use redb::TableDefinition;

use crate::schema::Schema;
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
    /// A content has several fingerprints, so their leaves are keyed by this many more bits than those of other lists.
    Fingerprints {
        key_bits: u32,
    },
}

impl BucketList {
    /// The name of the list's table in a level.
    pub(super) fn table(self, table: KeyedLevel) -> String {
        self.table_of(&format!("level-{}", table.level), table.prefix)
    }

    /// The name of the list's table in a merge that is under way.
    pub(super) fn merged_table(self, prefix: u32) -> String {
        self.table_of("merged", prefix)
    }

    fn table_of(self, of: &str, prefix: u32) -> String {
        let prefix = self.prefix(prefix);
        match self {
            BucketList::Copies => format!("{of}-copies-{prefix:02}"),
            BucketList::Band(band) => format!("{of}-band-{band:03}-{prefix:02}"),
            BucketList::Fingerprints { .. } => format!("{of}-fingerprints-{prefix:02}"),
        }
    }

    /// The number of bits in the list's keys in a level whose other lists have `prefix`.
    pub(super) fn prefix(self, prefix: u32) -> u32 {
        match self {
            BucketList::Copies | BucketList::Band(_) => prefix,
            BucketList::Fingerprints { key_bits } => (prefix + key_bits).min(MAX_PREFIX),
        }
    }

    /// The number of bits of a hash that are not in the key of its leaf.
    pub(super) fn hash_bits(self, table: KeyedLevel) -> u32 {
        u32::BITS - self.prefix(table.prefix)
    }

    /// The list is merged in two to the power of this many parts where other lists have `part_bits`.
    pub(crate) fn part_bits(self, prefix: u32, part_bits: u32) -> u32 {
        part_bits + self.prefix(prefix) - prefix
    }
}

/// The lists of buckets of a store, by number: the copies, the bands, and the fingerprints if it keeps any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BucketLists {
    bands: u32,
    fingerprints: Option<BucketList>,
}

impl BucketLists {
    /// Nothing but the copies.
    #[cfg(test)]
    pub(crate) const COPIES: BucketLists = BucketLists {
        bands: 0,
        fingerprints: None,
    };

    /// A content of this many tokens has as many fingerprints as a leaf is keyed by more bits for.
    const TOKENS: u32 = 512;

    pub(crate) fn of(schema: &Schema) -> BucketLists {
        let fingerprints = schema.fingerprint_step().map(|step| {
            let key_bits = (BucketLists::TOKENS / step).max(1).ilog2();
            BucketList::Fingerprints { key_bits }
        });
        BucketLists {
            bands: schema.bands().bands(),
            fingerprints,
        }
    }

    /// The number of lists.
    pub(crate) fn count(self) -> u32 {
        self.per_content() + u32::from(self.fingerprints.is_some())
    }

    /// The number of lists in which a content has one hash at most.
    pub(crate) fn per_content(self) -> u32 {
        1 + self.bands
    }

    /// The number of the list of fingerprints.
    pub(crate) fn fingerprints(self) -> Option<u32> {
        self.fingerprints.map(|_| self.per_content())
    }

    /// The list with a number below [`BucketLists::count`].
    pub(crate) fn get(self, number: u32) -> BucketList {
        match (number.checked_sub(1), self.fingerprints) {
            (None, _) => BucketList::Copies,
            (Some(band), Some(fingerprints)) if band == self.bands => fingerprints,
            (Some(band), _) => BucketList::Band(band),
        }
    }

    /// The numbers of all lists, those with the most postings first, so that no thread is left with them at the end.
    pub(crate) fn by_size(self, place: u32) -> u32 {
        match (place.checked_sub(1), self.fingerprints()) {
            (_, None) => place,
            (None, Some(fingerprints)) => fingerprints,
            (Some(before), Some(_)) => before,
        }
    }

    pub(crate) fn all(self) -> impl Iterator<Item = BucketList> {
        (0..self.count()).map(move |number| self.get(number))
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

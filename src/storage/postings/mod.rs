//! The contents of each bucket: tables, the recent postings in memory, and the filters in front of the tables.

mod buckets;
mod chains;
mod error;
mod filter;
mod filters;
mod fingerprint_chains;
mod leaf;
mod list;
pub(crate) mod order;
mod posting_tables;
mod recent;
mod runs;
pub(crate) mod update;

#[cfg(test)]
pub(crate) use buckets::BucketTable;
pub(crate) use chains::ChainLink;
pub(crate) use error::BucketError;
pub(crate) use filter::{EmptyFilter, Filter, FilterName};
pub(crate) use filters::{ByAge, Filters, LevelAge, retired};
pub(crate) use leaf::Posting;
#[cfg(any(test, fuzzing))]
pub(crate) use leaf::{Leaf, UnpackedLeaf, pack};
pub(crate) use list::{BucketList, BucketLists, KeyedLevel, MAX_PREFIX, OLDEST, prefix_bits};
pub(crate) use posting_tables::PostingTables;
pub(crate) use recent::{ContentHashes, RecentPostings};
pub(crate) use runs::ALL_HASHES;

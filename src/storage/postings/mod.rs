//! The contents of each bucket: tables, the recent postings in memory, and the filters in front of the tables.

mod buckets;
mod fault;
mod filter;
mod filters;
mod leaf;
mod list;
pub(crate) mod order;
mod posted;
mod recent;
mod runs;
pub(crate) mod update;

#[cfg(test)]
pub(crate) use buckets::BucketTable;
pub(crate) use fault::BucketError;
pub(crate) use filter::{EmptyFilter, Filter, FilterName};
pub(crate) use filters::{LevelAge, ByAge, Filters, retired};
pub(crate) use leaf::Posting;
#[cfg(any(test, fuzzing))]
pub(crate) use leaf::{Leaf, UnpackedLeaf, pack};
pub(crate) use list::{KeyedLevel, BucketList, MAX_PREFIX, OLDEST, prefix_bits};
pub(crate) use posted::PostingTables;
pub(crate) use recent::{ContentHashes, ChainLink, RecentPostings};
pub(crate) use runs::ALL_HASHES;

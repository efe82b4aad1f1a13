//! Which contents are in a bucket: tables, the youngest ones in memory, and the filter before both.

pub(crate) mod buckets;
mod filter;
mod leaf;
pub(crate) mod order;
mod posted;
mod recent;

pub(crate) use buckets::{BucketError, BucketTable, Change, Level, List, MAX_PREFIX, prefix_bits};
pub(crate) use filter::{Filter, FilterName};
pub(crate) use leaf::Posting;
#[cfg(any(test, fuzzing))]
pub(crate) use leaf::{Leaf, pack};
pub(crate) use posted::{LevelState, Posted};
pub(crate) use recent::{Hashes, Link, Recent};

//! The store on disk: columns, bucket tables, catalog, and the commit that binds them.
//!
//! `format` specifies the files. `Files` is the writing side, behind the store's lock;
//! `Snapshot` is what a reader sees. Nothing here knows what a text is: contents come as hash,
//! shingles and signature.

mod apart;
mod append;
mod backup;
mod bits;
mod buckets;
mod catalog;
mod column;
mod columns;
mod commit;
mod disk;
mod elias_fano;
mod files;
mod filter;
mod format;
mod guard;
mod holder;
mod index;
#[cfg(any(test, fuzzing))]
pub(crate) mod laws;
mod leaf;
mod leftovers;
mod merge;
mod meta;
mod next;
mod order;
mod packed;
mod parallel;
mod place;
mod posted;
mod reader;
mod recent;
mod reclaimable;
mod renumbering;
mod rows;
mod runs;
mod snapshot;
mod sound;
mod sums;
mod verified;
mod wreck;

pub(crate) use apart::{enclosing, inside};
pub(crate) use bits::low32;
pub(crate) use catalog::{DocumentChange, DocumentRow};
pub(crate) use commit::CatalogChange;
pub(crate) use disk::resolved;
#[cfg(all(test, unix))]
pub(crate) use disk::{crash, watch};
pub(crate) use files::{Files, NewContent};
pub(crate) use format::{ContentRow, Kind};
pub(crate) use holder::Note;
pub(crate) use index::NoWriter;
pub(crate) use leaf::Posting;
pub(crate) use next::{Next, Plan, Progress, Sign};
pub(crate) use place::Place;
pub(crate) use recent::Link;
pub(crate) use runs::Runs;
pub(crate) use snapshot::Snapshot;
pub(crate) use sound::Sound;
pub(crate) use wreck::{Content, Wreck};

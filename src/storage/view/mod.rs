//! The reader's view of a store.

mod bucket_sizes;
mod reclaimable;
mod rows;
mod snapshot;

pub(crate) use rows::{BlockEnds, ContentRows};
pub(crate) use snapshot::{CommittedTables, PackedShingles, Snapshot, bucket_error, file_size};

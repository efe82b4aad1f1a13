//! The reader's view of a store.

mod bucket_sizes;
mod reclaimable;
mod rows;
mod snapshot;

pub(crate) use rows::{BlockEnds, ContentRows, PackedShingles};
pub(crate) use snapshot::{CommittedTables, Snapshot, bucket_error, file_size};

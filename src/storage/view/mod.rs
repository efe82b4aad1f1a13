//! The reader's view of a store.

mod reclaimable;
mod rows;
mod snapshot;

pub(crate) use rows::ContentRows;
pub(crate) use snapshot::{PackedShingles, Snapshot, CommittedTables, bucket_error, file_size};

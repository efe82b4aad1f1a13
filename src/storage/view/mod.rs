//! The reader's view of a store.

mod reclaimable;
mod rows;
mod snapshot;

pub(crate) use rows::Rows;
pub(crate) use snapshot::{Packed, Snapshot, Tables, bucket_error, file_size};

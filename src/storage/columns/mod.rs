//! Append-only files of rows, with checksums.

mod column;
pub(crate) mod packed;
mod spec;
mod sums;
mod verified;

pub(crate) use column::{ColumnView, ColumnWriter, Trust};
#[cfg(any(test, fuzzing))]
pub(crate) use packed::unpack;
pub(crate) use packed::{most_bytes, unpack_stored};
pub(crate) use spec::{ColumnSpec, ColumnWriters};
pub(crate) use sums::{BLOCK_BYTES, all_sums, sum};
pub(crate) use verified::blocks_of;

//! Packed integers. Nothing here knows what they stand for.

pub(crate) mod bits;
mod bytes;
pub(crate) mod elias_fano;
pub(crate) mod varint;

pub(crate) use bits::{BitWriter, low32, packed_bytes};
pub(crate) use bytes::{u32_at, u64_at};

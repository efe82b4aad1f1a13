//! Packed integers, regardless of their meaning.

pub(crate) mod bits;
mod bytes;
pub(crate) mod elias_fano;
mod set;
pub(crate) mod varint;

pub(crate) use bits::low32;
pub(crate) use bytes::{u32_at, u64_at, words};
pub(crate) use set::BitSet;

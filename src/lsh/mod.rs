//! From signatures to band hashes: shapes, their S-curve, and the choice of a shape.

mod bands;
mod choice;
mod curve;
mod hash;

pub use bands::Bands;
pub(crate) use hash::copies_key;

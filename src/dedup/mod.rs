//! Writing a corpus without its near-duplicates.
//!
//! What is read is judged by the store's writer, in the order of the input or, where it is kept in a
//! spool first, in another one. What is kept goes into a sink, which is published at the end.

mod encoder;
pub(crate) mod fit;
pub(crate) mod judge;
pub(crate) mod lineage;
pub(crate) mod order;
pub(crate) mod outputs;
pub(crate) mod removed;
pub(crate) mod sink;
pub(crate) mod spool;
mod stream;
pub(crate) mod summary;
pub(crate) mod target;
mod tree;

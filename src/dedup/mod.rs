//! A corpus in, a corpus without its near-duplicates out, and who was dropped for whose sake.
//!
//! What is read is judged by a store's writer, in the order of the input or, where it is kept in a
//! spool first, in another one. What is kept goes into a sink, which takes its place at the end, whole.

mod done;
mod encoder;
mod error;
mod event;
mod fit;
mod judge;
mod lineage;
mod modes;
mod order;
mod outputs;
mod removed;
mod run;
mod settings;
mod sink;
mod spool;
mod stream;
mod target;
mod tree;
mod uncommitted;

pub use done::{Done, Dropping};
pub use error::{Error, Unfit};
pub use event::{Dropped, Event};
pub use run::Begun;
pub use settings::{Dedup, Ending, Keep};
pub use uncommitted::Uncommitted;

pub use crate::publish::error::Error as OutputError;

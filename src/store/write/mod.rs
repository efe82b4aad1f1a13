//! Everything that changes documents.

mod admit;
mod batch;
mod by_hash;
mod calls;
mod fresh;
mod hash_places;
mod insert;
mod judge;
mod merge;
#[cfg(test)]
mod merging;
mod names;
mod parts;
mod pending;
mod pipeline;
mod remove_if;
mod run;
mod settle;
mod settler;
mod uncommitted;
mod writer;

pub use batch::Batch;
pub use merge::MergeSummary;
pub use pipeline::{Intake, Pipeline};
pub use uncommitted::Uncommitted;
pub use writer::Writer;

//! Everything that changes documents.

mod admit;
mod batch;
mod earlier;
mod insert;
mod merge;
mod older;
mod pending;
mod run;
mod unique;
mod writer;

pub use admit::Admission;
pub use batch::Batch;
pub use merge::Merged;
pub use writer::Writer;

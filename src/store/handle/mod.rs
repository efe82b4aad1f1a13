//! The open store, which threads share.

mod alone;
mod options;
mod slot;
mod store;

pub use options::Options;
pub(crate) use slot::{Feeder, SlotUse, Lease, FilesSlot};
pub use store::Store;

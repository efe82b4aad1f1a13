//! The open store, which threads share.

mod non_reentrant;
mod options;
mod slot;
mod store;

pub use options::Options;
pub(crate) use slot::{Feeder, FilesSlot, Lease, SlotUse};
pub use store::Store;

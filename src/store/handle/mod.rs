//! The open store, which threads share.

mod alone;
mod options;
mod slot;
mod store;

pub use options::Options;
pub(crate) use slot::{Feeder, InUse, Lease, Slot};
pub use store::Store;

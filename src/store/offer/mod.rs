//! What is offered to a store, and what becomes of it.

mod input;
mod prepared;
mod queue;

pub use input::{Change, Input, MAX_KEY_BYTES, Outcome, Relation, Verdict};
pub(crate) use prepared::Prepared;
pub(crate) use queue::{Lead, Queue, Request, Turn};

//! What is offered to a store, and the outcomes.

mod body;
mod hashed_key;
mod input;
mod outcome;
mod prepared;
mod queue;

pub use body::Body;
pub(crate) use hashed_key::HashedKey;
pub(crate) use input::check_key;
pub use input::{Input, MAX_KEY_BYTES};
pub(crate) use outcome::second_key;
pub use outcome::{Change, Outcome, Relation};
pub(crate) use prepared::PreparedInput;
pub(crate) use queue::{CallAnswer, CallQueue, CallTurn, LedCalls, StoreCall};

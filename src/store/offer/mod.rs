//! What is offered to a store, and the outcomes.

mod body;
mod input;
mod keyed;
mod outcome;
mod prepared;
mod queue;

pub use body::Body;
pub(crate) use input::check_key;
pub use input::{Input, MAX_KEY_BYTES};
pub(crate) use keyed::HashedKey;
pub use outcome::{Change, Outcome, Relation};
pub(crate) use prepared::PreparedInput;
pub(crate) use queue::{CallAnswer, StoreCall, LedCalls, CallQueue, CallRequest, CallTurn};

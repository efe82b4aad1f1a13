//! From files to batches of documents, read ahead on threads of their own.

pub(crate) mod ahead;
pub(crate) mod outbox;
pub(crate) mod places;
pub(crate) mod reader;
pub(crate) mod repeats;

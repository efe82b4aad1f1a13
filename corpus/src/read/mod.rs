//! Reads files into batches of documents, ahead on separate threads.

pub(crate) mod batches;
pub(crate) mod outbox;
pub(crate) mod places;
pub(crate) mod reader;
pub(crate) mod repeats;
pub(crate) mod sketch_ahead;
pub(crate) mod stored;

//! Events for the observer while a corpus is added.

use crate::item::Origin;
use crate::skipped::Skipped;
use dedupdb::Match;

/// An event for the observer. Events are reported in the order in which they happen.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AddEvent<'a> {
    /// The store held documents of an interrupted run and removed them.
    Forgotten {
        /// The number of documents.
        documents: u64,
    },
    /// A file or record is skipped.
    Skipped(&'a Skipped),
    /// [`Add`](super::Add) stored a document, or would have if it did not [pretend](super::Add::pretend).
    Stored {
        /// Its key.
        key: &'a str,
        /// Where it was read.
        origin: &'a Origin,
    },
    /// A document resembles an earlier one. Reported only with [`Add::evidence`](super::Add::evidence).
    Like {
        /// The key of the document.
        key: &'a str,
        /// The most similar earlier document.
        earlier: &'a Match,
        /// Whether it was kept out because of that.
        is_kept_out: bool,
    },
    /// A batch of documents was added. All events about them came before.
    Batch,
}

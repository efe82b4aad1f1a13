//! What an observer is told while a corpus is added.

use crate::Match;
use crate::corpus::skipped::Skipped;

/// An event for the observer, in the order in which it happens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AddEvent<'a> {
    /// The store had so many documents of a run that was interrupted, and forgot them.
    Forgotten {
        /// How many.
        documents: u64,
    },
    /// A file or record is left out.
    Skipped(&'a Skipped),
    /// A document is like an earlier one; told if that is [asked for](super::Add::evidence).
    Like {
        /// Its key.
        key: &'a str,
        /// The most similar earlier document.
        earlier: &'a Match,
    },
    /// How far it is: told after each batch, and twenty times a second while nothing else happens.
    Progress {
        /// Documents that were added, and what was left out.
        documents: u64,
        /// Bytes that were read or spared for them.
        bytes: u64,
    },
}

//! When to commit.

use std::time::{Duration, Instant};

/// A commit follows the last one after this time,
const COMMIT_AFTER: Duration = Duration::from_secs(5);
/// or once so much text was added,
const COMMIT_BYTES: u64 = 256 << 20;
/// or so many documents, which cost memory until then.
const COMMIT_DOCUMENTS: usize = 200_000;

/// What the next commit has to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncommitted {
    since: Instant,
    bytes: u64,
    documents: usize,
}

impl Uncommitted {
    /// Nothing yet.
    pub(crate) fn new() -> Uncommitted {
        Uncommitted {
            since: Instant::now(),
            bytes: 0,
            documents: 0,
        }
    }

    /// Takes note of what was added.
    pub(crate) fn grow(&mut self, documents: usize, bytes: u64) {
        self.documents += documents;
        self.bytes += bytes;
    }

    /// Whether it is time for a commit.
    pub(crate) fn is_due(&self) -> bool {
        self.bytes >= COMMIT_BYTES
            || self.documents >= COMMIT_DOCUMENTS
            || self.since.elapsed() >= COMMIT_AFTER
    }
}

//! When to commit a long series of changes.

use std::time::Duration;

use super::writer::Writer;
use crate::clock::Stopwatch;

/// A commit is due after this time,
const COMMIT_AFTER: Duration = Duration::from_secs(5);

/// after this time if another process waits for the right to write,
const COMMIT_FOR_OTHERS_AFTER: Duration = Duration::from_millis(50);

/// or once the changes take the given memory divided by this. The rest is for the cache of the index, for batches that
/// are being read, sketched and added, and for the commit itself. The share is measured with texts of ten words, for
/// which the changes take the most.
const SHARE: u64 = 11;

/// Changes of a [fleeting](crate::Options::fleeting) store, which nobody waits for, may take the memory divided by this.
const FLEETING_SHARE: u64 = 5;

/// Changes that are never committed may take the memory divided by this, because no commit follows.
const PRETENDED_SHARE: u64 = 2;

/// This many bytes may always be uncommitted, however little memory is given.
const LEAST: u64 = 16 << 20;

/// Limits how long and how much may be uncommitted, for a caller that adds a long series of documents.
///
/// ```
/// use dedupdb::write::Uncommitted;
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
/// let mut writer = store.writer()?;
/// let mut uncommitted = Uncommitted::new(512 << 20);
/// for (key, text) in [("a", "The night tram runs again."), ("b", "Nobody knows who painted it.")] {
///     writer.add(key, text)?;
///     if uncommitted.is_due(&writer) {
///         writer.commit()?;
///         uncommitted.committed();
///     }
/// }
/// writer.commit()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Uncommitted {
    since: Stopwatch,
    memory: u64,
}

impl Uncommitted {
    /// Returns the number of bytes of changes after which a process that may take about `memory` bytes commits.
    pub fn limit(memory: u64) -> u64 {
        (memory / SHARE).max(LEAST)
    }

    /// Starts with no changes, for a process that may take about `memory` bytes.
    pub fn new(memory: u64) -> Uncommitted {
        Uncommitted {
            since: Stopwatch::start(),
            memory,
        }
    }

    /// Returns whether changes of `bytes` bytes are too many for a process that never commits them and may take about
    /// `memory` bytes.
    pub fn is_too_much(bytes: u64, memory: u64) -> bool {
        bytes >= (memory / PRETENDED_SHARE).max(LEAST)
    }

    /// Returns whether the changes of `writer` should be committed now: they take too much memory, or too much time has
    /// passed, of which there is less if another process waits for the right to write. Of a
    /// [fleeting](crate::Options::fleeting) store, only memory counts.
    pub fn is_due(&self, writer: &Writer) -> bool {
        let bytes = writer.uncommitted_bytes();
        if writer.store.shared.fleeting.is_some() {
            return bytes >= (self.memory / FLEETING_SHARE).max(LEAST);
        }
        let elapsed = self.since.elapsed();
        bytes >= Uncommitted::limit(self.memory)
            || elapsed >= COMMIT_AFTER
            || elapsed >= COMMIT_FOR_OTHERS_AFTER && writer.is_awaited()
    }

    /// Records a commit.
    pub fn committed(&mut self) {
        self.since = Stopwatch::start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Schema};

    #[test]
    fn nobody_waits_for_a_commit_of_a_fleeting_store() {
        let folder = tempfile::tempdir().unwrap();
        for (options, is_due) in [(Options::new(), true), (Options::new().fleeting(), false)] {
            let place = folder.path().join(is_due.to_string());
            let store = options.create(place, &Schema::default()).unwrap();
            let writer = store.writer().unwrap();
            let mut uncommitted = Uncommitted::new(1 << 30);
            assert!(!uncommitted.is_due(&writer));
            uncommitted.since = Stopwatch::started(COMMIT_AFTER).unwrap();
            assert_eq!(uncommitted.is_due(&writer), is_due);
        }
    }
}

//! When a long row of changes is to be committed.

use std::time::Duration;

use crate::clock::Stopwatch;

/// A commit follows the last one after this time,
const COMMIT_AFTER: Duration = Duration::from_secs(5);

/// or once the changes take one to so many of the bytes asked for. The rest is for the cache of the
/// index, for batches that are being read, sketched and added, and for the commit itself; the share
/// is measured, with texts of ten words, of which the changes take the most.
const SHARE: u64 = 8;

/// Changes that are never committed may take one to so many of them: there is no commit to come.
const PRETENDED_SHARE: u64 = 2;

/// However little was asked for, so much may be uncommitted.
const LEAST: u64 = 16 << 20;

/// How long and how much may be uncommitted, for a caller that adds as long as there is something to add.
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
///     if uncommitted.is_due(writer.uncommitted_bytes()) {
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
    most: u64,
}

impl Uncommitted {
    /// Bytes of changes after which a process that is to take about `memory` bytes commits.
    pub fn limit(memory: u64) -> u64 {
        (memory / SHARE).max(LEAST)
    }

    /// Nothing yet; the process is to take about `memory` bytes.
    pub fn new(memory: u64) -> Uncommitted {
        Uncommitted {
            since: Stopwatch::start(),
            most: Uncommitted::limit(memory),
        }
    }

    /// Whether changes that take `bytes` of memory are too many, where none are ever committed and
    /// the process is to take about `memory` bytes.
    pub fn is_too_much(bytes: u64, memory: u64) -> bool {
        bytes >= (memory / PRETENDED_SHARE).max(LEAST)
    }

    /// Whether it is time for a commit of changes that take `bytes` of memory.
    pub fn is_due(&self, bytes: u64) -> bool {
        bytes >= self.most || self.since.elapsed() >= COMMIT_AFTER
    }

    /// Records a commit.
    pub fn committed(&mut self) {
        self.since = Stopwatch::start();
    }
}

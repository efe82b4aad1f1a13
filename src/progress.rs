//! The progress of long calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The progress of a long call, for another thread to look at now and then.
///
/// A call sets the number of its steps as soon as it knows it, and counts the steps that are done. Steps take about
/// equally long and have no other meaning. Do not share a progress between two calls at a time: it would mix their
/// counts.
///
/// ```
/// use dedupdb::{Options, Schema, Store, upkeep::Progress};
///
/// # let folder = tempfile::tempdir()?;
/// # drop(Store::create(folder.path().join("store"), &Schema::default())?);
/// let progress = Progress::new();
/// let options = Options::new().progress(&progress);
/// let report = options.check(folder.path().join("store"))?;
/// assert!(report.is_clean());
/// assert!(progress.total() > 0 && progress.done() == progress.total());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<ProgressCounts>);

#[derive(Debug, Default)]
struct ProgressCounts {
    done: AtomicU64,
    total: AtomicU64,
    started: AtomicU64,
}

impl Progress {
    /// Makes a progress on which no work has begun. Clones share their counts.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Returns the number of steps that are done.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Returns the number of all steps, or 0 if no work has begun.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// Returns how often work has begun. A call of several parts begins each part with its own number of steps.
    pub fn begun(&self) -> u64 {
        self.0.started.load(Ordering::Relaxed)
    }

    /// Begins work of `total` steps.
    pub fn begin(&self, total: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
        self.0.started.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts `steps` more steps as done.
    pub fn step(&self, steps: u64) {
        self.0.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Sets the number of steps that are done.
    pub fn reach(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }
}

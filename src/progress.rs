//! How far long work has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a long call has come, for another thread to look at now and then.
///
/// A call sets the number of its steps as soon as it knows, and counts those that are done. Steps
/// take about equally long and mean nothing beyond. Two calls that share a progress count as one
/// would, wrongly, so look at one at a time.
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
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    total: AtomicU64,
    begun: AtomicU64,
}

impl Progress {
    /// Nothing has begun. Clones are of the same progress.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Steps that are done.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// All steps; 0 as long as nothing has begun.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// How often work has begun, of all calls: a call of several parts begins each with a number of steps of its
    /// own.
    pub fn begun(&self) -> u64 {
        self.0.begun.load(Ordering::Relaxed)
    }

    /// Begins work of this number of steps.
    pub fn begin(&self, total: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts steps that were done.
    pub fn step(&self, steps: u64) {
        self.0.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Sets the number of steps that are done.
    pub fn reach(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }
}

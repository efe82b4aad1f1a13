//! How long calls are watched and stopped.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Error, Result};

/// The progress of a long call, to be looked at from another thread and to be stopped from there.
///
/// A call sets the number of its steps as soon as it knows it, and counts the steps that are done. Steps take about
/// equally long and have no other meaning, unless the call says so. Do not share a progress between two calls at a time:
/// it would mix their counts. Clones share everything.
///
/// A call whose progress is [stopped](Progress::stop) fails with [`Error::Stopped`] after its current step. What it
/// leaves then is said where it is described.
///
/// ```
/// use dedupdb::{Error, Options, Progress, Query, Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let progress = Progress::new();
/// let watched = store.watched(&progress);
/// watched.query_all(&[Query::text("one"), Query::text("two")])?;
/// assert_eq!((progress.done(), progress.total()), (2, 2));
/// progress.stop();
/// assert!(matches!(watched.query_all(&[Query::text("one")]), Err(Error::Stopped)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress {
    counts: Arc<ProgressCounts>,
    stop: Arc<StopRequest>,
}

#[derive(Debug, Default)]
struct ProgressCounts {
    done: AtomicU64,
    total: AtomicU64,
    begun: AtomicU64,
    documents: AtomicU64,
}

/// Whether to stop, and who is asked for it.
#[derive(Default)]
struct StopRequest {
    is_stopped: AtomicBool,
    observe: Option<Mutex<Box<ProgressObserver>>>,
    /// The progress that this is a part of.
    whole: Option<Progress>,
}

type ProgressObserver = dyn FnMut(&Progress) + Send;

impl Progress {
    /// Makes a progress on which no work has begun.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Makes a progress that is shown to `observe` after each step, on the thread of the step: for a caller without
    /// another thread. Steps that end on other threads meanwhile are not shown.
    ///
    /// ```
    /// use dedupdb::{Error, Progress, Schema, Store, upkeep::Rebuild};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// # store.insert_unless_duplicate("one", "a text")?;
    /// let hasty = store.watched(&Progress::observed(|progress| progress.stop()));
    /// assert!(matches!(hasty.rebuild(Rebuild::compact()), Err(Error::Stopped)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observed(observe: impl FnMut(&Progress) + Send + 'static) -> Progress {
        let stop = StopRequest {
            observe: Some(Mutex::new(Box::new(observe))),
            ..StopRequest::default()
        };
        Progress {
            counts: Arc::default(),
            stop: Arc::new(stop),
        }
    }

    /// Returns a progress of a part of the work: with counts of its own, and stopped if this one is. Stopping the part
    /// does not stop this one.
    #[must_use]
    pub fn part(&self) -> Progress {
        let stop = StopRequest {
            whole: Some(self.clone()),
            ..StopRequest::default()
        };
        Progress {
            counts: Arc::default(),
            stop: Arc::new(stop),
        }
    }

    /// Returns the number of steps that are done.
    pub fn done(&self) -> u64 {
        self.counts.done.load(Ordering::Relaxed)
    }

    /// Returns the number of all steps, or 0 if it is not known.
    pub fn total(&self) -> u64 {
        self.counts.total.load(Ordering::Relaxed)
    }

    /// Returns how often work has begun. A call of several parts begins each part with its own number of steps.
    pub fn begun(&self) -> u64 {
        self.counts.begun.load(Ordering::Relaxed)
    }

    /// Returns the number of documents that were read, skipped ones included. Calls that read documents count them
    /// here; their steps are bytes.
    pub fn documents(&self) -> u64 {
        self.counts.documents.load(Ordering::Relaxed)
    }

    /// Begins work of `total` steps.
    pub fn begin(&self, total: u64) {
        self.counts.done.store(0, Ordering::Relaxed);
        self.counts.total.store(total, Ordering::Relaxed);
        self.counts.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the number of all steps of work that has begun.
    pub fn expect(&self, total: u64) {
        self.counts.total.store(total, Ordering::Relaxed);
    }

    /// Counts `steps` more steps as done, and returns whether to go on.
    ///
    /// # Errors
    ///
    /// Those of [`Progress::go_on`].
    pub fn step(&self, steps: u64) -> Result<()> {
        self.counts.done.fetch_add(steps, Ordering::Relaxed);
        self.go_on()
    }

    /// Sets the number of steps that are done.
    pub fn reach(&self, done: u64) {
        self.counts.done.store(done, Ordering::Relaxed);
    }

    /// Counts documents that were read from this many bytes.
    pub fn count_read(&self, documents: u64, bytes: u64) {
        self.counts
            .documents
            .fetch_add(documents, Ordering::Relaxed);
        self.counts.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Stops the call that has this progress, and all later ones.
    pub fn stop(&self) {
        self.stop.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Keeps the first failure of an observer, and stops the call that it observes.
    ///
    /// ```
    /// use dedupdb::Progress;
    ///
    /// let (progress, mut first) = (Progress::new(), None);
    /// progress.stop_on(Ok(()), &mut first);
    /// progress.stop_on(Err("the disk is full"), &mut first);
    /// progress.stop_on(Err("another failure"), &mut first);
    /// assert!(progress.is_stopped());
    /// assert_eq!(first, Some("the disk is full"));
    /// ```
    pub fn stop_on<E>(&self, done: std::result::Result<(), E>, first: &mut Option<E>) {
        if let Err(error) = done {
            first.get_or_insert(error);
            self.stop();
        }
    }

    /// Returns whether it was stopped, or what it is a part of.
    pub fn is_stopped(&self) -> bool {
        let whole = self.stop.whole.as_ref();
        self.stop.is_stopped.load(Ordering::Relaxed) || whole.is_some_and(Progress::is_stopped)
    }

    /// Shows the progress to its observer, and returns whether to go on.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] once it was stopped.
    pub fn go_on(&self) -> Result<()> {
        if let Some(whole) = &self.stop.whole {
            whole.go_on()?;
        }
        if let Some(observe) = &self.stop.observe
            && let Ok(mut observe) = observe.try_lock()
        {
            observe(self);
        }
        if self.is_stopped() {
            return Err(Error::Stopped);
        }
        Ok(())
    }
}

impl fmt::Debug for StopRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopRequest")
            .field("is_stopped", &self.is_stopped)
            .finish_non_exhaustive()
    }
}

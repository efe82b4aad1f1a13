//! The progress of an experiment, and whether it continues.

use std::fmt;
use std::ops::ControlFlow;

use dedupdb::upkeep::Progress;
use dedupdb::{Error, Result};

/// Reports the progress of an experiment, and can stop it.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use dedupdb_lab::eval::{AccuracyQuery, Monitor, accuracy};
/// use dedupdb::{Error, sketching::ShingleSet, upkeep::Progress};
///
/// let sets = [(0..40).collect(), (20..60).collect()].map(ShingleSet::from_hashes);
/// let progress = Progress::new();
/// let enough = || if progress.done() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
/// let monitor = Monitor::new().progress(&progress).go_on(&enough);
/// let stopped = accuracy(&sets, &AccuracyQuery::new(), &monitor);
/// assert!(matches!(stopped, Err(Error::Stopped)));
/// assert_eq!(progress.done(), 3);
/// ```
#[derive(Clone, Default)]
pub struct Monitor<'a> {
    progress: Progress,
    go_on: Option<&'a ContinueFn<'a>>,
}

type ContinueFn<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

impl<'a> Monitor<'a> {
    /// Returns a monitor that lets an experiment run to its end.
    pub fn new() -> Monitor<'a> {
        Monitor::default()
    }

    /// Counts the experiment's steps here, where another thread can read them.
    #[must_use]
    pub fn progress(mut self, progress: &Progress) -> Monitor<'a> {
        self.progress = progress.clone();
        self
    }

    /// Asks after every step, on any thread, whether to continue. If not, the experiment ends with
    /// [`Error::Stopped`].
    #[must_use]
    pub fn go_on(mut self, go_on: &'a (dyn Fn() -> ControlFlow<()> + Sync + 'a)) -> Monitor<'a> {
        self.go_on = Some(go_on);
        self
    }

    /// Starts work of `steps` steps.
    pub(super) fn begin(&self, steps: u64) {
        self.progress.begin(steps);
    }

    /// Counts finished steps.
    pub(super) fn step(&self, steps: u64) -> Result<()> {
        self.progress.step(steps);
        match self.go_on.map(|go_on| go_on()) {
            Some(ControlFlow::Break(())) => Err(Error::Stopped),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }
}

impl fmt::Debug for Monitor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

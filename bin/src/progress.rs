//! The progress of a command that reads or writes documents.

use std::thread;
use std::time::{Duration, Instant};

use dedupdb::Progress;

use crate::console::Console;
use crate::number;
use crate::watch::{ProgressWatch, StepUnit};

/// Shows the bytes and documents so far on a terminal, once the command takes a while.
#[derive(Debug)]
pub(crate) struct ReadingBar {
    started: Instant,
    watch: Option<ProgressWatch>,
}

impl ReadingBar {
    /// Starts now. `plan` returns the bytes of all files, if it can, and may take its time.
    pub(crate) fn new(
        console: &Console,
        plan: impl FnOnce() -> Option<u64> + Send + 'static,
        progress: &Progress,
    ) -> ReadingBar {
        let (started, mut plan) = (Instant::now(), Some(plan));
        let what = move |progress: &Progress| {
            if let Some(plan) = plan.take() {
                count(plan, progress.clone());
            }
            let rate = progress.done() as f64 / 1e6 / started.elapsed().as_secs_f64();
            let documents = number::counted(progress.documents(), "document", "documents");
            format!("{documents}  {rate:.1} MB/s")
        };
        let watch = ProgressWatch::told(console, what, StepUnit::Told, progress);
        ReadingBar {
            started,
            watch: Some(watch),
        }
    }

    /// The time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Removes the bar.
    pub(crate) fn finish(&mut self) {
        self.watch = None;
    }
}

/// Counts the bytes of all files on a separate thread, which is never joined.
fn count(plan: impl FnOnce() -> Option<u64> + Send + 'static, progress: Progress) {
    let count = move || {
        if let Some(total) = plan() {
            progress.expect(total);
        }
    };
    // Without the thread, there is only no estimate of the remaining time.
    drop(thread::Builder::new().name("count".to_owned()).spawn(count));
}

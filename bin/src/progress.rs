//! The progress of a command that reads or writes documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dedupdb::upkeep;

use crate::console::Console;
use crate::number;
use crate::watch::{ProgressWatch, StepUnit};

/// The bytes and documents so far. A terminal shows them once the command takes a while.
#[derive(Debug)]
pub(crate) struct ReadProgress {
    started: Instant,
    /// Out of the bytes of all files, once they are counted.
    bytes: upkeep::Progress,
    documents: Arc<AtomicU64>,
    watch: Option<ProgressWatch>,
}

impl ReadProgress {
    /// Starts now. `plan` returns the bytes of all files, if it can, and may take its time.
    pub(crate) fn new(
        console: &Console,
        plan: impl FnOnce() -> Option<u64> + Send + 'static,
    ) -> ReadProgress {
        let (started, bytes) = (Instant::now(), upkeep::Progress::new());
        let documents = Arc::<AtomicU64>::default();
        let (met, mut plan) = (documents.clone(), Some(plan));
        let what = move |bytes: &upkeep::Progress| {
            if let Some(plan) = plan.take() {
                count(plan, bytes.clone());
            }
            let rate = bytes.done() as f64 / 1e6 / started.elapsed().as_secs_f64();
            let documents = met.load(Ordering::Relaxed);
            let documents = number::counted(documents, "document", "documents");
            format!("{documents}  {rate:.1} MB/s")
        };
        let watch = ProgressWatch::told(console, what, StepUnit::Told, &bytes);
        ReadProgress {
            started,
            bytes,
            documents,
            watch: Some(watch),
        }
    }

    /// The time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The number of bytes that are done.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.done()
    }

    /// Records the progress.
    pub(crate) fn reach(&self, documents: u64, bytes: u64) {
        self.documents.store(documents, Ordering::Relaxed);
        self.bytes.reach(bytes);
    }

    /// Removes the bar.
    pub(crate) fn finish(&mut self) {
        self.watch = None;
    }
}

/// Counts the bytes of all files on a separate thread, which is never joined.
fn count(plan: impl FnOnce() -> Option<u64> + Send + 'static, bytes: upkeep::Progress) {
    let count = move || {
        if let Some(total) = plan() {
            let done = bytes.done();
            bytes.begin(total);
            bytes.reach(done);
        }
    };
    // Without the thread, there is only no estimate of the remaining time.
    drop(thread::Builder::new().name("count".to_owned()).spawn(count));
}

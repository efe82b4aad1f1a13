//! The progress bar of a long add.

use std::fmt;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;
use crate::number;

/// What is done sooner needs no bar.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// Tells the bytes of all files.
struct Plan(Box<dyn FnOnce() -> Option<u64> + Send>);

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plan")
    }
}

/// Bytes and documents so far, shown on a terminal once it takes a while.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Tells the bytes of all files. None if nothing is to be shown.
    plan: Option<Plan>,
    started: Instant,
    is_shown: bool,
    documents: u64,
    bytes: u64,
    /// Bytes of all files; 0 while they are not yet counted.
    total: Arc<AtomicU64>,
}

impl Progress {
    /// Begins now. `plan` tells the bytes of all files, if it can, and may take its time.
    pub(crate) fn new(
        console: &Console,
        plan: impl FnOnce() -> Option<u64> + Send + 'static,
    ) -> Progress {
        let is_wanted = !console.is_quiet() && stderr().is_terminal();
        Progress {
            bar: console.bar().clone(),
            plan: is_wanted.then(|| Plan(Box::new(plan))),
            started: Instant::now(),
            is_shown: false,
            documents: 0,
            bytes: 0,
            total: Arc::default(),
        }
    }

    /// Time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Bytes of what was done.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes note of what was done.
    pub(crate) fn advance(&mut self, documents: u64, bytes: u64) {
        self.documents += documents;
        self.bytes += bytes;
        self.tick();
    }

    /// Takes note of how far it is.
    pub(crate) fn reach(&mut self, documents: u64, bytes: u64) {
        self.documents = documents;
        self.bytes = bytes;
        self.tick();
    }

    /// Draws the bar anew.
    pub(crate) fn tick(&mut self) {
        if !self.is_shown {
            if self.elapsed() < PATIENCE {
                return;
            }
            let Some(plan) = self.plan.take() else {
                return;
            };
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown = true;
            count(plan, self.total.clone());
        }
        let total = self.total.load(Ordering::Relaxed);
        if total > 0 && self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar
                .set_style(style("{bar:24} {percent:>3}%  {msg}  {eta} left"));
        } else if total == 0 {
            self.bar.set_style(style("{spinner} {msg}"));
        }
        let rate = self.bytes as f64 / 1e6 / self.elapsed().as_secs_f64();
        self.bar.set_position(self.bytes);
        self.bar.set_message(format!(
            "{}  {rate:.1} MB/s",
            number::counted(self.documents, "document", "documents")
        ));
        self.bar.tick();
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar's style, or the plain one.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Counts the bytes of all files, on a thread that nobody waits for.
fn count(plan: Plan, total: Arc<AtomicU64>) {
    let count = move || {
        let bytes = (plan.0)();
        total.store(bytes.unwrap_or(0), Ordering::Relaxed);
    };
    // Without the thread there is no estimate of the time left, and no harm done.
    drop(thread::Builder::new().name("count".to_owned()).spawn(count));
}

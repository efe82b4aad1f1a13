//! The progress bar of a long operation on the store.

use std::borrow::Cow;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dedupdb::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates.
const TICK: Duration = Duration::from_millis(100);

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepUnit {
    Document,
    Byte,
    /// The message says how fast the work goes.
    Told,
    /// Something without a meaning for people.
    Step,
}

impl StepUnit {
    /// The bar, with the speed and the remaining time.
    fn template(self) -> &'static str {
        match self {
            StepUnit::Document => "{bar:24} {percent:>3}%  {msg}  {per_sec}  {eta} left",
            StepUnit::Byte => "{bar:24} {percent:>3}%  {msg}  {decimal_bytes_per_sec}  {eta} left",
            StepUnit::Told => "{bar:24} {percent:>3}%  {msg}  {eta} left",
            StepUnit::Step => "{bar:24} {percent:>3}%  {msg}  {elapsed}  {eta} left",
        }
    }
}

/// Shows the progress of some work on a terminal, once it takes a while, until this is dropped.
#[derive(Debug)]
pub(crate) struct ProgressWatch {
    bar: ProgressBar,
    /// Dropped first, which ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressWatch {
    /// Starts to watch. `what` is the message.
    pub(crate) fn new(
        console: &Console,
        what: &'static str,
        unit: StepUnit,
        progress: &Progress,
    ) -> ProgressWatch {
        ProgressWatch::told(console, move |_| what, unit, progress)
    }

    /// Starts to watch work in several parts. `parts` has the message of each.
    pub(crate) fn of_parts<const N: usize>(
        console: &Console,
        parts: [&'static str; N],
        unit: StepUnit,
        progress: &Progress,
    ) -> ProgressWatch {
        let before = progress.begun();
        let what = move |progress: &Progress| part(&parts, progress.begun() - before);
        ProgressWatch::told(console, what, unit, progress)
    }

    /// Starts to watch. `what` returns the current message, and is first called when that is shown.
    pub(crate) fn told<W: Into<Cow<'static, str>>>(
        console: &Console,
        mut what: impl FnMut(&Progress) -> W + Send + 'static,
        unit: StepUnit,
        progress: &Progress,
    ) -> ProgressWatch {
        let bar = console.bar().clone();
        let (end, ended) = channel();
        let is_wanted = !console.is_quiet() && stderr().is_terminal();
        let (shown, progress) = (bar.clone(), progress.clone());
        let watch = move || {
            let mut wait = PATIENCE;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = TICK;
                show(&shown, what(&progress).into(), unit, &progress);
            }
        };
        // Without the thread, only the bar is missing.
        let thread = is_wanted.then(|| thread::Builder::new().spawn(watch).ok());
        ProgressWatch {
            bar,
            end: Some(end),
            thread: thread.flatten(),
        }
    }
}

impl Drop for ProgressWatch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The thread only draws.
            thread.join().unwrap_or_default();
            self.bar.finish_and_clear();
        }
    }
}

/// The message once `begun` parts have begun.
fn part(parts: &[&'static str], begun: u64) -> &'static str {
    let number = usize::try_from(begun.saturating_sub(1)).unwrap_or(usize::MAX);
    let part = parts.get(number).or(parts.last());
    part.copied().unwrap_or_default()
}

/// A bar's style, or the default one.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn show(bar: &ProgressBar, what: Cow<'static, str>, unit: StepUnit, progress: &Progress) {
    let total = progress.total();
    if total == 0 {
        bar.set_style(style("{spinner} {msg}  {elapsed}"));
    } else {
        bar.set_style(style(unit.template()));
        bar.set_length(total);
        bar.set_position(progress.done());
    }
    bar.set_message(what);
    // This comes last: otherwise the first bar to be seen would lack its style.
    if bar.is_hidden() {
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
    bar.tick();
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn each_part_has_its_name() {
        let parts = ["candidates", "join"];
        let shown = [0, 1, 2, 3].map(|begun| part(&parts, begun));
        assert_eq!(shown, ["candidates", "candidates", "join", "join"]);
    }
}

//! Works on each document of the inputs, and reports on it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use dedupdb::Progress;
use dedupdb_corpus::{
    EachEvent, EndReason, ForEach, ForEachSummary, Options, Origin, Reason, Skipped, SourcedText,
};

use crate::console::Console;
use crate::inputs::sources;
use crate::left_out::{LeftOutArgs, LeftOutReporter, NamingScope, advice};
use crate::progress::ReadingBar;
use crate::read_counts::ReadCountsText as _;
use crate::store;

/// What to work on, and how to report on it.
pub(crate) struct ForEachRun<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) options: Options,
    pub(crate) telling: &'a LeftOutArgs,
    pub(crate) named: NamingScope,
    /// What stops the work.
    pub(crate) progress: &'a Progress,
    /// Whether a text that cannot be worked on ends the work, and whether any other failure does.
    pub(crate) whole: Option<Strictness>,
    /// Whether to show a progress bar. Commands whose results show the progress need none.
    pub(crate) has_bar: bool,
}

/// Whether any failure ends the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    Strict,
    Lenient,
}

impl ForEachRun<'_> {
    /// Works on each document, several at a time, and passes the results to `take` in the order of the input.
    ///
    /// # Errors
    ///
    /// The errors of `work` and `take`, and those that end the work early.
    pub(crate) fn run<T: Send>(
        self,
        console: &Console,
        work: impl Fn(&SourcedText) -> dedupdb::Result<T> + Sync,
        take: impl FnMut(Origin, T) -> Result<()>,
    ) -> Result<ForEachSummary> {
        self.telling.check(self.paths, &[])?;
        let left_out = LeftOutReporter::begin(console, self.telling, self.named)?;
        self.run_after(left_out, console, work, take)
    }

    /// Like [`ForEachRun::run`], with a reporter that knows what was left out before.
    pub(crate) fn run_after<T: Send>(
        self,
        mut left_out: LeftOutReporter,
        console: &Console,
        work: impl Fn(&SourcedText) -> dedupdb::Result<T> + Sync,
        mut take: impl FnMut(Origin, T) -> Result<()>,
    ) -> Result<ForEachSummary> {
        let (plan, paths) = (self.options.clone(), self.paths.to_vec());
        let plan = move || plan.disk_bytes(sources(&paths, None));
        let progress = self.progress.part();
        let bar = self
            .has_bar
            .then(|| ReadingBar::new(console, plan, &progress));
        let mut failed = None;
        let each = ForEach::new(sources(self.paths, None))
            .reading(self.options)
            .progress(&progress);
        let worked = each.run(work, |event| {
            let told = match event {
                EachEvent::Document(origin, result) => take(origin, result),
                EachEvent::Skipped(skipped) => {
                    check(skipped, self.whole).and_then(|()| left_out.tell(skipped))
                }
                _ => Ok(()),
            };
            progress.stop_on(told, &mut failed);
        });
        drop(bar);
        if let Some(error) = failed {
            return Err(error);
        }
        let worked = worked.map_err(store::of_corpus)?;
        if worked.ended != EndReason::Stopped {
            left_out.finish()?;
        }
        if let Some(note) = worked.reading.unsplit_note() {
            console.note(&note);
        }
        Ok(worked)
    }
}

/// Returns an error if the work cannot continue without what was skipped.
fn check(skipped: &Skipped, whole: Option<Strictness>) -> Result<()> {
    let Some(strictness) = whole else {
        return Ok(());
    };
    let is_strict = strictness == Strictness::Strict && skipped.is_failure();
    if is_strict || skipped.reason == Reason::BadText {
        bail!("{}", skipped.told(advice));
    }
    Ok(())
}

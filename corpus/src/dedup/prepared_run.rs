//! A run, from its start to the published output.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::thread;

use crate::dedup::against::{check_apart, compared};
use crate::dedup::attachments::Attachments;
use crate::dedup::contained;
use crate::dedup::dedup_run::DedupRun;
use crate::dedup::dropped_list::DroppedListWriter;
use crate::dedup::error::{Error, Result};
use crate::dedup::event::{DedupEvent, Observer};
use crate::dedup::fit_check::FitCheck;
use crate::dedup::judge::{DedupJudge, JudgeReporter};
use crate::dedup::lineage::Lineage;
use crate::dedup::order;
use crate::dedup::outputs::Outputs;
use crate::dedup::protection::Protection;
use crate::dedup::settings::{Dedup, Destination, Keep};
use crate::dedup::sink::{DeferredList, OutputSink};
use crate::dedup::summary::DedupSummary;
use crate::dedup::surviving_copy::RecordFiles;
use crate::dedup::target::OutputTarget;
use crate::dedup::units;
use crate::expanded;
use crate::temporary::fleeting;
use dedupdb::write::{IdScope, Uncommitted};
use dedupdb::{Store, Writer};

/// A run that has reserved the places of its outputs. If it is dropped, nothing is written.
#[must_use = "nothing is done before it is run"]
pub struct PreparedRun {
    dedup: Dedup,
    target: OutputTarget,
    outputs: Outputs,
}

impl fmt::Debug for PreparedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedRun")
            .field("dedup", &self.dedup)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Creates the store of a run that was given none.
fn temporary(dedup: &Dedup, outputs: &Outputs) -> Result<Store> {
    let folder = outputs.work().path("store");
    Ok(fleeting(&dedup.store_options, folder, &dedup.schema)?)
}

impl Dedup {
    /// Reserves the places of the outputs, so that no other process writes there.
    ///
    /// # Errors
    ///
    /// [`Error::Containment`] for settings that do not go together; [`Error::NotFound`] or [`Error::OwnCounterpart`] for
    /// an input; [`Error::Output`] if an output would be over, in or around an input, a store or another output, would
    /// replace something that must not be replaced, or is being written by another process.
    pub fn begin(mut self) -> Result<PreparedRun, Error> {
        contained::check(&self)?;
        units::check(&self)?;
        order::check(&self)?;
        self.sources = expanded(self.sources);
        check_apart(&mut self)?;
        let target = OutputTarget::of(&self)?;
        let outputs = Outputs::begin(&self, &target)?;
        Ok(PreparedRun {
            dedup: self,
            target,
            outputs,
        })
    }

    /// Reads, judges and writes the documents. The observer receives each event.
    ///
    /// # Errors
    ///
    /// Those of [`Dedup::begin`] and [`PreparedRun::run`].
    pub fn run(self, observe: impl FnMut(DedupEvent<'_>)) -> Result<DedupSummary, Error> {
        self.begin()?.run(observe)
    }
}

impl PreparedRun {
    /// Also compares with the documents of a store, as [`Dedup::store`] does.
    pub fn store(self, store: &Store) -> PreparedRun {
        PreparedRun {
            dedup: self.dedup.store(store),
            ..self
        }
    }

    /// Reads, judges and writes the documents. The observer receives each event.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`]; [`Error::FirstFailure`] if the corpus is read strictly; [`Error::Unfit`] if the input does
    /// not fit into the output; errors of the store and of the system. If the output is published but the run cannot be
    /// closed in the store, the output stays, and the next run ignores the documents of this one.
    pub fn run(self, mut observe: impl FnMut(DedupEvent<'_>)) -> Result<DedupSummary, Error> {
        let progress = self.dedup.progress.clone();
        self.run_observed(Observer::new(&mut observe, &progress))
    }

    fn run_observed(self, observer: Observer<'_>) -> Result<DedupSummary> {
        let PreparedRun {
            mut dedup,
            target,
            outputs,
        } = self;
        contained::check(&dedup)?;
        let (options, _ending) = std::mem::take(&mut dedup.options).begin();
        dedup.options = options;
        let given = dedup.store.take();
        let store_stays = given.is_some();
        let store = match given {
            Some(store) => store,
            None => temporary(&dedup, &outputs)?,
        };
        let store = store.watched(&dedup.progress.part());
        let cut_short = store.searches_cut_short();
        let to = std::mem::replace(&mut dedup.to, Destination::Nowhere);
        let inputs = dedup.sources.iter().map(|source| source.name().to_owned());
        let inputs: Vec<PathBuf> = inputs.collect();
        let removed = outputs.removed().zip(dedup.removed.as_deref());
        // The list of passages has other columns.
        let removed = removed.filter(|_| dedup.passage.is_none());
        let removed = removed
            .map(|(partial, name)| DroppedListWriter::begin(partial, name, dedup.removed_is_json))
            .transpose()?;
        let mut judge = judge(&dedup, &target, store.writer()?, removed, observer);
        judge.protect(&dedup, &inputs)?;
        let sources = std::mem::take(&mut dedup.sources);
        let against = dedup.against.take();
        let against = against.map(|it| compared(it, &dedup, &outputs, &mut judge));
        let against = against.transpose()?;
        // Documents of an interrupted run are forgotten before any of this one is judged.
        begin_run(&mut judge)?;
        let run = DedupRun {
            dedup: &dedup,
            target: &target,
            outputs: &outputs,
            store: &store,
            store_stays,
            inputs: &inputs,
        };
        let batches = run.read(sources)?;
        // If the first ones are kept, documents are judged and written as they come. Otherwise all are read first.
        let sink = match (dedup.kept(), &against) {
            (_, Some(against)) => run.against(&mut judge, &batches, against, to)?,
            (Keep::First | Keep::Few(_), None)
                if !judge.protection.is_some() && dedup.keep_by.is_empty() =>
            {
                run.in_order(&mut judge, batches, to)?
            }
            _ => run.by_rank(&mut judge, &batches, to)?,
        };
        let DedupJudge {
            writer,
            removed,
            reporter: mut met,
            ..
        } = judge;
        let mut cut_short = store.searches_cut_short() - cut_short;
        if let Some((against, before)) = against {
            // Nothing of the input is stored.
            met.known = 0;
            cut_short += against.searches_cut_short() - before;
        }
        // A temporary store is dropped while the outputs become durable. A store that stays is closed last.
        let (stays, goes) = if store_stays {
            (Some((writer, store)), None)
        } else {
            (None, Some((writer, store)))
        };
        finish(sink, removed, &mut met, goes)?;
        let is_empty = has_nothing_new(&met, store_stays);
        publish(&outputs, &mut met, is_empty, stays)?;
        Ok(met.summary.summed(cut_short))
    }
}

/// Finishes the outputs durably, and writes a list to its stream once all is certain. Meanwhile, drops a store that is no
/// longer needed.
fn finish(
    sink: OutputSink,
    removed: Option<DroppedListWriter>,
    reporter: &mut JudgeReporter<'_>,
    store: Option<(Writer, Store)>,
) -> Result<()> {
    reporter.summary.reading.grew(sink.grown());
    reporter.summary.unmarked += sink.unmarked();
    let list = thread::scope(|scope| {
        if let Some(store) = store {
            let thread = thread::Builder::new().name("ending".to_owned());
            // If no thread starts, the store is dropped at once.
            drop(thread.spawn_scoped(scope, || drop(store)));
        }
        sink.finish(&mut || reporter.observer.go_on())
    })?;
    if let Some(removed) = removed {
        removed.finish(&mut || reporter.observer.go_on())?;
    }
    list.map_or(Ok(()), DeferredList::write)
}

/// Begins a run of the store, and reports how many documents of an interrupted run are removed.
fn begin_run(judge: &mut DedupJudge<'_>) -> Result<()> {
    match judge.writer.begin_run()? {
        0 => Ok(()),
        documents => judge
            .reporter
            .observer
            .tell(DedupEvent::Forgotten { documents }),
    }
}

/// Whether the output has no new document. What the store had before is kept again if it has no words or is protected, also
/// when a run is repeated that was killed after its output was complete.
fn has_nothing_new(reporter: &JudgeReporter<'_>, store_stays: bool) -> bool {
    let known = if store_stays { reporter.known } else { 0 };
    reporter.summary.kept <= known
}

/// Publishes the output. One that `is_empty`, without new documents, is not published if it would replace content, or if
/// no document could be read.
pub(crate) fn publish(
    outputs: &Outputs,
    reporter: &mut JudgeReporter<'_>,
    is_empty: bool,
    store: Option<(Writer, Store)>,
) -> Result<()> {
    reporter.observer.tell(DedupEvent::Publishing)?;
    let done = &mut reporter.summary;
    done.is_written = !is_empty || !done.read_nothing() && !outputs.replaces_content();
    if done.is_written {
        // A run that was killed may have written these documents, and closed itself in the store.
        let lacks = store.is_some() && done.of_itself > 0;
        done.aside = outputs.publish(lacks)?;
    } else {
        outputs.leave();
    }
    // As late as possible: if a run ends before this, it outputs its documents again when it is repeated.
    if let Some((mut writer, store)) = store {
        writer.publish_run()?;
        drop(writer);
        // This step alone may be stopped.
        store.pack_if_loose()?;
    }
    Ok(())
}

/// Returns the judge for a run.
fn judge<'a>(
    dedup: &Dedup,
    target: &OutputTarget,
    mut writer: Writer,
    removed: Option<DroppedListWriter>,
    observer: Observer<'a>,
) -> DedupJudge<'a> {
    if dedup.options.id_scope != IdScope::Unset {
        writer.set_id_scope(dedup.options.id_scope);
    }
    DedupJudge {
        writer,
        uncommitted: Uncommitted::new(dedup.memory),
        removed,
        lineage: dedup.lineage.then(Lineage::default),
        counterparts: None,
        moved_from: dedup.moved_from.clone(),
        record_files: RecordFiles::new(&dedup.options),
        beside: match dedup.kept() {
            Keep::Few(few) => few.get() - 1,
            _ => 0,
        },
        besides: HashMap::new(),
        attachments: Attachments::default(),
        is_marking: dedup.mark.is_some(),
        protection: Protection::default(),
        is_protecting: false,
        is_settled: false,
        reporter: JudgeReporter {
            summary: DedupSummary::default(),
            known: 0,
            observer,
            fit: FitCheck::new(dedup, target),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use super::*;
    use dedupdb::{Options, Schema};

    /// More than a store takes before it is packed: see `Store::pack_if_loose`.
    const TEXTS: u64 = 66_000;

    #[test]
    fn a_store_that_much_came_into_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = String::new();
        for number in 0..TEXTS {
            writeln!(lines, "{{\"id\": \"{number}\", \"text\": \"w{number}\"}}").unwrap();
        }
        let input = folder.path().join("in.jsonl");
        fs::write(&input, lines).unwrap();
        let options = Options::new().threads(2);
        let store = options.create(folder.path().join("store"), &Schema::default());
        let store = store.unwrap();
        let dedup = Dedup::new([&input]).output(folder.path().join("out.jsonl"));
        let done = dedup.store(&store).run(|_| {});
        assert_eq!(done.unwrap().kept, TEXTS);
        assert!(!store.pack_if_loose().unwrap());
        assert!(!store.stats().unwrap().has_open_run);
    }
}

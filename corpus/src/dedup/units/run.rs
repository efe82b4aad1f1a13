//! A run that judges units.

use super::UnitRule;
use super::judge::UnitJudge;
use super::split::{SplitDocument, UnitBatch};
use crate::dedup::dedup_run::keep_unread;
use crate::dedup::error::Result;
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::sink::OutputSink;
use crate::dedup::summary::UnitCounts;
use crate::read::batches::send_batches;
use crate::{Item, count_items};
use dedupdb::Store;
use dedupdb::write::Outcome;

/// The number of batches of units that may wait.
const WAITING: usize = 4;

/// Judges the units of one document after another, and writes what is left of the documents.
///
/// # Errors
///
/// Those of reading, of the store, of the observer and of the output.
pub(in crate::dedup) fn by_unit(
    judge: &mut DedupJudge<'_>,
    batches: BatchReceiver,
    (rule, store): (UnitRule, &Store),
    sink: &mut OutputSink,
) -> Result<()> {
    judge.reporter.fit.changes_texts = true;
    // The thread holds the store only while it works, because it may outlive the run.
    let weak = store.weak();
    let split = send_batches("splitting", WAITING, move |sender| {
        for batch in batches {
            let Some(store) = weak() else {
                return;
            };
            let split = batch.and_then(|batch| Ok(UnitBatch::all_of(batch, rule, &store)?));
            drop(store);
            let sent = match split {
                Ok(split) => split
                    .into_iter()
                    .try_for_each(|batch| sender.send(Ok(batch))),
                Err(error) => sender.send(Err(error)),
            };
            if sent.is_err() {
                return;
            }
        }
    })?;
    let mut counts = UnitCounts::default();
    let mut documents = 0;
    judge.for_each_batch(&split, |judge, batch: UnitBatch| {
        for item in &batch.items {
            judge.reporter.item(item)?;
        }
        let items = count_items(&batch.items);
        let outcomes = judge.writer.admit_batch(batch.sketches)?;
        let run = UnitRun {
            judge,
            counts: &mut counts,
            documents: &mut documents,
            sink,
        };
        run.write(&batch.items, UnitJudge::new(rule, outcomes))?;
        judge.reporter.observer.advance(items, batch.bytes)
    })?;
    let summary = &mut judge.reporter.summary;
    // What the judge counted are units.
    counts.kept = summary.kept;
    summary.kept = documents;
    // Without a new unit, it is what an earlier run has written, like a run without a new document.
    let has_nothing_new = counts.kept == 0 && summary.of_history.all() > 0;
    summary.units = Some(counts);
    judge.reporter.known = if has_nothing_new { documents } else { 0 };
    Ok(())
}

/// The judgement of a batch.
struct UnitRun<'r, 'a> {
    judge: &'r mut DedupJudge<'a>,
    counts: &'r mut UnitCounts,
    /// The number of documents that are kept.
    documents: &'r mut u64,
    sink: &'r mut OutputSink,
}

impl UnitRun<'_, '_> {
    /// Writes documents without the units that these outcomes keep out.
    fn write(mut self, items: &[Item<SplitDocument>], mut units: UnitJudge) -> Result<()> {
        for (number, item) in items.iter().enumerate() {
            match item {
                Item::Opened(opened) => self.sink.open(opened)?,
                Item::Skipped(skipped) => keep_unread(self.sink, skipped)?,
                Item::Unchanged(_) => {}
                Item::Document(document) => {
                    let behind = items[number + 1..].iter().filter_map(Item::document);
                    match units.next(&mut self.judge.writer, document, behind)? {
                        Ok(judged) => {
                            self.note(document, judged.outcomes, judged.is_dropped)?;
                            self.keep(document, judged.text.as_deref(), judged.is_dropped)?;
                        }
                        Err(error) => {
                            let refused = document.as_ref().refused(&error);
                            self.judge.reporter.skip(&refused)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a document, or what is left of it.
    fn keep(
        &mut self,
        document: &SplitDocument,
        text: Option<&str>,
        is_dropped: bool,
    ) -> Result<()> {
        let origin = document.as_ref();
        let counts = &mut *self.counts;
        let short = (document.units.len() - document.judged.len()) as u64;
        if !is_dropped {
            counts.short += short;
            *self.documents += 1;
            counts.changed += u64::from(text.is_some());
            return self.sink.keep(origin, None, text);
        }
        counts.lost += short;
        counts.dropped += 1;
        match origin.record {
            Some(_) => self.sink.pass(),
            None => Ok(()),
        }
    }

    /// Counts and reports the units of a document. If it `is_dropped`, those that were no copies are lost with it.
    fn note(
        &mut self,
        document: &SplitDocument,
        outcomes: Vec<Outcome>,
        is_dropped: bool,
    ) -> Result<()> {
        let store = self.judge.writer.store().clone();
        for (&unit, outcome) in document.judged.iter().zip(outcomes) {
            if is_dropped && outcome.duplicate_of().is_none() {
                self.counts.lost += 1;
                if let Some(lineage) = &mut self.judge.lineage {
                    let origin = document.origin(unit);
                    lineage.keep(&origin.key, &origin);
                }
                continue;
            }
            self.judge
                .note(document.origin(unit), Ok(outcome), false, &store, None)?;
        }
        Ok(())
    }
}

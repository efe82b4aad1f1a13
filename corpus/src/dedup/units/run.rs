//! A run that judges units.

use std::collections::VecDeque;

use super::UnitRule;
use super::split::{SplitDocument, UnitBatch};
use crate::dedup::dedup_run::keep_unread;
use crate::dedup::error::Result;
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::sink::OutputSink;
use crate::dedup::summary::UnitCounts;
use crate::read::batches::send_batches;
use crate::{Item, count_items};
use dedupdb::write::{Change, Outcome};
use dedupdb::{Input, Store};

/// The number of batches of units that may wait.
const WAITING: usize = 4;

type UnitOutcome = dedupdb::Result<Outcome>;

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
            rule,
            judge,
            counts: &mut counts,
            documents: &mut documents,
            sink,
        };
        run.write(&batch.items, outcomes)?;
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
    rule: UnitRule,
    judge: &'r mut DedupJudge<'a>,
    counts: &'r mut UnitCounts,
    /// The number of documents that are kept.
    documents: &'r mut u64,
    sink: &'r mut OutputSink,
}

impl UnitRun<'_, '_> {
    /// Writes documents without the units that these outcomes keep out.
    fn write(mut self, items: &[Item<SplitDocument>], outcomes: Vec<UnitOutcome>) -> Result<()> {
        let mut outcomes = VecDeque::from(outcomes);
        for (number, item) in items.iter().enumerate() {
            match item {
                Item::Opened(opened) => self.sink.open(opened)?,
                Item::Skipped(skipped) => keep_unread(self.sink, skipped)?,
                Item::Unchanged(_) => {}
                Item::Document(document) => {
                    let mut own = outcomes.range(..document.judged.len());
                    if let Some(error) = own.find_map(|outcome| outcome.as_ref().err()) {
                        let refused = document.as_ref().refused(error);
                        self.judge.reporter.skip(&refused)?;
                        self.forget(document, &items[number..], &mut outcomes)?;
                        outcomes.drain(..document.judged.len());
                        continue;
                    }
                    let cut = cut(document, &outcomes);
                    let text = (!cut.is_empty()).then(|| document.without(&cut));
                    let is_dropped = text.as_ref().is_some_and(|text| {
                        document.share(&cut) > self.rule.most_lost
                            || !text.contains(char::is_alphanumeric)
                    });
                    if is_dropped {
                        self.forget(document, &items[number..], &mut outcomes)?;
                    }
                    let outcomes = outcomes.drain(..document.judged.len());
                    self.note(document, outcomes, is_dropped)?;
                    self.keep(document, text.as_deref(), is_dropped)?;
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
        outcomes: impl Iterator<Item = UnitOutcome>,
        is_dropped: bool,
    ) -> Result<()> {
        let store = self.judge.writer.store().clone();
        for (&unit, outcome) in document.judged.iter().zip(outcomes) {
            if is_dropped
                && outcome
                    .as_ref()
                    .is_ok_and(|outcome| outcome.duplicate_of().is_none())
            {
                self.counts.lost += 1;
                if let Some(lineage) = &mut self.judge.lineage {
                    let origin = document.origin(unit);
                    lineage.keep(&origin.key, &origin);
                }
                continue;
            }
            self.judge
                .note(document.origin(unit), outcome, false, &store, None)?;
        }
        Ok(())
    }

    /// Removes from the store what it took of a document that is not kept. If units behind it were kept out as copies of these,
    /// all behind it are judged again, so that the first copy stays. The `items` begin with the document, and so do the
    /// outcomes.
    fn forget(
        &mut self,
        document: &SplitDocument,
        items: &[Item<SplitDocument>],
        outcomes: &mut VecDeque<UnitOutcome>,
    ) -> Result<()> {
        let own = document.judged.iter().map(|&unit| (document, unit));
        let gone = self.remove(own.zip(&*outcomes))?;
        let is_of_gone = |outcome: &UnitOutcome| {
            let earlier = outcome.as_ref().ok().and_then(Outcome::duplicate_of);
            earlier.is_some_and(|earlier| gone.contains(&earlier.key))
        };
        let behind = document.judged.len()..;
        if gone.is_empty() || !outcomes.range(behind.clone()).any(is_of_gone) {
            return Ok(());
        }
        let documents = items.iter().filter_map(Item::document).skip(1);
        let units = documents.flat_map(|it| it.judged.iter().map(move |&unit| (it, unit)));
        self.remove(units.clone().zip(outcomes.range(behind.clone())))?;
        let inputs: Vec<Input> = units.map(|(document, unit)| document.input(unit)).collect();
        let sketches = self.judge.writer.store().sketch_all(inputs);
        let judged = self.judge.writer.admit_batch(sketches)?;
        outcomes.truncate(behind.start);
        outcomes.extend(judged);
        Ok(())
    }

    /// Removes from the store the units that it took by these outcomes, and returns their keys.
    fn remove<'u>(
        &mut self,
        units: impl Iterator<Item = ((&'u SplitDocument, usize), &'u UnitOutcome)>,
    ) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for ((document, unit), outcome) in units {
            if let Ok(outcome) = outcome
                && outcome.change == Change::Added
            {
                let second = outcome.second_key.clone();
                let key = second.unwrap_or_else(|| document.key(unit));
                self.judge.writer.remove(&key)?;
                keys.push(key);
            }
        }
        Ok(keys)
    }
}

/// Returns the units of a document that are kept out, by outcomes that begin with its own.
fn cut(document: &SplitDocument, outcomes: &VecDeque<UnitOutcome>) -> Vec<usize> {
    let judged = document.judged.iter().zip(outcomes);
    let is_copy = |outcome: &UnitOutcome| {
        outcome
            .as_ref()
            .is_ok_and(|outcome| outcome.duplicate_of().is_some())
    };
    let cut = judged.filter(|(_, outcome)| is_copy(outcome));
    cut.map(|(&unit, _)| unit).collect()
}

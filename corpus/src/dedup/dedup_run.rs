//! Reads, judges and writes documents, in the order of the input or by rank.

use std::path::PathBuf;
use std::sync::Arc;

use crate::dedup::by_rank::{ranked, spool_all};
use crate::dedup::duplicate_groups::DuplicateGroups;
use crate::dedup::error::{Error, Result};
use crate::dedup::judge::{BatchReceiver, DedupJudge, JudgedItem};
use crate::dedup::order::Ranking;
use crate::dedup::outputs::Outputs;
use crate::dedup::settings::{Dedup, Destination, Keep};
use crate::dedup::sink::OutputSink;
use crate::dedup::spool::{Spool, SpooledRecords};
use crate::dedup::target::OutputTarget;
use crate::dedup::verdicts::Verdicts;
use crate::{Item, Repeats, Skipped, Source, sketch_ahead};
use dedupdb::Store;
use dedupdb::write::IdScope;

/// The number of records to write between two calls of the observer.
const WRITTEN: usize = 256;

/// The parts of a run.
pub(super) struct DedupRun<'a> {
    pub(super) dedup: &'a Dedup,
    pub(super) target: &'a OutputTarget,
    pub(super) outputs: &'a Outputs,
    pub(super) store: &'a Store,
    /// Whether the store remains after the run.
    pub(super) store_stays: bool,
    /// The paths of the inputs, and the names of streams.
    pub(super) inputs: &'a [PathBuf],
}

impl DedupRun<'_> {
    /// Reads, judges and writes one document after another.
    pub(super) fn in_order(
        &self,
        judge: &mut DedupJudge<'_>,
        batches: BatchReceiver,
        to: Destination,
    ) -> Result<OutputSink> {
        let mut sink = self.sink(to)?;
        let sketched = sketch_ahead(batches, self.store)?;
        judge.judge_all(&sketched, false, &mut |judged| taken(&mut sink, &judged))?;
        self.check_failures(judge)?;
        if self.store_stays {
            judge.commit()?;
        }
        Ok(sink)
    }

    /// Reads one document after another, compares it only with the given store, and writes it.
    pub(super) fn against(
        &self,
        judge: &mut DedupJudge<'_>,
        batches: &BatchReceiver,
        (against, _): &(Store, u64),
        to: Destination,
    ) -> Result<OutputSink> {
        let mut sink = self.sink(to)?;
        judge.judge_against(batches, against, &mut |judged| taken(&mut sink, &judged))?;
        judge.check_protection()?;
        self.check_failures(judge)?;
        Ok(sink)
    }

    /// Reads all documents, judges them by rank, and writes them in the order of the input.
    pub(super) fn by_rank(
        &self,
        judge: &mut DedupJudge<'_>,
        batches: &BatchReceiver,
        to: Destination,
    ) -> Result<OutputSink> {
        let mut spool = Spool::new(self.outputs.work(), self.dedup.temporary_limit)?;
        let mut ranking = Ranking::new(self.dedup.kept());
        spool_all(judge, batches, &mut spool, &mut ranking)?;
        self.check_failures(judge)?;
        let (mut texts, records) = spool.finish()?;
        judge.check_protection()?;
        let orders = ranking.sorted().map(Arc::new);
        let documents = orders.iter().map(|order| order.len()).sum();
        let mut fates = Verdicts::new(documents, judge.is_marking);
        let mut groups = (self.dedup.kept() == Keep::None).then(DuplicateGroups::default);
        for (order, is_protected) in orders.into_iter().zip([true, false]) {
            if order.is_empty() {
                continue;
            }
            let sketched = sketch_ahead(ranked(texts.again()?, order.clone())?, self.store)?;
            let mut ranks = order.iter();
            judge.is_protecting = is_protected;
            judge.judge_all(&sketched, true, &mut |judged| {
                if let (Some(rank), Item::Document((_, verdict))) = (ranks.next(), judged) {
                    if let Some(groups) = groups.as_mut().filter(|_| !is_protected) {
                        groups.push(*rank, verdict.stored);
                    }
                    fates.set(rank.ordinal, verdict);
                }
                Ok(())
            })?;
        }
        if self.store_stays || groups.is_some() {
            judge.commit()?;
        }
        if let Some(groups) = groups {
            let drop_one = |ordinal| fates.drop_one(ordinal);
            groups.drop_firsts(judge, self.store, &mut texts, drop_one)?;
        }
        self.write(judge, records, &fates, to)
    }

    /// Writes the kept records of a spool.
    fn write(
        &self,
        judge: &mut DedupJudge<'_>,
        records: SpooledRecords,
        verdicts: &Verdicts,
        to: Destination,
    ) -> Result<OutputSink> {
        let mut sink = self.sink(to)?;
        let mut ordinals = 0..;
        let folder = self.outputs.work().folder();
        for (number, spooled) in records.enumerate() {
            if number.is_multiple_of(WRITTEN) {
                judge.reporter.observer.tick()?;
            }
            match spooled.map_err(|error| Error::temporary(folder, error))? {
                Item::Opened(opened) => sink.open(&opened),
                Item::Document(origin) => {
                    let verdict = verdicts.of(ordinals.next().unwrap_or(usize::MAX));
                    match (verdict, origin.record) {
                        ((_, mark @ Some(_)), _) => sink.keep(&origin, mark),
                        ((true, None), _) => sink.keep(&origin, None),
                        // The store refused it.
                        ((false, None), Some(nth)) if judge.is_marking => {
                            sink.keep_unread(&origin.verbatim, nth)
                        }
                        ((false, None), Some(_)) => sink.pass(),
                        ((false, None), None) => Ok(()),
                    }
                }
                Item::Skipped(skipped) => keep_unread(&mut sink, &skipped),
                Item::Unchanged(_) => Ok(()),
            }?;
        }
        Ok(sink)
    }

    pub(super) fn read(&self, sources: Vec<Source>) -> Result<BatchReceiver> {
        let mut options = self.dedup.options.clone();
        if options.id_scope == IdScope::Unset {
            options = options.id_scope(self.store.id_scope());
        }
        // In one output, no later text of an id replaces an earlier one, so it is repeated.
        if options.id_scope == IdScope::All {
            options = options.id_scope(IdScope::Unset);
        }
        let options = options.verbatim(true).repeats(Repeats::Tell);
        let options = options.tables_apart(self.target.is_of_tables);
        let options = options.memory(self.dedup.memory);
        let options = options.store(self.store.absolute_folder());
        Ok(options.batches(sources)?)
    }

    fn sink(&self, to: Destination) -> Result<OutputSink> {
        let path = self.outputs.work().output();
        let mark = self.dedup.mark.as_ref();
        OutputSink::new(self.target, to, &path, self.inputs, mark)
    }

    /// Fails if the run is strict and had a failure.
    fn check_failures(&self, judge: &DedupJudge<'_>) -> Result<()> {
        if self.dedup.options.strict && judge.reporter.summary.reading.has_failures() {
            return Err(Error::FirstFailure);
        }
        Ok(())
    }
}

/// Writes the output of one document or file.
fn taken(sink: &mut OutputSink, judged: &JudgedItem) -> Result<()> {
    match judged {
        Item::Opened(opened) => sink.open(opened),
        Item::Document((origin, verdict)) if verdict.is_kept || verdict.mark.is_some() => {
            sink.keep(origin, verdict.mark.as_ref())
        }
        Item::Document((origin, _)) if origin.record.is_some() => sink.pass(),
        Item::Skipped(skipped) => keep_unread(sink, skipped),
        Item::Document(_) | Item::Unchanged(_) => Ok(()),
    }
}

/// Writes a record that is not a document, if it is complete.
fn keep_unread(sink: &mut OutputSink, skipped: &Skipped) -> Result<()> {
    let unread = skipped.record.as_ref();
    unread.map_or(Ok(()), |unread| {
        sink.keep_unread(&unread.verbatim, unread.nth)
    })
}

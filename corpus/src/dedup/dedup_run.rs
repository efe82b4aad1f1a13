//! Reads, judges and writes documents, in the order of the input or by rank.

use std::path::PathBuf;
use std::sync::Arc;

use crate::dedup::by_rank::{ranked, spool_all};
use crate::dedup::contained::{self, ContainmentSearch};
use crate::dedup::duplicate_groups::DuplicateGroups;
use crate::dedup::error::{Error, Result};
use crate::dedup::judge::{BatchReceiver, DedupJudge, DocumentVerdict, JudgedItem};
use crate::dedup::order::{DocumentRank, Ranking};
use crate::dedup::outputs::Outputs;
use crate::dedup::passages::by_passage;
use crate::dedup::settings::{Dedup, Destination, Keep};
use crate::dedup::sink::OutputSink;
use crate::dedup::spool::{Spool, SpooledRecords, SpooledTexts};
use crate::dedup::target::OutputTarget;
use crate::dedup::units::by_unit;
use crate::dedup::verdicts::Verdicts;
use crate::{Item, Repeats, ShingleCounter, Skipped, Source, short_hash, sketch_ahead};
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
    /// Reads, judges and writes one document after another, as a whole or by its units, or cuts its passages.
    pub(super) fn in_order(
        &self,
        judge: &mut DedupJudge<'_>,
        batches: BatchReceiver,
        to: Destination,
    ) -> Result<OutputSink> {
        let mut sink = self.sink(to)?;
        let dedup = self.dedup;
        if let Some(words) = dedup.passage {
            by_passage(judge, batches, (dedup, words), self.outputs, &mut sink)?;
        } else if dedup.units.unit.is_some() {
            by_unit(judge, batches, (dedup.units, self.store), &mut sink)?;
        } else {
            let sketched = sketch_ahead(batches, self.store)?;
            judge.judge_all(&sketched, false, &mut |judged| taken(&mut sink, &judged))?;
        }
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
        // All documents go to disk, each with a rank. None is judged before all ranks are known.
        let mut spool = Spool::new(self.outputs.work(), self.dedup.temporary_limit)?;
        let counter = ShingleCounter::of(&self.store.schema())?;
        let mut ranking = Ranking::new(self.dedup, self.target.is_of_tables, counter);
        spool_all(judge, batches, &mut spool, &mut ranking)?;
        self.check_failures(judge)?;
        judge.reporter.summary.without_field = ranking.without_field()?;
        let (mut texts, records) = spool.finish()?;
        judge.check_protection()?;
        let orders = ranking.sorted();
        if let Some(least) = self.dedup.containment.least {
            let fates = self.by_containment(judge, least, orders.concat(), &mut texts)?;
            return self.write(judge, records, &fates, to);
        }
        let orders = orders.map(Arc::new);
        let documents = orders.iter().map(|order| order.len()).sum();
        let mut fates = Verdicts::new(documents, judge.is_marking);
        let mut groups = (self.dedup.kept() == Keep::None).then(DuplicateGroups::default);
        // Protected documents first, so that the others are compared with them.
        for (order, is_protected) in orders.into_iter().zip([true, false]) {
            if order.is_empty() {
                continue;
            }
            let sketched = sketch_ahead(ranked(texts.again()?, order.clone())?, self.store)?;
            let mut ranks = order.iter();
            judge.is_protecting = is_protected;
            judge.judge_all(&sketched, true, &mut |judged| {
                if let (Some(rank), Item::Document((_, verdict))) = (ranks.next(), judged) {
                    // What is kept for its attachments is no copy of another one.
                    let is_of_group = verdict.stored.is_some() || !verdict.is_kept;
                    let groups = groups.as_mut().filter(|_| !is_protected && is_of_group);
                    if let Some(groups) = groups {
                        groups.push(*rank, verdict.stored.as_deref().map(short_hash));
                    }
                    fates.set(rank.ordinal, verdict);
                }
                Ok(())
            })?;
        }
        // Which documents resemble others is asked of the store, so everything must be committed.
        if self.store_stays || groups.is_some() {
            judge.commit()?;
        }
        if let Some(groups) = groups {
            let drop_one = |ordinal| fates.drop_one(ordinal);
            groups.drop_firsts(judge, self.store, &mut texts, drop_one)?;
        }
        self.write(judge, records, &fates, to)
    }

    /// Judges documents in this order by containment and similarity. First, it is found which of them represent others;
    /// then the store takes these, and judges those that are too short by similarity.
    fn by_containment(
        &self,
        judge: &mut DedupJudge<'_>,
        least: f64,
        ranks: Vec<DocumentRank>,
        texts: &mut SpooledTexts,
    ) -> Result<Verdicts> {
        let dedup = self.dedup;
        let folder = self.outputs.work().path("contained");
        let options = &dedup.store_options;
        // All texts go into a temporary store, in which containment is found.
        let mut search = ContainmentSearch::begin(options, &dedup.schema, &folder, dedup.memory)?;
        let ranks = Arc::new(ranks);
        judge.for_each_batch(&ranked(texts.again()?, ranks.clone())?, |judge, batch| {
            let documents = batch.items.into_iter().filter_map(|item| match item {
                Item::Document(document) => Some(document.into_text()),
                _ => None,
            });
            search.push(documents.collect())?;
            judge.reporter.observer.go_on()
        })?;
        let mut tick = || judge.reporter.observer.go_on();
        let found = search.find(least, dedup.containment.shortest, &mut tick)?;
        let [settled, mut short] = contained::order(&found);
        let mut fates = Verdicts::new(ranks.len(), judge.is_marking);
        // The keys under which the texts that may represent others are stored.
        let mut keys = vec![None; ranks.len()];
        judge.is_settled = true;
        self.judge_ranks(judge, texts, &ranks, &settled, |number, verdict| {
            keys[number].clone_from(&verdict.stored);
            fates.set(ranks[number].ordinal, verdict);
        })?;
        judge.is_settled = false;
        // What represents others is stored by now, under these keys.
        let key = |first: u64| keys.get(usize::try_from(first).ok()?)?.clone();
        let mut within = Vec::new();
        for (number, verdict) in found.into_iter().enumerate() {
            match verdict.within {
                // What represents it was refused.
                Some((first, _)) if key(first).is_none() => short.push(number),
                Some((first, member)) => within.push((number, first, member)),
                None => {}
            }
        }
        self.judge_ranks(judge, texts, &ranks, &short, |number, verdict| {
            fates.set(ranks[number].ordinal, verdict);
        })?;
        // Contained texts are not offered to the store. They are noted with what represents them.
        for (done, (number, first, member)) in within.into_iter().enumerate() {
            if done.is_multiple_of(WRITTEN) {
                judge.reporter.observer.go_on()?;
            }
            let rank = ranks[number];
            let origin = texts.read(rank.offset)?.into_origin();
            let earlier = key(first).map(|key| member.represented_by(key));
            let mut outcome = contained::outcome(earlier, dedup.schema.threshold());
            outcome.earlier_is_of_this_writer = true;
            let judged = judge.note(origin, Ok(outcome), false, self.store, None)?;
            if let Item::Document((_, verdict)) = judged {
                fates.set(rank.ordinal, verdict);
            }
        }
        Ok(fates)
    }

    /// Judges the documents with these numbers of `ranks` in this order, and passes the verdicts to `take`.
    fn judge_ranks(
        &self,
        judge: &mut DedupJudge<'_>,
        texts: &SpooledTexts,
        ranks: &[DocumentRank],
        numbers: &[usize],
        mut take: impl FnMut(usize, DocumentVerdict),
    ) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let order: Vec<DocumentRank> = numbers.iter().map(|&number| ranks[number]).collect();
        let sketched = sketch_ahead(ranked(texts.again()?, Arc::new(order))?, self.store)?;
        let mut numbers = numbers.iter();
        judge.judge_all(&sketched, true, &mut |judged| {
            if let (Some(number), Item::Document((_, verdict))) = (numbers.next(), judged) {
                take(*number, verdict);
            }
            Ok(())
        })
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
        // Ordinals count documents only, as the ranks do.
        let mut ordinals = 0..;
        let folder = self.outputs.work().folder();
        for (number, spooled) in records.enumerate() {
            if number.is_multiple_of(WRITTEN) {
                judge.reporter.observer.go_on()?;
            }
            match spooled.map_err(|error| Error::temporary(folder, error))? {
                Item::Opened(opened) => sink.open(&opened),
                Item::Document(origin) => {
                    let verdict = verdicts.of(ordinals.next().unwrap_or(usize::MAX));
                    match (verdict, origin.record) {
                        ((_, mark @ Some(_)), _) => sink.keep(&origin, mark, None),
                        ((true, None), _) => sink.keep(&origin, None, None),
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
        let fields = self
            .dedup
            .keep_by
            .iter()
            .map(|order| order.field().to_owned());
        let options = options.ranked_fields(fields.collect());
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
pub(crate) fn taken(sink: &mut OutputSink, judged: &JudgedItem) -> Result<()> {
    match judged {
        Item::Opened(opened) => sink.open(opened),
        Item::Document((origin, verdict)) if verdict.is_kept || verdict.mark.is_some() => {
            sink.keep(origin, verdict.mark.as_ref(), verdict.text.as_deref())
        }
        Item::Document((origin, _)) if origin.record.is_some() => sink.pass(),
        Item::Skipped(skipped) => keep_unread(sink, skipped),
        Item::Document(_) | Item::Unchanged(_) => Ok(()),
    }
}

/// Writes a record that is not a document, if it is complete.
pub(super) fn keep_unread(sink: &mut OutputSink, skipped: &Skipped) -> Result<()> {
    let unread = skipped.record.as_ref();
    unread.map_or(Ok(()), |unread| {
        sink.keep_unread(&unread.verbatim, unread.nth)
    })
}

//! Reads, judges and writes documents, in the order of the input or by rank.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::dedup::error::{Error, Result};
use crate::dedup::fates::Fates;
use crate::dedup::groups::Groups;
use crate::dedup::judge::{Judge, Judged};
use crate::dedup::order::Ranking;
use crate::dedup::outputs::Outputs;
use crate::dedup::ranked::{ranked, spool_all};
use crate::dedup::settings::{Dedup, Keep, To};
use crate::dedup::sink::{Kept, Sink};
use crate::dedup::spool::{Records, Spool, Spooled};
use crate::dedup::target::Target;
use crate::{Batch, Repeats, Source, sketch_ahead};
use dedupdb::Store;
use dedupdb::write::IdScope;

/// The number of records to write between two calls of the observer.
const WRITTEN: usize = 256;

/// The batches of the input.
pub(super) type Batches = Receiver<Result<Batch, crate::Error>>;

/// The parts of a run.
pub(super) struct Run<'a> {
    pub(super) dedup: &'a Dedup,
    pub(super) target: &'a Target,
    pub(super) outputs: &'a Outputs,
    pub(super) store: &'a Store,
    /// Whether the store remains after the run.
    pub(super) store_stays: bool,
    /// The paths of the inputs, and the names of streams.
    pub(super) inputs: &'a [PathBuf],
}

impl Run<'_> {
    /// Reads, judges and writes one document after another.
    pub(super) fn in_order(&self, judge: &mut Judge<'_>, batches: Batches, to: To) -> Result<Sink> {
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
        judge: &mut Judge<'_>,
        batches: &Batches,
        (against, _): &(Store, u64),
        to: To,
    ) -> Result<Sink> {
        let mut sink = self.sink(to)?;
        judge.judge_against(batches, against, &mut |judged| taken(&mut sink, &judged))?;
        judge.check_protection()?;
        self.check_failures(judge)?;
        Ok(sink)
    }

    /// Reads all documents, judges them by rank, and writes them in the order of the input.
    pub(super) fn by_rank(&self, judge: &mut Judge<'_>, batches: &Batches, to: To) -> Result<Sink> {
        let mut spool = Spool::new(self.outputs.work(), self.dedup.temporary_limit)?;
        let mut ranking = Ranking::new(self.dedup.kept());
        spool_all(judge, batches, &mut spool, &mut ranking)?;
        self.check_failures(judge)?;
        let (mut texts, records) = spool.finish()?;
        judge.check_protection()?;
        let orders = ranking.sorted().map(Arc::new);
        let documents = orders.iter().map(|order| order.len()).sum();
        let mut fates = Fates::new(documents, judge.is_marking);
        let mut groups = (self.dedup.kept() == Keep::None).then(Groups::default);
        for (order, is_protected) in orders.into_iter().zip([true, false]) {
            if order.is_empty() {
                continue;
            }
            let sketched = sketch_ahead(ranked(texts.again()?, order.clone())?, self.store)?;
            let mut ranks = order.iter();
            judge.is_protecting = is_protected;
            judge.judge_all(&sketched, true, &mut |judged| {
                if let (Some(rank), Judged::Document(_, verdict)) = (ranks.next(), judged) {
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
        judge: &mut Judge<'_>,
        records: Records,
        fates: &Fates,
        to: To,
    ) -> Result<Sink> {
        let mut sink = self.sink(to)?;
        let mut ordinals = 0..;
        let folder = self.outputs.work().folder();
        for (number, spooled) in records.enumerate() {
            if number.is_multiple_of(WRITTEN) {
                judge.met.watch.tick()?;
            }
            let mut keep = |written: Kept<'_>| {
                let ordinal = ordinals.next().unwrap_or(usize::MAX);
                match (fates.of(ordinal), written) {
                    ((_, Some(mark)), _) => sink.keep(written, Some(mark)),
                    ((true, None), _) => sink.keep(written, None),
                    // The store refused it.
                    ((false, None), Kept::Record(record, nth)) if judge.is_marking => {
                        sink.keep_unread(record, nth)
                    }
                    ((false, None), Kept::Record(..)) => sink.pass(),
                    ((false, None), Kept::File(..)) => Ok(()),
                }
            };
            match spooled.map_err(|error| Error::temporary(folder, error))? {
                Spooled::Opened(opened) => sink.open(&opened),
                Spooled::Record(record, nth) => keep(Kept::Record(&record, nth)),
                Spooled::Unread(record, nth) => sink.keep_unread(&record, nth),
                Spooled::File(path, file) => keep(Kept::File(&path, file)),
            }?;
        }
        Ok(sink)
    }

    pub(super) fn read(&self, sources: Vec<Source>) -> Result<Batches> {
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

    fn sink(&self, to: To) -> Result<Sink> {
        let path = self.outputs.work().output();
        let mark = self.dedup.mark.as_ref();
        Sink::new(self.target, to, &path, self.inputs, mark)
    }

    /// Fails if the run is strict and had a failure.
    fn check_failures(&self, judge: &Judge<'_>) -> Result<()> {
        if self.dedup.options.strict && judge.met.done.reading.has_failures() {
            return Err(Error::FirstFailure);
        }
        Ok(())
    }
}

/// Writes the output of one document or file.
fn taken(sink: &mut Sink, judged: &Judged) -> Result<()> {
    match judged {
        Judged::Opened(opened) => sink.open(opened),
        Judged::Document(origin, verdict) if verdict.is_kept || verdict.mark.is_some() => {
            let kept = match origin.record {
                Some(nth) => Kept::Record(&origin.verbatim, nth),
                None => Kept::File(&origin.source, origin.read),
            };
            sink.keep(kept, verdict.mark.as_ref())
        }
        Judged::Unread(unread) => sink.keep_unread(&unread.verbatim, unread.nth),
        Judged::Document(origin, _) if origin.record.is_some() => sink.pass(),
        Judged::Document(..) | Judged::Refused => Ok(()),
    }
}

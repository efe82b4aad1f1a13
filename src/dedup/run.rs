//! A run, from its beginning to the output in its place.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::{fmt, io, thread};

use crate::corpus::{self, BATCH_BYTES, Batch, Item, Repeats, Source, expanded, sketch_ahead};
use crate::dedup::done::Done;
use crate::dedup::error::{Error, Result};
use crate::dedup::event::{Event, Observer};
use crate::dedup::fates::Fates;
use crate::dedup::fit::Fit;
use crate::dedup::groups::Groups;
use crate::dedup::judge::{Judge, Judged, Met, TICK};
use crate::dedup::lineage::Lineage;
use crate::dedup::order::{Rank, Ranking};
use crate::dedup::outputs::Outputs;
use crate::dedup::removed::Removed;
use crate::dedup::settings::{Against, Dedup, Keep, To};
use crate::dedup::sink::{Kept, Sink};
use crate::dedup::spool::{Records, Spool, Spooled, Texts};
use crate::dedup::target::{Form, Target};
use crate::write::Uncommitted;
use crate::{Store, Writer};

/// Records that are written between two looks at the observer.
const WRITTEN: usize = 256;

/// A run whose places are taken. Dropped, it leaves nothing.
#[must_use = "nothing is done before it is run"]
pub struct Begun {
    dedup: Dedup,
    target: Target,
    outputs: Outputs,
}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begun")
            .field("dedup", &self.dedup)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Begun {
    pub(crate) fn of(mut dedup: Dedup) -> Result<Begun> {
        dedup.sources = expanded(dedup.sources);
        let target = Target::of(&dedup)?;
        let outputs = Outputs::begin(&dedup, &target)?;
        Ok(Begun {
            dedup,
            target,
            outputs,
        })
    }

    /// Whether the output is a folder.
    pub fn writes_folder(&self) -> bool {
        self.target.form == Form::Folder
    }

    /// Judges against the documents of a store as well, as [`Dedup::store`] says.
    pub fn store(self, store: &Store) -> Begun {
        Begun {
            dedup: self.dedup.store(store),
            ..self
        }
    }

    /// Reads, judges and writes, and tells the observer, who may stop it: then nothing is written, and the
    /// same run gives the same output later.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`]; [`Error::FirstFailure`] if the corpus is read strictly; what is read does not fit
    /// into what is written; those of the store and of the system. Where the output got its place and the
    /// run could not be ended in the store, the output is there, and the next run is judged as if it was
    /// not.
    pub fn run(self, mut observe: impl FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Done, Error> {
        self.run_watched(Observer::new(&mut observe))
    }

    fn run_watched(self, watch: Observer<'_>) -> Result<Done> {
        let Begun {
            mut dedup,
            target,
            outputs,
        } = self;
        let (options, _ending) = std::mem::take(&mut dedup.options).begin();
        dedup.options = options;
        let store = if let Some(store) = dedup.store.take() {
            store
        } else {
            let folder = outputs.work().path("store");
            dedup.store_options.create(folder, &dedup.schema)?
        };
        let cut_short = store.searches_cut_short();
        let to = std::mem::replace(&mut dedup.to, To::Nowhere);
        let sources = std::mem::take(&mut dedup.sources);
        let inputs = sources.iter().map(|source| source.name().to_owned());
        let inputs: Vec<PathBuf> = inputs.collect();
        let removed = outputs.removed().zip(dedup.removed.as_deref());
        let removed = removed
            .map(|(partial, name)| Removed::begin(partial, name, dedup.removed_is_json))
            .transpose()?;
        let mut judge = judge(&dedup, &target, store.writer()?, removed, watch);
        let against = dedup.against.take();
        let against = against.map(|it| compared(it, &dedup, &outputs, &mut judge));
        let against = against.transpose()?;
        let documents = judge.writer.begin_run()?;
        if documents > 0 {
            judge.met.watch.tell(Event::Forgotten { documents })?;
        }
        let run = Run {
            dedup: &dedup,
            target: &target,
            outputs: &outputs,
            store: &store,
            inputs: &inputs,
        };
        let batches = run.read(sources)?;
        match (dedup.keep, &against) {
            (_, Some(against)) => run.against(&mut judge, &batches, against, to)?,
            (Keep::First | Keep::Few(_), None) => run.in_order(&mut judge, batches, to)?,
            (Keep::Longest | Keep::Newest | Keep::None, None) => {
                run.by_rank(&mut judge, &batches, to)?;
            }
        }
        if let Some(removed) = &mut judge.removed {
            removed.finish()?;
        }
        judge.met.watch.tell(Event::Publishing)?;
        let is_written = judge.met.done.kept > 0 || !outputs.replaces_content();
        if is_written {
            outputs.publish()?;
        }
        // As late as can be: a run that ends before this gives its documents again when it is repeated.
        judge.writer.publish_run()?;
        let mut cut_short = store.searches_cut_short() - cut_short;
        if let Some((against, before)) = against {
            cut_short += against.searches_cut_short() - before;
        }
        Ok(judge.met.done.summed(cut_short, is_written))
    }
}

/// Who judges as is asked for.
fn judge<'a>(
    dedup: &Dedup,
    target: &Target,
    writer: Writer,
    removed: Option<Removed>,
    watch: Observer<'a>,
) -> Judge<'a> {
    Judge {
        writer,
        uncommitted: Uncommitted::new(dedup.memory),
        removed,
        lineage: dedup.lineage.then(Lineage::default),
        beside: match dedup.keep {
            Keep::Few(few) => few.get() - 1,
            _ => 0,
        },
        besides: HashMap::new(),
        is_marking: dedup.mark.is_some(),
        met: Met {
            done: Done::default(),
            watch,
            fit: Fit::new(target, dedup.mark.as_ref()),
        },
    }
}

/// What is read.
type Batches = Receiver<Result<Batch, corpus::Error>>;

/// What a run works with.
struct Run<'a> {
    dedup: &'a Dedup,
    target: &'a Target,
    outputs: &'a Outputs,
    store: &'a Store,
    /// The paths of the inputs, and the names of streams.
    inputs: &'a [PathBuf],
}

impl Run<'_> {
    /// Reads, judges and writes document after document.
    fn in_order(&self, judge: &mut Judge<'_>, batches: Batches, to: To) -> Result<()> {
        let mut sink = self.sink(to)?;
        let sketched = sketch_ahead(batches, self.store)?;
        judge.judge_all(&sketched, false, &mut |judged| taken(&mut sink, &judged))?;
        self.check_failures(judge)?;
        judge.commit()?;
        sink.finish(&mut || judge.met.watch.tick())
    }

    /// Reads, compares with what is stored there alone, and writes document after document.
    fn against(
        &self,
        judge: &mut Judge<'_>,
        batches: &Batches,
        (against, _): &(Store, u64),
        to: To,
    ) -> Result<()> {
        let mut sink = self.sink(to)?;
        judge.judge_against(batches, against, &mut |judged| taken(&mut sink, &judged))?;
        self.check_failures(judge)?;
        sink.finish(&mut || judge.met.watch.tick())
    }

    /// Reads all documents, judges them by rank, and writes them in the order of the input.
    fn by_rank(&self, judge: &mut Judge<'_>, batches: &Batches, to: To) -> Result<()> {
        let mut spool = Spool::new(self.outputs.work(), self.dedup.temporary_limit)?;
        let mut ranking = Ranking::new(self.dedup.keep);
        spool_all(judge, batches, &mut spool, &mut ranking)?;
        self.check_failures(judge)?;
        let (texts, records) = spool.finish()?;
        let order = Arc::new(ranking.sorted());
        let mut fates = Fates::new(order.len(), judge.is_marking);
        let mut texts_again = texts.again()?;
        let sketched = sketch_ahead(ranked(texts, order.clone())?, self.store)?;
        let mut ranks = order.iter();
        let mut groups = (self.dedup.keep == Keep::None).then(Groups::default);
        let take = &mut |judged| {
            if let (Some(rank), Judged::Document(_, verdict)) = (ranks.next(), judged) {
                if let Some(groups) = &mut groups {
                    groups.push(*rank, verdict.stored);
                }
                fates.set(rank.ordinal, verdict);
            }
            Ok(())
        };
        judge.judge_all(&sketched, true, take)?;
        judge.commit()?;
        if let Some(groups) = groups {
            let drop_one = |ordinal| fates.drop_one(ordinal);
            groups.drop_firsts(judge, self.store, &mut texts_again, drop_one)?;
        }
        self.write(judge, records, &fates, to)
    }

    /// Writes the records of a spool that are kept.
    fn write(&self, judge: &mut Judge<'_>, records: Records, fates: &Fates, to: To) -> Result<()> {
        let mut sink = self.sink(to)?;
        let mut ordinals = 0..;
        let folder = self.outputs.work().folder();
        for (number, spooled) in records.enumerate() {
            if number.is_multiple_of(WRITTEN) {
                judge.met.watch.tick()?;
            }
            let mut keep = |written: Kept<'_>| {
                let ordinal = ordinals.next().unwrap_or(usize::MAX);
                match fates.of(ordinal) {
                    (_, Some(mark)) => sink.keep(written, Some(mark)),
                    (true, None) => sink.keep(written, None),
                    (false, None) => Ok(()),
                }
            };
            match spooled.map_err(|error| Error::temporary(folder, error))? {
                Spooled::Opened(opened) => sink.open(&opened),
                Spooled::Record(record, nth) => keep(Kept::Record(&record, nth)),
                Spooled::File(path, size, modified) => keep(Kept::File(&path, size, modified)),
            }?;
        }
        sink.finish(&mut || judge.met.watch.tick())
    }

    fn read(&self, sources: Vec<Source>) -> Result<Batches> {
        let options = self.dedup.options.clone();
        let options = options.verbatim(true).repeats(Repeats::Tell);
        let options = options.tables_apart(self.target.is_of_tables);
        let options = options.store(&self.store.shared.place);
        Ok(options.batches(sources)?)
    }

    fn sink(&self, to: To) -> Result<Sink> {
        let path = self.outputs.work().output();
        let mark = self.dedup.mark.as_ref();
        Sink::new(self.target, to, &path, self.inputs, mark)
    }

    /// Ends a strict run in which something failed.
    fn check_failures(&self, judge: &Judge<'_>) -> Result<()> {
        if self.dedup.options.strict && judge.met.done.reading.has_failures() {
            return Err(Error::FirstFailure);
        }
        Ok(())
    }
}

/// Writes what is to be written of one document or file.
fn taken(sink: &mut Sink, judged: &Judged) -> Result<()> {
    match judged {
        Judged::Opened(opened) => sink.open(opened),
        Judged::Document(origin, verdict) if verdict.is_kept || verdict.mark.is_some() => {
            let kept = match origin.record {
                Some(nth) => Kept::Record(&origin.verbatim, nth),
                None => Kept::File(&origin.source, origin.bytes, origin.modified),
            };
            sink.keep(kept, verdict.mark.as_ref())
        }
        Judged::Document(..) | Judged::Refused => Ok(()),
    }
}

/// The store that documents are compared with alone, and how many of its searches were cut short before.
fn compared(
    against: Against,
    dedup: &Dedup,
    outputs: &Outputs,
    judge: &mut Judge<'_>,
) -> Result<(Store, u64)> {
    let store = match against {
        Against::Store(store) => store,
        Against::Corpus(sources) => {
            let folder = outputs.work().path("against");
            let store = dedup.store_options.create(folder, &dedup.schema)?;
            let add = corpus::Add::new(sources)
                .reading(dedup.options.clone())
                .memory(dedup.memory);
            let mut failed = Ok(());
            let added = add.run(&store, |event| {
                let told = match event {
                    corpus::AddEvent::Skipped(skipped) => judge.met.skip(skipped),
                    _ => judge.met.watch.tick(),
                };
                failed = told;
                if failed.is_ok() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            failed?;
            if dedup.options.strict && added.reading.has_failures() {
                return Err(Error::FirstFailure);
            }
            store
        }
    };
    let before = store.searches_cut_short();
    Ok((store, before))
}

/// Reads all documents into the spool.
fn spool_all(
    judge: &mut Judge<'_>,
    batches: &Batches,
    spool: &mut Spool,
    ranking: &mut Ranking,
) -> Result<()> {
    loop {
        let batch = match batches.recv_timeout(TICK) {
            Ok(batch) => batch?,
            Err(RecvTimeoutError::Timeout) => {
                judge.met.watch.tick()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        for item in &batch.items {
            judge.met.item(item)?;
            match item {
                Item::Document(document) => {
                    let offset = spool.push(document)?;
                    ranking.push(document, offset);
                }
                Item::Opened(opened) => spool.open(opened)?,
                Item::Skipped(_) | Item::Unchanged => {}
            }
        }
        let items = batch.items.len() as u64;
        judge.met.watch.advance(items, batch.bytes)?;
    }
}

/// Reads the texts in the order of their ranks, in batches, on a thread of its own.
fn ranked(mut texts: Texts, order: Arc<Vec<Rank>>) -> Result<Receiver<Result<Batch>>> {
    let (sender, receiver) = sync_channel(1);
    let send = move || {
        let mut batch = Batch::default();
        for rank in order.iter() {
            match texts.read(rank.offset) {
                Ok(document) => {
                    batch.bytes += document.text().len() as u64;
                    batch.items.push(Item::Document(document));
                }
                Err(error) => {
                    // Nobody is left to be told when this fails.
                    drop(sender.send(Err(error)));
                    return;
                }
            }
            if batch.bytes >= BATCH_BYTES && sender.send(Ok(std::mem::take(&mut batch))).is_err() {
                return;
            }
        }
        drop(sender.send(Ok(batch)));
    };
    let thread = thread::Builder::new().name("spool".to_owned());
    let started: io::Result<_> = thread.spawn(send);
    started.map_err(corpus::Error::thread)?;
    Ok(receiver)
}

//! `dedup`: writes a corpus without its near-duplicates.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;

use anyhow::{Context, Result, bail};
use dedupdb::corpus::{self, BATCH_BYTES, Batch, Item, Reader, Repeats, STDIN, Walk};
use dedupdb::{Schema, Store};

use crate::args::{Args, Dedup, Keep, Parameters};
use crate::console::Console;
use crate::dedup::fit::Fit;
use crate::dedup::judge::{Judge, Judged, Met, TICK};
use crate::dedup::lineage::Lineage;
use crate::dedup::order::{Rank, Ranking};
use crate::dedup::outputs::Outputs;
use crate::dedup::removed::Removed;
use crate::dedup::sink::{Kept, Sink};
use crate::dedup::spool::{Records, Spool, Spooled, Texts};
use crate::dedup::summary::Summary;
use crate::dedup::target::{Form, Target};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::left_out::{LeftOut, Named};
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::progress::Progress;
use crate::threads::NO_THREAD;
use crate::uncommitted::Uncommitted;
use dedupdb::publish::work::Work;

/// Runs `dedup`.
pub(crate) fn run(
    args: &Args,
    dedup: &Dedup,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let target = Target::of(dedup)?;
    let places = target.path.iter().chain(&dedup.removed);
    let places: Vec<&Path> = places.map(|path| &**path).collect();
    dedup.telling.check(&dedup.paths, &places)?;
    let outputs = Outputs::begin(args, dedup, &target)?;
    let work = outputs.work();
    let store = Arc::new(open_store(args, &dedup.parameters, work, console)?);
    // Not before: a wait for the store ends at once.
    let interrupt = Interrupt::catch()?;
    let removed = outputs.removed().zip(dedup.removed.as_deref());
    let removed = removed.map(|(partial, name)| Removed::begin(partial, name, args.json));
    let mut judge = Judge {
        writer: store.writer()?,
        uncommitted: Uncommitted::new(dedup.memory),
        removed: removed.transpose()?,
        lineage: Lineage::default(),
        met: Met {
            console,
            summary: Summary::default(),
            left_out: LeftOut::begin(console, &dedup.telling, Named::Failures)?,
            progress: Progress::new(console, walk(dedup, &store)),
            fit: Fit::new(&target),
        },
    };
    note_forgotten(judge.writer.begin_run()?, console);
    let run = Run {
        dedup,
        target: &target,
        work,
        store: &store,
        interrupt: &interrupt,
    };
    let is_whole = match dedup.keep {
        Keep::First => run.in_order(&mut judge)?,
        Keep::Longest | Keep::Newest => run.by_rank(&mut judge)?,
    };
    judge.met.progress.finish();
    if !is_whole {
        return Ok(run.stop(&judge));
    }
    if let Some(removed) = &mut judge.removed {
        let finished = removed.finish();
        finished.with_context(|| removed.partial().display().to_string())?;
    }
    judge.met.left_out.finish()?;
    let stays = judge.met.summary.is_empty() && outputs.replaces_content();
    if !stays {
        outputs.publish()?;
    }
    // As late as can be: a run that ends before this gives its documents again when it is repeated.
    judge.writer.publish_run()?;
    crate::store::note_passed_over(&store, args, console);
    tell(&judge.met, args, &run, output)?;
    if stays {
        bail!(
            "{}: nothing is kept of the input, and --force replaces no output by nothing; what is \
             there stays (remove it yourself, or write to another place)",
            run.name()
        );
    }
    Ok(if judge.met.summary.reading.has_failures() {
        Exit::Failed
    } else {
        Exit::Found
    })
}

/// Says how many documents of an interrupted run were forgotten, if any.
pub(super) fn note_forgotten(forgotten: u64, console: &Console) {
    if forgotten > 0 {
        let documents = counted(forgotten, "document", "documents");
        console.note(&format!(
            "forgot {documents} of a dedup that was interrupted"
        ));
    }
}

/// Opens the store that is named, or makes it or a temporary one.
fn open_store(
    args: &Args,
    parameters: &Parameters,
    work: &Work,
    console: &Console,
) -> Result<Store> {
    let mut schema = Schema::builder();
    if let Some(threshold) = parameters.threshold {
        schema = schema.threshold(threshold);
    }
    if let Some(shingling) = parameters.shingling {
        schema = schema.shingling(shingling);
    }
    if let Some(permutations) = parameters.permutations {
        schema = schema.permutations(permutations);
    }
    let schema = schema.build()?;
    if !args.store_given {
        return crate::store::create_in(args, &work.path("store"), &schema);
    }
    let (store, is_new) = crate::store::open_or_create_with(args, &schema)?;
    if is_new {
        console.note(&format!("made a store in {}", args.store.display()));
    }
    let given = [
        ("threshold", parameters.threshold.is_some()),
        ("shingling", parameters.shingling.is_some()),
        ("permutations", parameters.permutations.is_some()),
    ];
    let value = |schema: &Schema, name| {
        let parameters = schema.parameters();
        parameters.into_iter().find(|(found, _)| *found == name)
    };
    for (name, is_given) in given {
        if is_given && !is_new && value(&store.schema(), name) != value(&schema, name) {
            bail!(
                "{}: the store was made with another --{name}; leave it out, or choose another store",
                args.store.display()
            );
        }
    }
    Ok(store)
}

/// The way through the inputs.
fn walk(dedup: &Dedup, store: &Store) -> Walk {
    Walk::new(dedup.paths.clone(), store.folder(), &dedup.inputs.options())
}

/// What a run works with.
struct Run<'a> {
    dedup: &'a Dedup,
    target: &'a Target,
    work: &'a Work,
    store: &'a Arc<Store>,
    interrupt: &'a Interrupt,
}

impl Run<'_> {
    /// Reads, judges and writes document after document. Says whether the output is whole.
    fn in_order(&self, judge: &mut Judge<'_>) -> Result<bool> {
        let mut sink = self.sink()?;
        let sketched = corpus::sketch_ahead(self.read()?, self.store)?;
        let take = &mut |judged| match judged {
            Judged::Opened(opened) => sink.open(&opened).with_context(|| self.name()),
            Judged::Kept(origin) => {
                let kept = match origin.line {
                    Some(_) => Kept::Record(&origin.verbatim),
                    None => Kept::File(&origin.source, origin.bytes, origin.modified),
                };
                sink.keep(kept).with_context(|| self.name())
            }
            Judged::Dropped => Ok(()),
        };
        let stopped = judge.judge_all(&sketched, self.interrupt, false, take)?;
        if stopped || self.is_given_up(judge) {
            return Ok(false);
        }
        judge.commit()?;
        sink.finish().with_context(|| self.name())?;
        Ok(true)
    }

    /// Reads all documents, judges them by rank, and writes them in the order of the input. Says
    /// whether the output is whole.
    fn by_rank(&self, judge: &mut Judge<'_>) -> Result<bool> {
        let mut spool = Spool::new(self.work, self.dedup.temp_limit)?;
        let mut ranking = Ranking::new(self.dedup.keep);
        if self.spool_all(judge, &mut spool, &mut ranking)? || self.is_given_up(judge) {
            return Ok(false);
        }
        let (texts, records) = spool.finish()?;
        let order = Arc::new(ranking.sorted());
        let mut kept = vec![false; order.len()];
        let sketched = corpus::sketch_ahead(by_rank(texts, order.clone())?, self.store)?;
        let mut ranks = order.iter();
        let take = &mut |judged| {
            if let Some(rank) = ranks.next()
                && let Some(kept) = usize::try_from(rank.ordinal)
                    .ok()
                    .and_then(|at| kept.get_mut(at))
            {
                *kept = matches!(judged, Judged::Kept(_));
            }
            Ok(())
        };
        if judge.judge_all(&sketched, self.interrupt, true, take)? {
            return Ok(false);
        }
        judge.commit()?;
        self.write(records, &kept)
    }

    /// Writes the records of a spool that are kept. Says whether the output is whole.
    fn write(&self, records: Records, kept: &[bool]) -> Result<bool> {
        let mut sink = self.sink()?;
        let mut kept = kept.iter();
        for spooled in records {
            if self.interrupt.is_raised() {
                return Ok(false);
            }
            let mut keep = |written: Kept<'_>| match kept.next() {
                Some(true) => sink.keep(written),
                _ => Ok(()),
            };
            match spooled? {
                Spooled::Opened(opened) => sink.open(&opened),
                Spooled::Record(record) => keep(Kept::Record(&record)),
                Spooled::File(path, size, modified) => keep(Kept::File(&path, size, modified)),
            }
            .with_context(|| self.name())?;
        }
        sink.finish().with_context(|| self.name())?;
        Ok(true)
    }

    /// Reads all documents into the spool. Says whether it was interrupted.
    fn spool_all(
        &self,
        judge: &mut Judge<'_>,
        spool: &mut Spool,
        ranking: &mut Ranking,
    ) -> Result<bool> {
        let batches = self.read()?;
        loop {
            if self.interrupt.is_raised() {
                return Ok(true);
            }
            let batch = match batches.recv_timeout(TICK) {
                Ok(batch) => batch?,
                Err(RecvTimeoutError::Timeout) => {
                    judge.met.progress.tick();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
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
            judge.met.progress.advance(items, batch.bytes);
        }
    }

    fn read(&self) -> Result<Receiver<Result<Batch, corpus::Error>>, corpus::Error> {
        let reader = Reader {
            walk: walk(self.dedup, self.store),
            options: self
                .dedup
                .inputs
                .options()
                .verbatim(true)
                .repeats(Repeats::Tell),
            stdin_key: STDIN.to_owned(),
            is_unchanged: Box::new(|_, _, _| Ok(false)),
        };
        reader.start()
    }

    fn sink(&self) -> Result<Sink> {
        Sink::new(self.target, self.work.output(), &self.dedup.paths)
    }

    fn name(&self) -> String {
        let path = self.target.path.as_deref();
        path.map_or("standard output".into(), |path| path.display().to_string())
    }

    /// Whether a failure is to be the end of it.
    fn is_given_up(&self, judge: &Judge<'_>) -> bool {
        self.dedup.inputs.strict && judge.met.summary.reading.has_failures()
    }

    /// Ends without an output. What is stored of the run is forgotten when the next one begins.
    fn stop(&self, judge: &Judge<'_>) -> Exit {
        let (console, name) = (judge.met.console, self.name());
        if self.is_given_up(judge) {
            console.error(&format!(
                "stopped at the first failure; {name} is not written"
            ));
            return Exit::Failed;
        }
        console.error(&format!(
            "stopped; {name} is not written, and the same command begins anew"
        ));
        Exit::Interrupted
    }
}

/// Reads the texts in the order of their ranks, in batches, on a thread of its own.
fn by_rank(mut texts: Texts, order: Arc<Vec<Rank>>) -> Result<Receiver<Result<Batch>>> {
    let (sender, receiver) = sync_channel(1);
    let send = move || {
        let mut batch = Batch::default();
        for rank in order.iter() {
            match texts.read(rank.offset) {
                Ok(document) => {
                    batch.bytes += document.text.len() as u64;
                    batch.items.push(Item::Document(document));
                }
                Err(error) => {
                    // Nobody is left to be told when this fails.
                    drop(sender.send(Err(error).context("cannot read a temporary file")));
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
    thread.spawn(send).context(NO_THREAD)?;
    Ok(receiver)
}

/// Says what was done.
fn tell(met: &Met<'_>, args: &Args, run: &Run<'_>, output: &mut Output) -> Result<()> {
    let elapsed = met.progress.elapsed();
    let target = run.target;
    if let Some(note) = met.summary.reading.lossy_note() {
        met.console.note(&note);
    }
    if let Some(note) = met.summary.reading.no_id_note(&run.dedup.inputs) {
        met.console.note(&note);
    }
    let skipped = met.summary.reading.all_skipped();
    if target.form == Form::Folder && skipped > 0 {
        met.console.note(&format!(
            "what was skipped ({}) is not in the output; --skipped FILE lists it",
            grouped(skipped)
        ));
    }
    if !args.json {
        met.console.text(&met.summary.to_text(elapsed));
    } else if target.path.is_some() {
        output.object(&met.summary.to_json(elapsed))?;
    } else {
        // Standard output has the documents.
        met.console
            .text(&format!("{}\n", met.summary.to_json(elapsed)));
    }
    Ok(())
}

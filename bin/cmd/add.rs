//! `add`: stores files and records.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use dedupdb::corpus::{self, Item, Key, Origin, Repeats, Sketched, Skipped, is_same_file};
use dedupdb::{
    Match, Store, Writer,
    write::{Outcome, Relation, Uncommitted},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::args::{Add, Args};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, is_nameless, sources};
use crate::interrupt::Interrupt;
use crate::left_out::{LeftOut, Named};
use crate::number::similarity;
use crate::output::{Output, escape};
use crate::processor::Threads;
use crate::progress::Progress;
use crate::reading::Told as _;
use crate::tally::Tally;
use crate::timings::Spent;

/// How long to wait for a batch before looking after the rest.
const TICK: Duration = Duration::from_millis(50);

/// Runs `add`.
pub(crate) fn run(args: &Args, add: &Add, console: &Console, output: &mut Output) -> Result<Exit> {
    check_arguments(add)?;
    add.telling.check(&add.paths, &[])?;
    // The folder of a store that is only pretended goes after the store.
    let Opened {
        store,
        is_new,
        commits,
        _pretended,
    } = Opened::of(args, add)?;
    // Not before: a wait for the store ends at once.
    let interrupt = Interrupt::catch()?;
    if is_new {
        console.note(&format!("made a store in {}", args.store.display()));
    }
    let mut writer = store.writer()?;
    prepare(&mut writer, add, console)?;
    let left_out = LeftOut::begin(console, &add.telling, Named::Failures)?;
    let options = add.inputs.options();
    let options = options.repeats(Repeats::Skip).store(&args.store);
    let (plan, paths) = (options.clone(), add.paths.clone());
    let mut adding = Adding {
        store: &store,
        writer,
        console,
        output,
        lists_matches: add.matches,
        tally: Tally::default(),
        left_out,
        progress: Progress::new(console, move || plan.disk_bytes(sources(&paths, None))),
        uncommitted: Uncommitted::new(add.memory),
        memory: add.memory,
        commits,
        waiting: Duration::ZERO,
        threads: add.timings.then(Threads::default),
    };
    let options = if add.checksum {
        options
    } else {
        options.unless_stored(&store)
    };
    let batches = options.batches(sources(&add.paths, add.key.as_deref()))?;
    let sketched = corpus::sketch_ahead(batches, &store)?;
    let end = adding.take_all(&sketched, &interrupt)?;
    drop(sketched);
    adding.finish(args.quiet, add.dry_run)?;
    if let Some(note) = adding.tally.reading.no_id_note(&add.inputs) {
        console.note(&note);
    }
    crate::store::note_cut_short(store.searches_cut_short(), args, console);
    if add.timings {
        console.text(&adding.spent().to_text());
    }
    Ok(said(end, add, &adding.tally, console))
}

/// Says why an add came to its end, if that is not for the lack of more, and how it went.
fn said(end: End, add: &Add, tally: &Tally, console: &Console) -> Exit {
    match end {
        End::Interrupted if add.dry_run => {
            console.error("stopped; nothing was stored");
            Exit::Interrupted
        }
        End::Interrupted => {
            console.error("stopped; what was added so far is kept, and the same command goes on");
            Exit::Interrupted
        }
        End::Full => {
            console.error(
                "the rest was not looked at: a dry run keeps what it has met in memory, up to half \
                 of --memory; give more, or fewer paths",
            );
            Exit::Failed
        }
        End::All if tally.reading.has_failures() => Exit::Failed,
        End::All => Exit::Found,
    }
}

/// The store that is added to.
struct Opened {
    store: Store,
    /// Whether it was made, and not only pretended.
    is_new: bool,
    /// Whether what is done is committed: not in a dry run, unless the store itself is for the dry
    /// run only.
    commits: bool,
    /// The folder of a store that is only pretended, which goes after the store.
    _pretended: Option<TempDir>,
}

impl Opened {
    fn of(args: &Args, add: &Add) -> Result<Opened> {
        if add.dry_run {
            let (store, pretended) = crate::store::open_or_pretend(args)?;
            return Ok(Opened {
                store,
                is_new: false,
                commits: pretended.is_some(),
                _pretended: pretended,
            });
        }
        let (store, is_new) = crate::store::open_or_create(args)?;
        Ok(Opened {
            store,
            is_new,
            commits: true,
            _pretended: None,
        })
    }
}

/// Makes the writer do what is asked for. If it keeps documents out, it forgets what an interrupted dedup
/// stored first, so that none is kept out for the sake of a document that was never published.
fn prepare(writer: &mut Writer, add: &Add, console: &Console) -> Result<()> {
    writer.unique(add.unique);
    writer.evidence(add.matches);
    if !add.unique {
        return Ok(());
    }
    if add.dry_run {
        // Nothing may be committed.
        writer.forget_run(u64::MAX)?;
        return Ok(());
    }
    let forgotten = writer.forget_run(Uncommitted::limit(add.memory))?;
    super::dedup::note_forgotten(forgotten, console);
    Ok(())
}

/// Refuses what cannot be meant, before a store is made for it.
fn check_arguments(add: &Add) -> Result<()> {
    let stdin = add.paths.iter().filter(|path| is_stdin(path)).count();
    if stdin > 1 {
        bail!("standard input (-) is named more than once");
    }
    let nameless = add.paths.iter().filter(|path| is_nameless(path));
    let nameless: Vec<&PathBuf> = nameless.collect();
    match (nameless.as_slice(), &add.key) {
        ([], Some(_)) => bail!("--key names the text on standard input; give - as its path"),
        ([_, _, ..], Some(_)) => bail!("--key names one text; add one at a time"),
        ([one, ..], None) if add.inputs.is_one_document(one) => {
            let text = if is_stdin(one) {
                "the text on standard input".to_owned()
            } else {
                format!("the text of {}", one.display())
            };
            bail!("{text} has no name; give it one with --key")
        }
        _ => {}
    }
    if stdin == 0 && !add.paths.iter().any(|path| path.symlink_metadata().is_ok()) {
        let first = add.paths.first().map(|path| path.display().to_string());
        bail!(
            "{}: there is no such file or folder",
            first.unwrap_or_default()
        );
    }
    Ok(())
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// Why an add came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    All,
    Interrupted,
    /// A dry run may not take more memory.
    Full,
}

/// An add that is under way.
struct Adding<'a> {
    store: &'a Store,
    writer: Writer,
    console: &'a Console,
    output: &'a mut Output,
    lists_matches: bool,
    tally: Tally,
    left_out: LeftOut,
    progress: Progress,
    uncommitted: Uncommitted,
    /// Bytes that the process is to take, about.
    memory: u64,
    /// Whether what is done is committed.
    commits: bool,
    waiting: Duration,
    /// Looked at if their times are asked for.
    threads: Option<Threads>,
}

impl Adding<'_> {
    /// Adds all that is read, as far as it comes.
    fn take_all(
        &mut self,
        batches: &Receiver<Result<Sketched, corpus::Error>>,
        interrupt: &Interrupt,
    ) -> Result<End> {
        loop {
            if interrupt.is_raised() {
                return Ok(End::Interrupted);
            }
            let start = Instant::now();
            let received = batches.recv_timeout(TICK);
            self.waiting += start.elapsed();
            match received {
                Ok(sketched) => {
                    self.look_at_threads();
                    self.take(sketched?)?;
                }
                Err(RecvTimeoutError::Timeout) => self.progress.tick(),
                Err(RecvTimeoutError::Disconnected) => return Ok(End::All),
            }
            let bytes = self.writer.uncommitted_bytes();
            if !self.commits && Uncommitted::is_too_much(bytes, self.memory) {
                return Ok(End::Full);
            }
            if self.uncommitted.is_due(bytes) {
                self.commit()?;
            }
        }
    }

    fn take(&mut self, sketched: Sketched) -> Result<()> {
        let items = sketched.items.len() as u64;
        let mut origins = Vec::with_capacity(sketched.items.len());
        for item in sketched.items {
            match item {
                Item::Document(origin) => {
                    self.tally.reading.document(&origin);
                    origins.push(origin);
                }
                Item::Unchanged => self.tally.unchanged(),
                Item::Skipped(skipped) => self.skip(&skipped)?,
                // Nobody asked for records as they are.
                Item::Opened(_) => {}
            }
        }
        if !origins.is_empty() {
            let outcomes = self.writer.add_batch(sketched.documents)?;
            for (origin, outcome) in origins.into_iter().zip(outcomes) {
                self.note_outcome(&origin, outcome)?;
            }
            if self.lists_matches {
                let flushed = self.output.flush();
                self.go_on_alone(flushed)?;
            }
        }
        self.progress.advance(items, sketched.bytes);
        Ok(())
    }

    fn skip(&mut self, skipped: &Skipped) -> Result<()> {
        self.tally.reading.skipped(skipped.reason);
        self.left_out.tell(skipped)
    }

    fn note_outcome(&mut self, origin: &Origin, outcome: dedupdb::Result<Outcome>) -> Result<()> {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                return self.skip(&origin.refused(&error));
            }
        };
        if outcome.relation != Relation::Novel
            && let Some(other) = self.other_name(origin, outcome.earlier.as_ref())?
        {
            self.tally.other_name(outcome.change, &origin.key, other);
            return Ok(());
        }
        self.tally.outcome(&outcome);
        if let Some(earlier) = outcome.earlier
            && self.lists_matches
        {
            let listed = self.list(&origin.key, &earlier);
            self.go_on_alone(listed)?;
        }
        Ok(())
    }

    /// The key under which an earlier run stored the same file, if it is like what it was.
    fn other_name(&self, origin: &Origin, earlier: Option<&Match>) -> Result<Option<String>> {
        if origin.modified.is_none() {
            return Ok(None);
        }
        for key in Key::others(&origin.source) {
            let stored = self.store.get(&key)?;
            if stored.is_some_and(|stored| stored.modified.is_some()) {
                return Ok(Some(key));
            }
        }
        let earlier = earlier.filter(|earlier| earlier.key != origin.key);
        let earlier =
            earlier.filter(|earlier| is_same_file(Path::new(&earlier.key), &origin.source));
        Ok(earlier.map(|earlier| earlier.key.clone()))
    }

    /// Writes a near-duplicate or copy that was met.
    fn list(&mut self, key: &str, earlier: &Match) -> io::Result<()> {
        if self.output.is_json() {
            return self.output.object(&match_object(key, earlier));
        }
        let similarity = similarity(earlier.jaccard, earlier.estimate);
        self.output.line(format!(
            "{}\t{}\t{similarity}",
            escape(key),
            escape(&earlier.key)
        ))
    }

    /// Goes on adding when the reader of the matches went away.
    fn go_on_alone(&mut self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.lists_matches = false;
                Ok(())
            }
            written => written,
        }
    }

    fn commit(&mut self) -> Result<()> {
        if self.commits {
            self.writer.commit()?;
        }
        self.uncommitted.committed();
        Ok(())
    }

    /// Where the time went.
    fn spent(&self) -> Spent {
        Spent {
            stages: self.store.timings(),
            waiting: self.waiting,
            threads: self
                .threads
                .as_ref()
                .map_or_else(Vec::new, Threads::busiest),
            bytes: self.progress.bytes(),
        }
    }

    fn look_at_threads(&mut self) {
        if let Some(threads) = &mut self.threads {
            threads.look();
        }
    }

    /// Commits the rest and says what was done.
    fn finish(&mut self, quiet: bool, dry_run: bool) -> Result<()> {
        self.commit()?;
        self.look_at_threads();
        self.progress.finish();
        self.left_out.finish()?;
        if let Some(note) = self.tally.reading.lossy_note() {
            self.console.note(&note);
        }
        if let Some(note) = self.tally.other_names_note() {
            self.console.note(&note);
        }
        let elapsed = self.progress.elapsed();
        if self.output.is_json() {
            let mut summary = self.tally.to_json(elapsed);
            if dry_run {
                summary["dry_run"] = true.into();
            }
            self.output.object(&summary)?;
        } else if self.lists_matches {
            self.output.flush()?;
            self.console.text(&self.tally.to_text(elapsed));
        } else if !quiet {
            let text = self.tally.to_text(elapsed);
            self.output.line(text.trim_end())?;
        }
        self.output.flush()?;
        if dry_run {
            self.console.note("this was a dry run: nothing was stored");
        }
        Ok(())
    }
}

fn match_object(key: &str, earlier: &Match) -> Value {
    json!({
        "key": key,
        "earlier": earlier.key,
        "jaccard": earlier.jaccard,
        "estimate": earlier.estimate.jaccard,
        "error": earlier.estimate.error,
        "bands": earlier.bands,
        "exact_copy": earlier.exact_copy,
    })
}

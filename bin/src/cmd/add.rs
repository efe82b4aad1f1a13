//! `add`: stores files and records.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dedupdb::{Match, Options, Progress, Schema, Store};
use dedupdb_corpus::{AddEvent, AddSummary, EndReason, nothing_at};

use crate::args::{AddArgs, Args};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, check_stdin, is_nameless, sources};
use crate::interrupt;
use crate::json;
use crate::left_out::{LeftOutReporter, NamingScope};
use crate::number::similarity;
use crate::output::{Output, copy_column, escape};
use crate::processor::ProcessorTimes;
use crate::progress::ReadingBar;
use crate::read_counts::{ALL_SKIPPED, ReadCountsText as _};
use crate::timings::AddTimes;
use crate::{store, tally};

/// Runs `add`.
pub(crate) fn run(
    args: &Args,
    add: &AddArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    check_arguments(add)?;
    add.files.telling.check(&add.paths, &[])?;
    let options = add.files.inputs.options().store(&args.store);
    add.files.inputs.check(&options, &add.paths, console)?;
    store::check_shingles(args, &add.files.inputs, &Schema::default())?;
    let progress = interrupt::catch()?;
    // The folder of a temporary store is dropped after the store.
    let opening = unique_options(args, add);
    let (pretended, store) = if add.dry_run {
        store::open_or_pretend(args, &opening)?
    } else if let Some(store) =
        store::open_or_create(args, opening, &Schema::default(), &progress, console)?
    {
        (None, store)
    } else {
        console.error("stopped; nothing was stored");
        return Ok(Exit::Interrupted);
    };
    check_passages(args, add, &store, console)?;
    let remembered = store.id_scope();
    let asked = dedupdb_corpus::Add::new(sources(&add.paths, add.key.as_deref()))
        .reading(options.clone())
        .unique(add.unique)
        .evidence(add.matches)
        .reread(add.checksum)
        .memory(add.memory)
        .pretend(add.dry_run && pretended.is_none());
    let paths = add.paths.clone();
    let plan = move || options.disk_bytes(sources(&paths, None));
    let mut telling = AddReporter {
        add,
        console,
        output,
        left_out: LeftOutReporter::begin(console, &add.files.telling, NamingScope::Failures)?,
        bar: ReadingBar::new(console, plan, &progress),
        threads: add.timings.then(ProcessorTimes::default),
        failed: None,
    };
    let added = asked.run(&store.watched(&progress), |event| {
        let told = telling.tell(event);
        progress.stop_on(told, &mut telling.failed);
    });
    if let Some(error) = telling.failed.take() {
        return Err(error);
    }
    let added = added.map_err(store::of_corpus)?;
    if let Some(note) = tally::id_scope_note(remembered, store.id_scope()) {
        console.note(&note);
    }
    telling.look_at_threads();
    telling.finish(&added, &store::command(args), args.quiet)?;
    let notes = [
        added.reading.no_id_note(&add.files.inputs),
        added.reading.no_match_note(&add.files.inputs),
        added.reading.no_exclusion_note(&add.files.inputs),
        added.reading.short_note(&store.schema()),
    ];
    for note in notes.into_iter().flatten() {
        console.note(&note);
    }
    store::note_cut_short(store.searches_cut_short(), args, console);
    if let Some(threads) = &telling.threads {
        let spent = AddTimes {
            stages: store.timings(),
            waiting: added.waiting,
            threads: threads.busiest(),
            bytes: progress.done(),
        };
        console.text(&spent.to_text());
    }
    Ok(exit(&added, add.dry_run, &progress, console))
}

/// Refuses a search for what contains a document in a store that finds no passages, and says if it does not look into all
/// texts.
fn check_passages(args: &Args, add: &AddArgs, store: &Store, console: &Console) -> Result<()> {
    if add.containment.is_none() {
        return Ok(());
    }
    if store.schema().passage() == 0 {
        bail!("{}", store::without_passages(args, store));
    }
    store::note_unfingerprinted(store, args, console)
}

/// How the store is opened: with what counts as a duplicate.
fn unique_options(args: &Args, add: &AddArgs) -> Options {
    let options = store::options(args);
    match add.containment {
        Some(share) => options.containment(share),
        None => options,
    }
}

/// The exit code. Reports why the command ended early, if it did.
fn exit(added: &AddSummary, dry_run: bool, progress: &Progress, console: &Console) -> Exit {
    match added.ended {
        EndReason::Stopped if dry_run => {
            console.error("stopped; the rest was not looked at");
            Exit::Interrupted
        }
        EndReason::Stopped => {
            console.error("stopped; what was added so far is kept, and the same command continues");
            Exit::Interrupted
        }
        EndReason::Full => {
            console.error(
                "the rest was not looked at: a dry run keeps what it has met in memory, up to half \
                 of --memory; give more, or fewer paths",
            );
            Exit::Failed
        }
        _ => {
            let exit = Exit::failed(added.reading.has_failures());
            if dry_run {
                exit
            } else {
                exit.unless_stopped(progress, console)
            }
        }
    }
}

/// Refuses arguments that make no sense, before a store is made for them.
fn check_arguments(add: &AddArgs) -> Result<()> {
    check_stdin(add.paths.iter().map(PathBuf::as_path))?;
    let nameless = add.paths.iter().filter(|path| is_nameless(path));
    let nameless: Vec<&PathBuf> = nameless.collect();
    match (nameless.as_slice(), &add.key) {
        ([], Some(_)) => bail!("--key names the text on standard input; give - as its path"),
        ([_, _, ..], Some(_)) => bail!("--key names one text; add one at a time"),
        ([one, ..], None) if add.files.inputs.is_one_document(one) => {
            let text = if is_stdin(one) {
                "the text on standard input".to_owned()
            } else {
                format!("the text of {}", one.display())
            };
            bail!("{text} has no name; give it one with --key")
        }
        _ => {}
    }
    let has_stdin = add.paths.iter().any(|path| is_stdin(path));
    if !has_stdin && !add.paths.iter().any(|path| path.symlink_metadata().is_ok()) {
        let first = add.paths.first().map_or(Path::new(""), PathBuf::as_path);
        bail!("{}: {}", first.display(), nothing_at(first));
    }
    Ok(())
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// Reports on an add.
struct AddReporter<'a> {
    add: &'a AddArgs,
    console: &'a Console,
    output: &'a mut Output,
    left_out: LeftOutReporter,
    bar: ReadingBar,
    /// Present if the times are asked for.
    threads: Option<ProcessorTimes>,
    /// An error of this program that ends the add.
    failed: Option<anyhow::Error>,
}

impl AddReporter<'_> {
    fn tell(&mut self, event: AddEvent<'_>) -> Result<()> {
        match event {
            AddEvent::Forgotten { documents } if !self.add.dry_run => {
                super::judging::note_forgotten(documents, self.console);
                Ok(())
            }
            AddEvent::Skipped(skipped) => self.left_out.tell(skipped),
            AddEvent::Like {
                key,
                earlier,
                is_kept_out,
            } if self.add.matches => (self.list(key, earlier, is_kept_out)).map_err(Into::into),
            AddEvent::Batch => {
                self.look_at_threads();
                if self.add.matches {
                    self.output.flush().map_err(Into::into)
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    fn look_at_threads(&mut self) {
        if let Some(threads) = &mut self.threads {
            threads.look();
        }
    }

    /// Writes a near-duplicate or copy that was found.
    fn list(&mut self, key: &str, earlier: &Match, is_kept_out: bool) -> io::Result<()> {
        if self.output.is_json() {
            let object = json::AddMatchJson::new(key, earlier, is_kept_out);
            return self.output.object(&object);
        }
        if self.add.containment.is_some() {
            let change = if is_kept_out { "kept out" } else { "stored" };
            let shares = super::query::contained_columns(earlier);
            return self.output.line(format!(
                "{}\t{}\t{shares}\t{change}",
                escape(key),
                escape(&earlier.key)
            ));
        }
        let similarity = similarity(earlier.jaccard, earlier.estimate);
        let copy = copy_column(earlier.exact_copy, earlier.jaccard);
        self.output.line(format!(
            "{}\t{}\t{similarity}{copy}",
            escape(key),
            escape(&earlier.key)
        ))
    }

    /// Reports what was done.
    fn finish(&mut self, added: &AddSummary, dedupdb: &str, quiet: bool) -> Result<()> {
        self.bar.finish();
        self.left_out.finish()?;
        let notes = [
            added.reading.lossy_note(),
            added.reading.unsplit_note(),
            tally::same_ids_note(added),
            tally::rekeyed_note(added),
            tally::other_names_note(added),
            tally::renamed_note(added, dedupdb),
            tally::gone_note(added, dedupdb),
            tally::stale_note(added, dedupdb),
            tally::pairs_note(added, self.add, dedupdb),
        ];
        for note in notes.into_iter().flatten() {
            self.console.note(&note);
        }
        if let Some(warning) = tally::replaced_warning(added) {
            self.console.warning(&warning);
        }
        if added.documents() == 0 && added.ended == EndReason::All {
            self.console
                .note("there was nothing to add: no file or record was found");
        }
        if added.reading.is_all_skipped() && added.unchanged + added.stale == 0 {
            self.console.note(ALL_SKIPPED);
        }
        let elapsed = self.bar.elapsed();
        let to_text = || tally::to_text(added, Some(self.add), dedupdb, elapsed);
        if self.output.is_json() {
            let summary = json::AddJson::new(added, elapsed, self.add.dry_run);
            self.output.object(&summary)?;
        } else if self.add.matches {
            self.output.flush()?;
            self.console.text(&to_text());
        } else if !quiet {
            self.output.line(to_text().trim_end())?;
        }
        self.output.flush()?;
        if self.add.dry_run {
            self.console.note("this was a dry run: nothing was stored");
        }
        Ok(())
    }
}

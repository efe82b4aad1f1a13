//! `dedup`: writes a corpus without its near-duplicates.

use std::io::{self, ErrorKind, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use dedupdb::{Options, Progress};
use dedupdb_corpus::dedup::{
    self, ContainmentConflict, DedupSummary, Keep, PathTerminator, PreparedRun,
};

use super::judging::{
    DedupReporter, exclusion_note, explained, given, judged, mismatched, nothing_note, schema,
    short_note, store_options, tell_compared, words_note,
};
use crate::args::{self, Args, ComparisonArgs};
use crate::closed_input;
use crate::console::Console;
use crate::dedup_summary;
use crate::exit::Exit;
use crate::inputs::{STDIN, check_not_read, check_stdin, check_stdin_outputs, is_stdin};
use crate::interrupt;
use crate::json;
use crate::left_out::advice;
use crate::number::{counted, grouped};
use crate::output::Output;
use crate::progress::ReadingBar;
use crate::read_counts::ReadCountsText as _;
use crate::store;

/// Runs `dedup`.
pub(crate) fn run(
    args: &Args,
    dedup: &args::DedupArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if dedup.removed.as_deref() == Some(Path::new(STDIN)) {
        bail!("--removed needs the name of a file; only OUTPUT can be standard output");
    }
    if dedup.judging.against.is_some() && args.store_given {
        bail!(
            "--against and --store (or DEDUPDB_STORE) both say what to compare with; leave one of them out"
        );
    }
    if dedup.judging.against.as_deref() == Some(Path::new(STDIN)) {
        bail!(
            "--against needs the name of a file, a folder or a store; only INPUT can be standard input"
        );
    }
    let named = dedup.paths.iter().chain(&dedup.judging.keys_from);
    check_stdin(named.map(PathBuf::as_path))?;
    let places = file(dedup).into_iter().chain(dedup.removed.as_deref());
    let places: Vec<&Path> = places.collect();
    dedup.judging.telling.check(&dedup.paths, &places)?;
    check_stdin_file(dedup, &places)?;
    let judging = &dedup.judging;
    let read = judging.keys_from.iter().chain(&dedup.listed.files_from);
    let read = read.chain(&judging.ignored.ignore);
    check_not_read(&places, read)?;
    let mut options = dedup.judging.inputs.options();
    if args.store_given {
        options = options.store(&args.store);
    }
    dedup
        .judging
        .inputs
        .check(&options, &dedup.paths, console)?;
    check_folder(dedup)?;
    write(args, dedup, console, output)
}

/// Refuses to write over the file that standard input reads, or to compare it with that.
fn check_stdin_file(dedup: &args::DedupArgs, outputs: &[&Path]) -> Result<()> {
    check_stdin_outputs(outputs, &dedup.paths)?;
    let is_read = |file: &&Path| is_stdin(file, &dedup.paths);
    if let Some(against) = dedup.judging.against.as_deref().filter(is_read) {
        bail!(
            "{}: standard input (-) is this file, so it would be compared with itself and dropped; compare it with \
             another one",
            against.display()
        );
    }
    Ok(())
}

/// Refuses the name of a text for the folder that one text is written to.
fn check_folder(dedup: &args::DedupArgs) -> Result<()> {
    const TEXTS: [&str; 5] = ["htm", "html", "md", "text", "txt"];
    let ([only], Some(folder), false) = (&dedup.paths[..], file(dedup), dedup.list) else {
        return Ok(());
    };
    let extension = folder.extension().and_then(|extension| extension.to_str());
    let is_text = extension.is_some_and(|extension| TEXTS.contains(&extension));
    if is_text && only.is_file() && dedup.judging.inputs.is_one_document(only) {
        bail!(
            "{}: files of text are written to a folder, and this is the name of a file; name a folder",
            folder.display()
        );
    }
    Ok(())
}

/// Writes the documents that are kept.
fn write(
    args: &Args,
    dedup: &args::DedupArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    // The list of keys may be a pipe without a writer, so read it while a signal still ends the process.
    let options = store_options(args, &dedup.judging, console)?;
    let asked = asked(args, dedup, options.clone())?;
    let progress = interrupt::catch()?;
    let begun = asked.progress(&progress).begin().map_err(conflicting)?;
    let parameters = &dedup.judging.parameters;
    let Some(begun) = with_store(begun, args, (parameters, options), &progress, console)? else {
        return Ok(stopped(dedup, console));
    };
    let store = if args.store_given {
        &*args.store
    } else {
        Path::new("")
    };
    let (inputs, telling) = (&dedup.judging.inputs, &dedup.judging.telling);
    let mut told = DedupReporter::new(store, &dedup.paths, inputs, telling, console, &progress)?;
    let ran = begun.run(|event| told.observe(event));
    told.bar.finish();
    if let Some(error) = told.failed {
        return Err(error);
    }
    let done = match ran {
        Ok(done) => done,
        Err(dedup::Error::Stopped) => return Ok(stopped(dedup, console)),
        Err(dedup::Error::Stream { source }) if is_cut(&source, dedup) => {
            bail!("the reader of the output closed it early, so --removed is not written");
        }
        Err(dedup::Error::FirstFailure) => {
            let name = name(dedup);
            console.error(&format!(
                "stopped at the first failure; {name} is not written"
            ));
            return Ok(Exit::Failed);
        }
        Err(dedup::Error::Unreadable { place }) => bail!(
            "{place} could not be read, so {} (leave it out, or give --skip-unreadable)",
            unwritten(dedup)
        ),
        Err(error) => return Err(of_input(&error, dedup).unwrap_or_else(|| explained(error))),
    };
    store::note_cut_short(done.searches_cut_short, args, console);
    let skipped = done.reading.all_skipped().saturating_sub(done.unmarked);
    let note = (!dedup.list && skipped > 0).then(|| {
        let skipped = grouped(skipped);
        format!("what was skipped ({skipped}) is not in the output; --skipped FILE lists it")
    });
    report_run(&done, note, args, dedup, &told.bar, console, output)?;
    if !done.is_written && done.read_nothing() {
        bail!("nothing could be read; {} is not written", name(dedup));
    }
    if !done.is_written {
        bail!("{}: {}", name(dedup), nothing_kept(&done, args));
    }
    Ok(Exit::failed(done.has_failures() || told.unread > 0))
}

/// Says which options do not go together with --containment, if the error is about it.
fn conflicting(error: dedup::Error) -> anyhow::Error {
    let dedup::Error::Containment { conflict } = error else {
        return explained(error);
    };
    anyhow!(match conflict {
        ContainmentConflict::Store =>
            "--containment compares the input with itself, without a store: leave out --store (or DEDUPDB_STORE); `add \
             --unique --containment` keeps out of a store what a stored text contains",
        ContainmentConflict::Against =>
            "--containment compares the input with itself: leave out --against, or give both places as INPUT; `query \
             --containment` finds the stored texts that contain one",
        ContainmentConflict::Protection =>
            "--containment does not go together with --protect or --keys-from; leave one of them out",
        ContainmentConflict::Keep =>
            "--containment always keeps the longer text of two; leave out --keep, or give --keep longest",
        _ => return explained(error),
    })
}

/// Why an output without documents does not replace the one that is there, and what to do.
fn nothing_kept(done: &DedupSummary, args: &Args) -> String {
    let complete = if args.store_given && done.of_history.all() > 0 {
        "it is complete if a run that was killed wrote it; otherwise, "
    } else {
        ""
    };
    format!(
        "no new document was kept, and --force does not replace an output with one that has none; what is there stays \
         ({complete}remove it yourself, or write to another place)"
    )
}

/// The state of the output after a run that failed.
fn unwritten(dedup: &args::DedupArgs) -> &'static str {
    match file(dedup) {
        Some(_) => "nothing is written",
        None => "standard output may have a part of what is kept",
    }
}

/// What to do about a table that cannot be read completely, if the error is about one.
fn of_input(error: &dedup::Error, dedup: &args::DedupArgs) -> Option<anyhow::Error> {
    let dedup::Error::Input { path, source } = error else {
        return None;
    };
    let place = path.display();
    let advice = error.hint().map_or("", advice);
    let written = unwritten(dedup);
    // If this is the only file, nothing would be left.
    let is_alone = matches!(&dedup.paths[..], [only] if only.is_file());
    let more = if is_alone {
        ""
    } else if dedup.judging.skip_unreadable {
        " (some of it was read before; to go on without it, leave it out with --exclude)"
    } else {
        " (to go on without it, leave it out with --exclude, or give --skip-unreadable)"
    };
    Some(anyhow!("{place}: {source}{advice}; {written}{more}"))
}

/// Reports that the user asked to stop.
fn stopped(dedup: &args::DedupArgs, console: &Console) -> Exit {
    console.error(&format!(
        "stopped; {} is not written, and the same command starts again",
        name(dedup)
    ));
    Exit::Interrupted
}

/// The output file, unless the output is standard output.
fn file(dedup: &args::DedupArgs) -> Option<&Path> {
    let output = dedup.output.as_deref();
    output.filter(|output| *output != Path::new(STDIN))
}

fn name(dedup: &args::DedupArgs) -> String {
    match file(dedup) {
        Some(file) => file.display().to_string(),
        None => "standard output".to_owned(),
    }
}

/// What the arguments ask for.
fn asked(args: &Args, dedup: &args::DedupArgs, options: Options) -> Result<dedup::Dedup> {
    let asked = judged(args, &dedup.paths, &dedup.judging, options)?
        .removed_as_json(args.json)
        .replace(dedup.force);
    let mut asked = if let Some(file) = file(dedup) {
        asked.output(file)
    } else {
        closed_input::check()?;
        asked.output_to(stdout())
    };
    if dedup.list {
        asked = asked.list(if dedup.print0 {
            PathTerminator::Nul
        } else {
            PathTerminator::Line
        });
    }
    if let Some(removed) = &dedup.removed {
        asked = asked.removed(removed);
    }
    if let Some(name) = &dedup.mark {
        asked = asked.mark(name);
    }
    asked = asked.keep_by(dedup.prefer.iter().chain(&dedup.keep_by).cloned());
    if let Some(least) = dedup.contained.containment {
        asked = asked.containment(least).shortest(dedup.contained.shortest);
    }
    if let Some(unit) = dedup.unit {
        let units = asked.unit(unit.into()).min_words(dedup.min_words);
        asked = units;
    }
    if let Some(words) = dedup.cut_passages {
        if args.store_given {
            bail!(
                "--cut-passages compares the input with itself: leave out --store (or DEDUPDB_STORE)"
            );
        }
        asked = asked
            .cut_passages(usize::try_from(words)?)
            .min_count(dedup.min_count);
    }
    asked = asked.drop_above(dedup.drop_above);
    if args.store_given {
        asked = asked.store_folder(&args.store);
    }
    Ok(asked)
}

/// Opens or makes the store, if one is named.
///
/// Returns `None` if the user asked to stop before that.
fn with_store(
    prepared: PreparedRun,
    args: &Args,
    (parameters, options): (&ComparisonArgs, Options),
    progress: &Progress,
    console: &Console,
) -> Result<Option<PreparedRun>> {
    if !args.store_given {
        return Ok(Some(prepared));
    }
    let schema = schema(parameters)?;
    let options = options.expect(given(parameters));
    let opened = store::open_or_create(args, options, &schema, progress, console);
    let Some(store) = opened.map_err(|error| mismatched(&args.store, error))? else {
        return Ok(None);
    };
    if std::env::var_os("DEDUPDB_STORE").is_some_and(|place| *place == *args.store) {
        console.note(&format!(
            "DEDUPDB_STORE names the store {}: what is stored there is dropped, and what is kept is stored",
            args.store.display()
        ));
    }
    Ok(Some(prepared.store(&store)))
}

/// Whether the reader of the output ended a run that writes something else, too.
fn is_cut(error: &io::Error, dedup: &args::DedupArgs) -> bool {
    error.kind() == ErrorKind::BrokenPipe && dedup.removed.is_some()
}

/// A note about records that are in the output but were not compared.
pub(super) fn unmarked_note(unmarked: u64) -> Option<String> {
    let records = counted(
        unmarked,
        "record gives no document: it is in the output, and its marks are null",
        "records give no document: they are in the output, and their marks are null",
    );
    (unmarked > 0).then_some(records)
}

/// A note on a field that only the name of a folder has.
fn folder_field_note(field: Option<&str>) -> Option<String> {
    let field = field?;
    Some(format!(
        "{field} is the name of a folder, and no field of the records in the output; an output folder keeps it"
    ))
}

/// A note for users who delete the files of dropped documents.
fn of_itself_note(of_itself: u64, is_against: bool) -> Option<String> {
    let place = if is_against { "in --against" } else { "stored" };
    let documents = counted(of_itself, "dropped document is", "dropped documents are");
    let file = if of_itself == 1 {
        "its file may be the only copy, so do not delete it"
    } else {
        "their files may be the only copies, so do not delete them"
    };
    (of_itself > 0).then(|| format!("{documents} {place} already, by key or file: {file}"))
}

/// A note on where the folder or file is that was in the place of the output.
pub(super) fn aside_note(aside: Option<&Path>) -> Option<String> {
    let aside = aside?.display();
    Some(format!(
        "what was in the place of the output is {aside} now"
    ))
}

/// A note on which of several similar files is kept, unless that was chosen.
fn kept_note(done: &DedupSummary, dedup: &args::DedupArgs) -> Option<String> {
    let files = done.kept + done.dropped() > done.reading.records();
    (files
        && dedup.unit.is_none()
        && dedup.cut_passages.is_none()
        && dedup.judging.keep.is_none()
        && done.without_field.is_empty()
        && dedup.contained.containment.is_none()
        && dedup.judging.keys_from.is_none()
        && done.of_input.all() > 0)
        .then(|| {
            "of similar files, the first in path order is kept (--keep longest keeps the one that says more)"
                .to_owned()
        })
}

/// Reports what was done.
fn report_run(
    done: &DedupSummary,
    note: Option<String>,
    args: &Args,
    dedup: &args::DedupArgs,
    bar: &ReadingBar,
    console: &Console,
    output: &mut Output,
) -> Result<()> {
    let elapsed = bar.elapsed();
    let notes = [
        done.reading.lossy_note(),
        done.reading.unsplit_note(),
        done.reading.no_id_note(&dedup.judging.inputs),
        done.reading.no_match_note(&dedup.judging.inputs),
        exclusion_note(done, &dedup.judging),
        short_note(done, args, &dedup.judging)?,
        nothing_note(done),
        kept_note(done, dedup),
        words_note(done, &dedup.judging),
        unmarked_note(done.unmarked),
        folder_field_note(done.folder_field.as_deref()),
        note,
        of_itself_note(done.of_itself, dedup.judging.against.is_some()),
        aside_note(done.aside.as_deref()),
    ];
    for note in notes.into_iter().flatten() {
        console.note(&note);
    }
    tell_compared(done, console);
    if !args.json {
        let earlier = match dedup.unit {
            Some(_) => "stored ones",
            None if dedup.judging.against.is_some() => "documents of --against",
            None => "stored documents",
        };
        let kept = match dedup.judging.keep {
            _ if dedup.unit.is_some() => "earlier ones",
            Some(Keep::None) => "documents of the input",
            _ => "kept documents",
        };
        let has_converter = dedup.judging.inputs.pre.is_some();
        console.text(&dedup_summary::to_text(
            done,
            kept,
            earlier,
            has_converter,
            elapsed,
        ));
    } else if file(dedup).is_some() {
        output.object(&json::DedupJson::new(done, elapsed))?;
    } else {
        // Standard output has the documents.
        console.object(&json::DedupJson::new(done, elapsed))?;
    }
    Ok(())
}

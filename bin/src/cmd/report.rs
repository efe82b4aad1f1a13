//! `report`: writes a page for looking through the clusters and deciding what to do.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dedupdb::{Progress, Schema, Store};
use dedupdb_corpus::publish::check_output;
use dedupdb_corpus::report::{Commands, Page, Report, Summary};
use dedupdb_corpus::{ReadCounts, TemporaryStore, nothing_at};

use super::passages::{check_store, note_length};
use crate::args::{self, Args};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, check_stdin};
use crate::interrupt::{self, SignalExit};
use crate::json;
use crate::left_out::{LeftOutReporter, NamingScope};
use crate::number::{bytes, counted};
use crate::output::Output;
use crate::read_counts::ReadCountsText;
use crate::store;
use crate::temporary;
use crate::watch::{ProgressWatch, StepUnit};

/// Runs `report`.
pub(crate) fn run(
    args: &Args,
    report: &args::ReportArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if let Some(text) = &report.sources {
        return super::report_sources::run(args, report, text, console, output);
    }
    check_arguments(args, report, console)?;
    // Interrupts are caught only later, so that a signal ends a wait for the store at once.
    let (opened, reading);
    if report.paths.is_empty() {
        opened = ReportedStore {
            store: store::open_to_read(args)?,
            temporary: None,
        };
        reading = None;
    } else {
        let progress = interrupt::catch()?;
        let Some((made, read)) = of_paths(args, report, console, &progress)? else {
            console.error(STOPPED);
            return Ok(Exit::Interrupted);
        };
        if read.has_failures() && made.store.stats()?.documents == 0 {
            let name = report.output.display();
            bail!("nothing could be read; {name} is not written");
        }
        (opened, reading) = (made, Some(read));
    }
    if report.passages {
        check_store(args, &opened.store, report.at_least)?;
    }
    let notes = reading.as_ref().map(|reading| {
        let exclusion = reading.no_exclusion_note(&report.files.inputs);
        [reading.unsplit_note(), exclusion]
    });
    for note in notes.into_iter().flatten().flatten() {
        console.note(&note);
    }
    let has_converter = report.files.inputs.pre.is_some();
    let unread = reading.as_ref();
    let unread = unread.and_then(|reading| reading.left_out_note(has_converter));
    let not_shown = unread.iter().cloned().chain(not_counted(report));
    let asked = asked(args, report, &opened.store, console)?.unread(not_shown);
    let watch = ProgressWatch::new(
        console,
        "looked at",
        StepUnit::Step,
        opened.store.progress(),
    );
    // Clusters are found in one call, so a signal ends the process during it.
    let temporary = opened.temporary.as_ref();
    let folder = temporary.map(|temporary| temporary.place().to_owned());
    let ending = SignalExit::removing(console, STOPPED, folder)?;
    let page = asked.make(&opened.store);
    ending.disarm();
    drop(watch);
    let page = page.map_err(store::of_corpus)?;
    let written = write(&page, report, output)?;
    if let Some(unread) = &unread {
        console.note(unread);
    }
    let skipped = reading.as_ref().map_or(0, ReadCounts::all_skipped);
    tell(page.summary(), (written, skipped), report, console, output)?;
    if report.ignored.ignore.is_empty() {
        store::note_threshold(&opened.store, report.threshold, "", console);
    }
    if report.passages {
        note_length(&opened.store, report.at_least, console);
        store::note_unfingerprinted(&opened.store, args, console)?;
    }
    store::note_cut_short(page.summary().searches_cut_short, args, console);
    Ok(if reading.is_some_and(|reading| reading.has_failures()) {
        Exit::Failed
    } else {
        Exit::found(page.summary().clusters > 0)
    })
}

/// A store, and its temporary folder, which is removed after the store is closed.
struct ReportedStore {
    store: Store,
    temporary: Option<TemporaryStore>,
}

/// The message when the user asks to stop.
pub(super) const STOPPED: &str = "stopped; nothing is written";

/// Says what is in no figure of the page.
pub(super) fn not_counted(report: &args::ReportArgs) -> Vec<String> {
    let ignored = report.ignored.ignore.iter();
    let names: Vec<String> = ignored.map(|path| path.display().to_string()).collect();
    let line = format!(
        "what the texts have of {}: it is not marked, and counts in no share and no similarity",
        names.join(", ")
    );
    (!names.is_empty()).then_some(line).into_iter().collect()
}

pub(super) fn is_file(report: &args::ReportArgs) -> bool {
    report.output != Path::new(STDIN)
}

fn check_arguments(args: &Args, report: &args::ReportArgs, console: &Console) -> Result<()> {
    // Clap does not ask for what an option needs if another one excludes it.
    if report.gap > 0 || !report.against.is_empty() {
        let option = if report.gap > 0 { "gap" } else { "against" };
        bail!("--{option} needs --sources: it is about the page of one text");
    }
    if !report.ignored.ignore.is_empty() && !report.passages {
        bail!(
            "--ignore needs --passages or --sources: other clusters are those of whole texts; `pairs --ignore` compares \
             without a template"
        );
    }
    if !report.paths.is_empty() && args.store_given {
        bail!("PATHs are compared without a store; leave out --store, or the PATHs");
    }
    check_stdin(report.paths.iter().map(PathBuf::as_path))?;
    check_output_of(
        report,
        &[&report.paths[..], &report.ignored.ignore].concat(),
    )?;
    let options = report.files.inputs.options();
    report.files.inputs.check(&options, &report.paths, console)
}

/// Refuses inputs that do not exist, and an output that is, contains or lies in one of them, or must not be replaced.
pub(super) fn check_output_of(report: &args::ReportArgs, paths: &[PathBuf]) -> Result<()> {
    let mut inputs = [paths, &report.texts_from].concat();
    let list = report.files.listed.files_from.clone();
    inputs.extend(list.filter(|list| list.is_file()));
    for path in &inputs {
        if path != Path::new(STDIN) && path.symlink_metadata().is_err() {
            bail!("{}: {}", path.display(), nothing_at(path));
        }
    }
    let outputs = is_file(report).then_some(&*report.output);
    report.files.telling.check(&inputs, outputs.as_slice())?;
    if is_file(report) {
        check_name(&report.output)?;
        check_output(&report.output, &inputs)?;
        Page::check(&report.output, report.force)?;
    }
    Ok(())
}

/// Refuses a name by which programs would take the page for another kind of file.
fn check_name(output: &Path) -> Result<()> {
    const OTHERS: [&str; 11] = [
        "csv", "docx", "json", "jsonl", "md", "parquet", "pdf", "png", "svg", "tsv", "txt",
    ];
    let extension = output.extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| OTHERS.contains(&&*extension.to_ascii_lowercase())) {
        let page = output.with_extension("html");
        bail!(
            "{}: a report is a page of HTML; name it {}",
            output.display(),
            page.display()
        );
    }
    Ok(())
}

/// Makes a store of the given paths, and returns it with what was read.
///
/// Returns `None` if the user asked to stop.
fn of_paths(
    args: &Args,
    report: &args::ReportArgs,
    console: &Console,
    progress: &Progress,
) -> Result<Option<(ReportedStore, ReadCounts)>> {
    let mut schema = Schema::builder();
    if let Some(threshold) = report.threshold {
        schema = schema.threshold(threshold);
    }
    let schema = match (report.passages, report.at_least) {
        (false, _) => schema.passage(0).build()?,
        (true, None) => schema.build()?,
        // Longer passages than a store can be made for are found as well.
        (true, Some(tokens)) => schema.clone().passage(tokens).build().or(schema.build())?,
    };
    report.files.inputs.check_shingles(&schema)?;
    let mut left_out =
        LeftOutReporter::begin(console, &report.files.telling, NamingScope::Failures)?;
    let made = temporary::of_paths(
        args,
        &report.paths,
        (&schema, report.files.inputs.options()),
        &mut left_out,
        progress,
        console,
    )?;
    left_out.finish()?;
    Ok(made.map(|(store, reading)| {
        let opened = ReportedStore {
            store: store.clone(),
            temporary: Some(store),
        };
        (opened, reading)
    }))
}

/// What the arguments ask for.
fn asked(
    args: &Args,
    report: &args::ReportArgs,
    store: &Store,
    console: &Console,
) -> Result<Report> {
    let is_temporary = !report.paths.is_empty();
    let title = if is_temporary {
        let names = report.paths.iter().map(|path| path.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    } else {
        args.store.display().to_string()
    };
    let sources = report.paths.iter().chain(&report.texts_from);
    let sources = sources.filter(|path| *path != Path::new(STDIN));
    let mut asked = Report::new()
        .title(title)
        .linkage(report.linkage.into())
        .shortest(report.contained.shortest)
        .min_size(report.min_size)
        .bytes(report.bytes)
        .texts(!report.no_text)
        .reading(report.files.inputs.options().store(&args.store))
        .texts_from(sources)
        .temporary(is_temporary)
        .commands(commands(report));
    if let Some(threshold) = report.threshold {
        asked = asked.threshold(threshold);
    }
    if report.passages {
        let options = report.files.inputs.options();
        let ignored = report
            .ignored
            .shingles(args, &store.schema(), &options, console)?;
        asked = asked.passages(report.at_least, report.all);
        if let Some(ignored) = ignored {
            asked = asked.ignore(ignored);
        }
    }
    if let Some(least) = report.contained.containment {
        asked = asked.containment(least);
    }
    Ok(asked)
}

/// The commands and options that a page names for its readers.
pub(super) fn commands(report: &args::ReportArgs) -> Commands {
    let mut commands = Commands::default();
    commands.more_bytes = format!("`--bytes` (now {})", bytes(report.bytes));
    for (command, words) in [
        (&mut commands.forget_gone, "dedupdb remove --missing"),
        (&mut commands.add_changed, "dedupdb add"),
        (&mut commands.add_all, "dedupdb add --checksum"),
        (&mut commands.show_texts, "--texts-from PATH"),
        (&mut commands.compare_all, "--all"),
        (
            &mut commands.move_files,
            "dedupdb move FOLDER ASIDE --keys-from drop.keys",
        ),
        (
            &mut commands.write_others,
            "dedupdb dedup RECORDS -o OTHERS --keys-from drop.keys",
        ),
        (
            &mut commands.forget_keys,
            "dedupdb remove --keys-from drop.keys",
        ),
        (
            &mut commands.forget_lines,
            "dedupdb remove --escaped --keys-from drop.txt",
        ),
    ] {
        words.clone_into(command);
    }
    commands
}

/// Writes the page; returns its size in bytes.
pub(super) fn write<S>(
    page: &Page<S>,
    report: &args::ReportArgs,
    output: &mut Output,
) -> Result<u64> {
    if is_file(report) {
        return Ok(page.write(&report.output, report.force)?);
    }
    output.bytes(page.html().as_bytes())?;
    output.flush()?;
    Ok(page.html().len() as u64)
}

/// Reports what was found, and what is not on the page.
fn tell(
    summary: &Summary,
    (written, skipped): (u64, u64),
    report: &args::ReportArgs,
    console: &Console,
    output: &mut Output,
) -> Result<()> {
    let commands = commands(report);
    let lines = [
        summary.no_longer(&commands),
        summary.left_out(true, &commands),
    ];
    for line in lines.iter().flatten() {
        console.note(line);
    }
    if output.is_json() && is_file(report) {
        return Ok(output.object(&json::ReportJson::new(summary, written, skipped))?);
    }
    let clusters = counted(summary.clusters, "cluster", "clusters");
    let documents = counted(summary.clustered, "document", "documents");
    let name = if is_file(report) {
        format!("{}, ", report.output.display())
    } else {
        String::new()
    };
    console.text(&format!(
        "{clusters} of {documents}; {} of duplicates; wrote {name}{}\n",
        bytes(summary.could_go),
        bytes(written)
    ));
    Ok(())
}

//! `decontaminate`: finds benchmark items in a corpus, and writes it without them.

use std::io::{ErrorKind, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use dedupdb::Schema;
use dedupdb_corpus::decontaminate::{BenchmarkItem, Decontaminate, DecontaminateSummary, Rule};
use dedupdb_corpus::{check_path, dedup};

use super::dedup::{aside_note, unmarked_note};
use super::judging::{DedupReporter, explained};
use crate::args::{ActionArg, Args, DecontaminateArgs};
use crate::closed_input;
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, check_not_read, check_stdin, check_stdin_outputs, sources};
use crate::interrupt;
use crate::json;
use crate::keys::NAMED;
use crate::number::{counted, grouped};
use crate::output::{Output, escape};
use crate::read_counts::{ReadCountsText as _, line};

/// Runs `decontaminate`.
pub(crate) fn run(
    args: &Args,
    asked: &DecontaminateArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    check(asked)?;
    let options = asked.files.inputs.options();
    asked.files.inputs.check(&options, &asked.paths, console)?;
    let run = decontaminate(args, asked, console)?;
    let progress = interrupt::catch()?;
    let (inputs, telling) = (&asked.files.inputs, &asked.files.telling);
    let no_store = Path::new("");
    let mut reporter =
        DedupReporter::new(no_store, &asked.paths, inputs, telling, console, &progress)?;
    let ran = run.progress(&progress).run(|event| reporter.observe(event));
    reporter.bar.finish();
    if let Some(error) = reporter.failed {
        return Err(error);
    }
    let done = match ran {
        Ok(done) => done,
        Err(dedup::Error::Stopped) => {
            console.error("stopped; nothing is written, and the same command starts again");
            return Ok(Exit::Interrupted);
        }
        Err(error) => return Err(what_to_do(error, asked)),
    };
    let skipped = done.benchmark_reading.left_out_note(false);
    let notes = [
        done.reading.lossy_note(),
        done.reading.unsplit_note(),
        done.reading.no_match_note(&asked.files.inputs),
        skipped.map(|skipped| format!("of --against, {skipped}")),
        unmarked_note(done.unmarked),
        aside_note(done.aside.as_deref()),
    ];
    for note in notes.into_iter().flatten() {
        console.note(&note);
    }
    name_common(&done, asked.common, console);
    let elapsed = reporter.bar.elapsed();
    if !args.json {
        let is_cutting = asked.action() == ActionArg::Cut;
        let has_converter = asked.files.inputs.pre.is_some();
        console.text(&(to_text(&done, is_cutting, has_converter) + &done.reading.to_text(elapsed)));
    } else if file(asked).is_some() || asked.hits.is_some() && asked.output.is_none() {
        output.object(&json::DecontaminateJson::new(&done, elapsed))?;
    } else {
        // Standard output has the documents or the hits.
        console.object(&json::DecontaminateJson::new(&done, elapsed))?;
    }
    if let (Some(file), false) = (file(asked), done.is_written) {
        bail!(
            "{}: no document is without an item, and --force does not replace an output with one that has none; what is \
             there stays",
            file.display()
        );
    }
    Ok(Exit::failed(done.has_failures()))
}

/// The file of --against and the field of it that PATH:NAME names, if it names a file.
fn own_field<'a>(field: &'a str, asked: &'a DecontaminateArgs) -> Option<(&'a Path, &'a str)> {
    let of = |path: &'a PathBuf| {
        let name = field.strip_prefix(path.to_str()?)?.strip_prefix(':')?;
        (!name.is_empty()).then_some((&**path, name))
    };
    asked.against.iter().find_map(of)
}

/// Adds what helps to an error.
fn what_to_do(error: dedup::Error, asked: &DecontaminateArgs) -> anyhow::Error {
    match error {
        dedup::Error::Unreadable { place } => anyhow!(
            "{place} could not be read, so nothing is written (leave it out, or give --skip-unreadable)"
        ),
        dedup::Error::Stream { source }
            if source.kind() == ErrorKind::BrokenPipe && asked.hits.is_some() =>
        {
            anyhow!("the reader of the output closed it early, so --hits is not written")
        }
        error @ dedup::Error::LacksField { .. } => anyhow!(
            "{error} (--against-field names the fields of the benchmark; --skip-unreadable goes on without this one)"
        ),
        dedup::Error::NothingToCompare | dedup::Error::Benchmark { .. }
            if asked.against_field.is_empty() && asked.ignored.ignore.is_empty() =>
        {
            anyhow!(
                "nothing of --against can be checked: an item has 5 words or more; --against-field names the field with \
                 its text"
            )
        }
        error => explained(error),
    }
}

/// Refuses what cannot be read or written as it is asked for.
fn check(asked: &DecontaminateArgs) -> Result<()> {
    check_stdin(asked.paths.iter().map(PathBuf::as_path))?;
    if asked.against.iter().any(|path| path == Path::new(STDIN)) {
        bail!("--against needs the names of files or folders; only INPUT can be standard input");
    }
    if asked.hits.as_deref() == Some(Path::new(STDIN)) {
        bail!("--hits needs the name of a file; without -o and --hits, hits go to standard output");
    }
    check_action(asked)?;
    let outputs = file(asked).into_iter().chain(asked.hits.as_deref());
    let outputs: Vec<&Path> = outputs.collect();
    let paths = [&asked.paths[..], &asked.against].concat();
    asked.files.telling.check(&paths, &outputs)?;
    let list = &asked.files.listed.files_from;
    let read = asked.ignored.ignore.iter().chain(list);
    check_not_read(&outputs, read)?;
    check_stdin_outputs(&outputs, &asked.paths)
}

/// Refuses options that do not go with the action.
fn check_action(asked: &DecontaminateArgs) -> Result<()> {
    let action = asked.action();
    if asked.mark.is_some() && action != ActionArg::Mark {
        bail!("--mark goes with --action mark alone");
    }
    if asked.margin > 0 && action != ActionArg::Cut {
        bail!("--margin goes with --action cut alone");
    }
    match (action, &asked.output) {
        (ActionArg::List, Some(_)) => bail!("--action list writes no documents; leave out -o"),
        (ActionArg::Drop | ActionArg::Cut | ActionArg::Mark, None) => {
            bail!("this action writes documents; -o names where, and --action list writes none")
        }
        _ => Ok(()),
    }
}

/// The output file, unless the output is standard output.
fn file(asked: &DecontaminateArgs) -> Option<&Path> {
    let output = asked.output.as_deref();
    output.filter(|output| *output != Path::new(STDIN))
}

/// What the arguments ask for.
fn decontaminate(
    args: &Args,
    asked: &DecontaminateArgs,
    console: &Console,
) -> Result<Decontaminate> {
    let rule = Rule::new();
    let mut rule = rule.passage(asked.passage).containment(asked.containment);
    let schema = Schema::builder().shingling(Rule::SHINGLING).build()?;
    let ignored = &asked.ignored;
    let options = asked.files.inputs.options();
    if let Some(ignored) = ignored.shingles(args, &schema, &options, console)? {
        rule = rule.ignore(&ignored);
    }
    for field in &asked.against_field {
        let path = own_field(field, asked).map_or(&**field, |(_, path)| path);
        check_path(path).map_err(|error| anyhow!("--against-field: {error}"))?;
    }
    let own = asked
        .against_field
        .iter()
        .map(|field| (field, own_field(field, asked)));
    let (own, of_all): (Vec<_>, Vec<_>) = own.partition(|(_, own)| own.is_some());
    let of_all = of_all.into_iter().map(|(field, _)| field);
    let mut run = Decontaminate::new(sources(&asked.paths, None), &asked.against)
        .reading(asked.files.inputs.options())
        .fields(of_all)
        .rule(rule)
        .common(asked.common)
        .hits_as_json(args.json)
        .replace(asked.force)
        .skip_unreadable(asked.skip_unreadable);
    for (path, field) in own.into_iter().filter_map(|(_, own)| own) {
        run = run.field_of(path, field);
    }
    match (&asked.output, file(asked)) {
        (_, Some(file)) => run = run.output(file),
        (Some(_), None) => {
            closed_input::check()?;
            run = run.output_to(stdout());
        }
        (None, None) if asked.hits.is_none() => {
            closed_input::check()?;
            run = run.hits_to(stdout());
        }
        (None, None) => {}
    }
    run = match asked.action() {
        ActionArg::Cut => run.cut(usize::try_from(asked.margin)?),
        ActionArg::Mark => run.mark(asked.mark.as_deref().unwrap_or("benchmark")),
        ActionArg::Drop | ActionArg::List => run,
    };
    if let Some(hits) = &asked.hits {
        run = run.hits(hits);
    }
    Ok(run)
}

/// Names the items that are in many documents.
fn name_common(done: &DecontaminateSummary, common: u64, console: &Console) {
    let named = usize::try_from(NAMED).unwrap_or(usize::MAX);
    for (item, documents) in done.common.iter().take(named) {
        let BenchmarkItem {
            benchmark,
            key,
            field,
            ..
        } = item;
        let field = field.as_ref().map(|field| format!(", field {field:?}"));
        console.note(&format!(
            "{}: {}{} is in {}, and may be a template",
            benchmark.display(),
            escape(key),
            field.unwrap_or_default(),
            counted(*documents, "document", "documents"),
        ));
    }
    let more = done.common.len().saturating_sub(named) as u64;
    if more > 0 {
        let items = counted(more, "more item is", "more items are");
        console.note(&format!(
            "{items} in more than {} documents",
            grouped(common)
        ));
    }
}

/// The counts as lines for people.
fn to_text(done: &DecontaminateSummary, is_cutting: bool, has_converter: bool) -> String {
    let mut text = line("documents", done.documents, "");
    text += &line("  clean", done.kept - done.cut, "");
    text += &line("  with an item", done.hit, "");
    if is_cutting {
        text += &line("    cut", done.cut, "");
        text += &line("    dropped", done.hit - done.cut, "");
    }
    text += &done.reading.skipped_line(has_converter).unwrap_or_default();
    for counts in &done.benchmarks {
        let unchecked = match counts.unchecked {
            0 => String::new(),
            unchecked => format!(", {} too short", grouped(unchecked)),
        };
        let more = format!(
            "   {} found in {}{unchecked}: {}",
            grouped(counts.hit),
            counted(counts.documents, "document", "documents"),
            escape(&counts.benchmark.display().to_string()),
        );
        text += &line("benchmark items", counts.items, &more);
    }
    text
}

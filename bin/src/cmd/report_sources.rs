//! `report --sources`: writes a page of what one text shares with which documents.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use dedupdb::Progress;
use dedupdb_corpus::report::{Page, Report, SourcesSummary};
use dedupdb_corpus::{Options, SourcedText};

use super::passages::{OpenedStore, check_arguments, note_length, note_nothing};
use super::report::{STOPPED, check_output_of, commands, is_file, not_counted, write};
use crate::args::{Args, PassagesArgs, ReportArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{STDIN, sources};
use crate::interrupt::{self, SignalExit};
use crate::json;
use crate::left_out::{LeftOutReporter, NamingScope, advice};
use crate::number::{bytes, counted, percent};
use crate::output::{Output, escape};
use crate::store;

/// Runs `report --sources`.
pub(super) fn run(
    args: &Args,
    report: &ReportArgs,
    text: &Path,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let asked = asked(report, text);
    let options = check_arguments(args, &asked, console)?;
    let inputs = [&asked.paths[..], &asked.against, &report.ignored.ignore].concat();
    check_output_of(report, &inputs)?;
    let document = document(text, &options)?;
    let progress = if asked.against.is_empty() {
        Progress::new()
    } else {
        interrupt::catch()?
    };
    let mut left_out = LeftOutReporter::begin(console, &asked.files.telling, NamingScope::First)?;
    let opened = OpenedStore::open(args, &asked, &mut left_out, &progress, console)?;
    let Some(mut opened) = opened else {
        console.error(STOPPED);
        return Ok(Exit::Interrupted);
    };
    let not_shown = [left_out.failures(), &not_counted(report)].concat();
    left_out.finish()?;
    let schema = opened.store.schema();
    asked.files.inputs.check_shingles(&schema)?;
    opened.ignored = asked.ignored.shingles(args, &schema, &options, console)?;
    let temporary = opened.temporary.as_ref();
    let folder = temporary.map(|temporary| temporary.place().to_owned());
    let ending = SignalExit::removing(console, STOPPED, folder)?;
    let page = page(report, (&asked, &options), &opened, &document, not_shown);
    ending.disarm();
    let page = page?;
    let written = write(&page, report, output)?;
    tell(
        page.summary(),
        &document.key,
        written,
        report,
        console,
        output,
    )?;
    note_length(&opened.store, asked.at_least, console);
    if opened.temporary.is_none() {
        store::note_unfingerprinted(&opened.store, args, console)?;
    }
    let found_any = page.summary().covered > 0;
    if !found_any && !opened.lacks_some {
        note_nothing(&opened.store, &asked, console)?;
    }
    Ok(if opened.lacks_some {
        Exit::Failed
    } else {
        Exit::found(found_any)
    })
}

/// What `passages` would be asked.
fn asked(report: &ReportArgs, text: &Path) -> PassagesArgs {
    PassagesArgs {
        paths: vec![text.to_owned()],
        against: report.against.clone(),
        shingling: report.shingling,
        at_least: report.at_least,
        gap: report.gap,
        limit: None,
        all: report.all,
        files: report.files.clone(),
        ignored: report.ignored.clone(),
    }
}

/// Reads the text.
fn document(text: &Path, options: &Options) -> Result<SourcedText> {
    let text = [text.to_owned()];
    let source = sources(&text, None).into_iter().next();
    let source = source.ok_or_else(|| anyhow!("--sources needs a text"))?;
    let document = options.document(source);
    document.map_err(|skipped| anyhow!("{}", skipped.told(advice)))
}

/// Makes the page.
fn page(
    report: &ReportArgs,
    (asked, options): (&PassagesArgs, &Options),
    opened: &OpenedStore,
    document: &SourcedText,
    unread: Vec<String>,
) -> Result<Page<SourcesSummary>> {
    let store = &opened.store;
    let found = opened.passages(asked, document)?;
    if found.tokens == 0 {
        bail!(
            "{}: it has no {}",
            escape(&document.key),
            store::tokens(store)
        );
    }
    let at_least = asked.at_least.unwrap_or(store.schema().passage());
    let sources = asked.against.iter().chain(&report.texts_from);
    let sources = sources.filter(|path| *path != Path::new(STDIN));
    let mut asked = Report::new()
        .title(document.key.as_str())
        .bytes(report.bytes)
        .reading(options.clone())
        .texts_from(sources.collect::<Vec<&PathBuf>>())
        .unread(unread)
        .commands(commands(report));
    if let Some(ignored) = &opened.ignored {
        asked = asked.ignore(ignored.clone());
    }
    let page = asked.sources(store, document, &found, at_least);
    page.map_err(store::of_corpus)
}

/// Reports what was found, and what is not on the page.
fn tell(
    summary: &SourcesSummary,
    key: &str,
    written: u64,
    report: &ReportArgs,
    console: &Console,
    output: &mut Output,
) -> Result<()> {
    for line in summary.left_out(&commands(report)) {
        console.note(&line);
    }
    if output.is_json() && is_file(report) {
        return Ok(output.object(&json::ReportSourcesJson::new(key, summary, written))?);
    }
    let share = f64::from(summary.covered) / f64::from((summary.tokens - summary.ignored).max(1));
    let [one, many] = summary.unit;
    let words = counted(summary.covered.into(), one, many);
    let documents = counted(summary.documents, "document", "documents");
    let name = if is_file(report) {
        format!("{}, ", report.output.display())
    } else {
        String::new()
    };
    console.text(&format!(
        "{words} ({}) shared with {documents}; wrote {name}{}\n",
        percent(share),
        bytes(written)
    ));
    Ok(())
}

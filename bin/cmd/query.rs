//! `query`: finds documents that are like a text.

use std::path::PathBuf;

use anyhow::Result;
use dedupdb::corpus::{Item, Options, Skipped};
use dedupdb::{Match, Store};
use rayon::prelude::*;

use crate::args::{Args, Query};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::{check_stdin, sources};
use crate::json;
use crate::left_out::{LeftOut, Named};
use crate::number::{percent, similarity};
use crate::output::{Output, escape};

/// Runs `query`.
pub(crate) fn run(
    args: &Args,
    query: &Query,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    check_stdin(query.paths.iter().map(PathBuf::as_path))?;
    query.telling.check(&query.paths, &[])?;
    let store = crate::store::open_to_read(args)?;
    note_recall(&store, query, console);
    let mut asking = Asking {
        store,
        query,
        console,
        output,
        left_out: LeftOut::begin(console, &query.telling, Named::First)?,
        found: false,
        failed: false,
    };
    for key in &query.keys {
        let key = query.escaped.key(key)?;
        let answer = asking.ask(dedupdb::Query::key(&key));
        asking.answer(&key, &key, answer)?;
    }
    if !query.paths.is_empty() {
        let options = query.inputs.options().store(&args.store);
        asking.ask_about_files(&options)?;
    }
    asking.left_out.finish()?;
    crate::store::note_cut_short(asking.store.searches_cut_short(), args, console);
    if !asking.found && !asking.failed {
        let least = query.threshold.unwrap_or(asking.store.schema().threshold());
        asking.output.flush()?;
        console.note(&format!(
            "no stored document has a similarity of {least} or more"
        ));
    }
    Ok(if asking.failed {
        Exit::Failed
    } else {
        Exit::found(asking.found)
    })
}

/// Says what is missed below the threshold that the store was made for.
fn note_recall(store: &Store, query: &Query, console: &Console) {
    let schema = store.schema();
    if let Some(threshold) = query.threshold
        && threshold < schema.threshold()
    {
        console.note(&format!(
            "the store was made for similarities from {}; of the pairs at {threshold} it finds {}",
            schema.threshold(),
            percent(schema.recall(threshold))
        ));
    }
}

/// A question that is being put for one text after another.
struct Asking<'a> {
    store: Store,
    query: &'a Query,
    console: &'a Console,
    output: &'a mut Output,
    left_out: LeftOut,
    found: bool,
    failed: bool,
}

impl Asking<'_> {
    fn ask(&self, question: dedupdb::Query<'_>) -> dedupdb::Result<Vec<Match>> {
        ask(&self.store, self.query, question)
    }

    fn ask_about_files(&mut self, options: &Options) -> Result<()> {
        for batch in options.batches(sources(&self.query.paths, None))? {
            let (store, query) = (&self.store, self.query);
            let asked: Vec<_> = batch?
                .items
                .into_par_iter()
                .map(|item| match item {
                    Item::Document(document) => {
                        let text = dedupdb::Query::text(document.text()).except(&document.key);
                        let answer = ask(store, query, text);
                        Ok((document.into_origin(), answer))
                    }
                    Item::Skipped(skipped) => Err(Some(skipped)),
                    _ => Err(None),
                })
                .collect();
            for asked in asked {
                match asked {
                    Ok((document, answer)) => {
                        self.answer(&document.key, &document.place(), answer)?;
                    }
                    Err(Some(skipped)) => self.skip(&skipped)?,
                    Err(None) => {}
                }
            }
        }
        Ok(())
    }

    /// Prints the answer about the text named `name`, which came from `place`.
    fn answer(
        &mut self,
        name: &str,
        place: &str,
        answer: dedupdb::Result<Vec<Match>>,
    ) -> Result<()> {
        let matches = match answer {
            Ok(matches) => matches,
            Err(error) if is_of_one_text(&error) => {
                let message = match error {
                    dedupdb::Error::NoSuchDocument { .. } => error.to_string(),
                    error => format!("{place}: {error}"),
                };
                self.console.error(&message);
                self.failed = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        self.found |= !matches.is_empty();
        for found in &matches {
            if self.output.is_json() {
                self.output.object(&json::Found::new(name, found))?;
            } else {
                self.output.line(line(name, found))?;
            }
        }
        Ok(())
    }

    fn skip(&mut self, skipped: &Skipped) -> Result<()> {
        self.failed |= skipped.reason.is_failure();
        self.left_out.tell(skipped)
    }
}

fn ask(
    store: &Store,
    query: &Query,
    mut question: dedupdb::Query<'_>,
) -> dedupdb::Result<Vec<Match>> {
    if let Some(threshold) = query.threshold {
        question = question.threshold(threshold);
    }
    if let Some(limit) = query.limit {
        question = question.limit(limit);
    }
    store.query(&question)
}

/// Whether other texts can still be asked about.
fn is_of_one_text(error: &dedupdb::Error) -> bool {
    matches!(
        error,
        dedupdb::Error::NoSuchDocument { .. } | dedupdb::Error::InvalidText { .. }
    )
}

fn line(query: &str, found: &Match) -> String {
    let copy = if found.exact_copy { "exact copy" } else { "" };
    format!(
        "{}\t{}\t{}\t{copy}",
        escape(query),
        escape(&found.key),
        similarity(found.jaccard, found.estimate)
    )
}

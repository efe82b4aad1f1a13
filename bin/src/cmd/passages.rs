//! `passages`: what texts share with stored documents, word for word.

use std::path::PathBuf;

use anyhow::Result;
use dedupdb::Store;
use dedupdb::overlap::{Passage, PassageQuery};
use dedupdb_corpus::SourcedText;

use crate::args::{Args, PassagesArgs};
use crate::console::Console;
use crate::document_source::SourceChecker;
use crate::each::ForEachRun;
use crate::exit::Exit;
use crate::inputs::check_stdin;
use crate::interrupt::Interrupt;
use crate::json;
use crate::left_out::NamingScope;
use crate::number::counted;
use crate::output::{Output, escape};

/// The number of characters of a passage that a line shows.
const SHOWN: usize = 60;

/// Runs `passages`.
pub(crate) fn run(
    args: &Args,
    asked: &PassagesArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    check_stdin(asked.paths.iter().map(PathBuf::as_path))?;
    asked.telling.check(&asked.paths, &[])?;
    let options = asked.inputs.options().store(&args.store);
    asked.inputs.check(&options, &asked.paths, console)?;
    let store = opened(args, asked)?;
    let options = options.id_scope(asked.inputs.id_scope.unwrap_or(store.id_scope()));
    let mut files = SourceChecker::of(&store);
    let each = ForEachRun {
        paths: &asked.paths,
        options,
        telling: &asked.telling,
        named: NamingScope::First,
        interrupt: &Interrupt::default(),
        whole: None,
        has_bar: false,
    };
    let shared = |document: &SourcedText| {
        let found = document.passages(&store, |text| query(asked, text))?;
        let texts = found.passages.iter();
        let texts = texts.map(|passage| document.text()[passage.bytes.clone()].to_owned());
        Ok((texts.collect::<Vec<String>>(), found))
    };
    let mut found_any = false;
    let (mut common_places, mut texts_with_common) = (0, 0);
    let worked = each.run(console, shared, |origin, (texts, found)| {
        found_any |= !found.passages.is_empty();
        for (passage, text) in found.passages.iter().zip(texts) {
            let standing = files.look(&passage.key)?;
            if output.is_json() {
                let object = json::PassageJson::new(&origin.key, passage, &found, &text, standing);
                output.object(&object)?;
            } else {
                output.line(line(&origin.key, passage, &text))?;
            }
        }
        common_places += found.common.len() as u64;
        texts_with_common += u64::from(!found.common.is_empty());
        Ok(())
    })?;
    let failed = crate::read_counts::has_failed(&worked.reading, console);
    files.note(args, console);
    note_common(texts_with_common, common_places, console);
    note_length(&store, asked.at_least, console);
    crate::store::note_unfingerprinted(&store, args, console)?;
    if !found_any && !failed {
        output.flush()?;
        let least = asked.at_least.unwrap_or(store.schema().passage());
        let none = format!("found no passage of {least} words or more in a stored document");
        crate::store::note_none(&store, &none, console)?;
    }
    Ok(if failed {
        Exit::Failed
    } else {
        Exit::found(found_any)
    })
}

/// Opens the store, which must be able to answer what is asked.
fn opened(args: &Args, asked: &PassagesArgs) -> Result<Store> {
    let store = crate::store::open_to_read(args)?;
    asked.inputs.check_shingles(&store.schema())?;
    if let Err(error) = store.passages(&query(asked, "")) {
        if store.schema().passage() > 0 {
            return Err(error.into());
        }
        anyhow::bail!("{}", crate::store::without_passages(args, &store));
    }
    Ok(store)
}

/// The question with what the arguments ask for.
fn query<'a>(asked: &PassagesArgs, text: &'a str) -> PassageQuery<'a> {
    let mut query = PassageQuery::text(text).gap(asked.gap);
    if let Some(tokens) = asked.at_least {
        query = query.at_least(tokens);
    }
    if let Some(limit) = asked.limit {
        query = query.limit(limit);
    }
    if asked.all { query.all() } else { query }
}

fn line(query: &str, passage: &Passage, text: &str) -> String {
    let Passage {
        key,
        tokens,
        line,
        matched,
        place,
        documents,
        is_common,
        ..
    } = passage;
    let place = place.map_or_else(|| "-".to_owned(), |place| (place + 1).to_string());
    let more = if *is_common { "+" } else { "" };
    format!(
        "{}\t{}\t{matched}\t{}\t{}\t{line}\t{place}\t{documents}{more}\t{}",
        escape(query),
        escape(key),
        tokens.start + 1,
        tokens.end,
        escape(&beginning(text)),
    )
}

/// The beginning of a passage on one line.
fn beginning(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Says which passages may be missing because they are shorter than those that the store finds.
fn note_length(store: &Store, at_least: Option<u32>, console: &Console) {
    let always = store.schema().passage();
    if at_least.is_some_and(|at_least| at_least < always) {
        console.note(&format!(
            "every passage of {always} words is found, shorter ones by chance; `reindex --passage` with another length \
             changes that"
        ));
    }
}

/// Says of how many places it is not known whether they are passages.
fn note_common(texts: u64, places: u64, console: &Console) {
    if places > 0 {
        console.note(&format!(
            "{} of {} in more stored texts than were compared, and a passage there may be missing; --all compares \
             them all",
            counted(places, "place", "places"),
            counted(texts, "text is", "texts are"),
        ));
    }
}

//! `passages`: what texts share with stored documents, word for word.

use std::path::PathBuf;

use anyhow::{Result, bail};
use dedupdb::overlap::{Passage, PassageQuery, Passages};
use dedupdb::sketching::ShingleSet;
use dedupdb::write::IdScope;
use dedupdb::{Progress, Schema, Store};
use dedupdb_corpus::{EndReason, Options, SourcedText, TemporaryStore};

use crate::args::{Args, PassagesArgs};
use crate::console::Console;
use crate::document_source::SourceChecker;
use crate::each::ForEachRun;
use crate::exit::Exit;
use crate::inputs::check_stdin;
use crate::interrupt;
use crate::json;
use crate::left_out::{LeftOutReporter, NamingScope};
use crate::number::counted;
use crate::output::{Output, escape};
use crate::read_counts::has_failed;
use crate::temporary;

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
    let options = check_arguments(args, asked, console)?;
    let progress = if asked.against.is_empty() {
        Progress::new()
    } else {
        interrupt::catch()?
    };
    let mut left_out = LeftOutReporter::begin(console, &asked.files.telling, NamingScope::First)?;
    let opened = OpenedStore::open(args, asked, &mut left_out, &progress, console)?;
    let Some(mut opened) = opened else {
        console.error("stopped; nothing was compared");
        return Ok(Exit::Interrupted);
    };
    let schema = opened.store.schema();
    asked.files.inputs.check_shingles(&schema)?;
    opened.ignored = (asked.ignored).shingles(args, &schema, &options, console)?;
    let store = &opened.store;
    let options = options.id_scope(asked.files.inputs.id_scope.unwrap_or(store.id_scope()));
    let mut files = SourceChecker::of(store);
    let each = ForEachRun {
        paths: &asked.paths,
        options,
        telling: &asked.files.telling,
        named: NamingScope::First,
        progress: &progress,
        whole: None,
        has_bar: false,
    };
    let is_json = output.is_json();
    let shared = |document: &SourcedText| {
        let found = opened.passages(asked, document)?;
        Ok((texts_of(&found, document, is_json), found))
    };
    let mut found_any = false;
    let (mut common_places, mut texts_with_common) = (0, 0);
    let worked = each.run_after(left_out, console, shared, |origin, (texts, found)| {
        found_any |= !found.passages.is_empty();
        for (passage, text) in found.passages.iter().zip(texts) {
            let standing = files.look(&passage.key)?;
            if is_json {
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
    if worked.ended == EndReason::Stopped {
        console.error("stopped; the rest was not looked at");
        return Ok(Exit::Interrupted);
    }
    let failed = has_failed(&worked.reading, console) || opened.lacks_some;
    files.note(args, console);
    note_common((texts_with_common, common_places), "a passage", console);
    opened.note_limits(args, asked, console)?;
    if !found_any && !failed {
        output.flush()?;
        note_nothing(store, asked, console)?;
    }
    Ok(if failed {
        Exit::Failed
    } else {
        Exit::found(found_any)
    })
}

/// The text of each passage, as a whole or as much as a line shows.
fn texts_of(found: &Passages, document: &SourcedText, is_whole: bool) -> Vec<String> {
    let text = |passage: &Passage| {
        let text = &document.text()[passage.bytes.clone()];
        if is_whole {
            text.to_owned()
        } else {
            beginning(text)
        }
    };
    found.passages.iter().map(text).collect()
}

/// A store to compare with, and its temporary folder, which is removed after the store is closed.
pub(super) struct OpenedStore {
    pub(super) store: Store,
    pub(super) temporary: Option<TemporaryStore>,
    /// Whether something of --against could not be read.
    pub(super) lacks_some: bool,
    /// The shingles that do not count.
    pub(super) ignored: Option<ShingleSet>,
}

impl OpenedStore {
    /// Opens the store that the arguments name, or makes one of the files of --against.
    ///
    /// Returns `None` if the user asked to stop.
    pub(super) fn open(
        args: &Args,
        asked: &PassagesArgs,
        left_out: &mut LeftOutReporter,
        progress: &Progress,
        console: &Console,
    ) -> Result<Option<OpenedStore>> {
        if !asked.against.is_empty() {
            return OpenedStore::of_against(args, asked, left_out, progress, console);
        }
        let store = crate::store::open_to_read(args)?;
        check_store(args, &store, asked.at_least)?;
        Ok(Some(OpenedStore {
            store,
            temporary: None,
            lacks_some: false,
            ignored: None,
        }))
    }

    /// What a text shares with the documents of the store, without itself. A document of --against is the same if it has
    /// the same key and the same text.
    pub(super) fn passages(
        &self,
        asked: &PassagesArgs,
        document: &SourcedText,
    ) -> dedupdb::Result<Passages> {
        let store = &self.store;
        let mut query = query(asked, document.text());
        if let Some(ignored) = &self.ignored {
            query = query.ignore(ignored);
        }
        let namesake = match self.temporary {
            Some(_) => store.get(&document.key)?,
            None => None,
        };
        match namesake {
            Some(stored) if stored.hash == document.hash() => {
                store.passages(&query.except(&[stored.key]))
            }
            Some(_) if store.id_scope() != IdScope::All => store.passages(&query),
            _ => document.passages(store, query),
        }
    }

    /// Says which passages may be missing.
    fn note_limits(&self, args: &Args, asked: &PassagesArgs, console: &Console) -> Result<()> {
        note_length(&self.store, asked.at_least, console);
        match self.temporary {
            None => crate::store::note_unfingerprinted(&self.store, args, console),
            Some(_) => Ok(()),
        }
    }

    fn of_against(
        args: &Args,
        asked: &PassagesArgs,
        left_out: &mut LeftOutReporter,
        progress: &Progress,
        console: &Console,
    ) -> Result<Option<OpenedStore>> {
        let schema = schema(asked)?;
        let reading = (&schema, asked.files.inputs.options());
        let paths = &asked.against;
        let made = temporary::of_paths(args, paths, reading, left_out, progress, console)?;
        let Some((store, read)) = made else {
            return Ok(None);
        };
        let lacks_some = has_failed(&read, console);
        let is_empty = store.stats()?.documents == 0;
        if lacks_some && (is_empty || asked.files.inputs.strict) {
            left_out.finish()?;
            let what = if is_empty { "nothing" } else { "not all" };
            bail!("{what} could be read of --against, so nothing was compared");
        }
        if is_empty {
            console.warning("--against has no document, so nothing was compared with it");
        }
        Ok(Some(OpenedStore {
            store: store.clone(),
            temporary: Some(store),
            lacks_some,
            ignored: None,
        }))
    }
}

/// Refuses arguments that do not go together, and returns how texts are read.
pub(super) fn check_arguments(
    args: &Args,
    asked: &PassagesArgs,
    console: &Console,
) -> Result<Options> {
    let named = [&asked.paths[..], &asked.against].concat();
    check_stdin(named.iter().map(PathBuf::as_path))?;
    asked.files.telling.check(&named, &[])?;
    let mut options = asked.files.inputs.options();
    if asked.against.is_empty() {
        options = options.store(&args.store);
    } else if args.store_given {
        bail!("--against and --store both say what to compare with; leave one of them out");
    }
    if let Some(store) = asked
        .against
        .iter()
        .find(|path| crate::store::is_store(path))
    {
        let store = store.display();
        bail!("{store}: this is a store; give it with --store, and leave out --against");
    }
    asked.files.inputs.check(&options, &named, console)?;
    Ok(options)
}

/// The parameters of the temporary store, which finds all passages that are asked for.
fn schema(asked: &PassagesArgs) -> Result<Schema> {
    let shingling = asked.shingling.unwrap_or_default();
    // Nothing is asked for but passages, so signatures are short.
    let schema = Schema::builder()
        .shingling(shingling)
        .permutations(16)
        .bands(1, 16);
    let usual = schema.clone().build()?;
    asked.files.inputs.check_shingles(&usual)?;
    if usual.passage() == 0 {
        bail!(
            "--shingling {shingling}: passages need shingles of at least 3 words, or of characters or bytes"
        );
    }
    let Some(at_least) = asked.at_least else {
        return Ok(usual);
    };
    let k = shingling.k();
    if at_least < k.into() {
        bail!("--at-least: {at_least} is less than {k}, the length of a shingle");
    }
    // Longer ones than a store can be made for are found as well.
    Ok(schema.passage(at_least).build().unwrap_or(usual))
}

/// Refuses a store that cannot answer what is asked.
pub(super) fn check_store(args: &Args, store: &Store, at_least: Option<u32>) -> Result<()> {
    if store.schema().passage() == 0 {
        bail!("{}", crate::store::without_passages(args, store));
    }
    let query = PassageQuery::text("");
    store.passages(&at_least.map_or(query, |tokens| query.at_least(tokens)))?;
    Ok(())
}

/// Says that nothing was found, unless there was nothing to compare with, which is known.
pub(super) fn note_nothing(store: &Store, asked: &PassagesArgs, console: &Console) -> Result<()> {
    let least = asked.at_least.unwrap_or(store.schema().passage());
    let none = format!(
        "found no passage of {least} {} or more in a",
        crate::store::tokens(store)
    );
    if asked.against.is_empty() {
        crate::store::note_none(store, &format!("{none} stored document"), console)?;
    } else if store.stats()?.documents > 0 {
        console.note(&format!("{none} document of --against"));
    }
    Ok(())
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
        escape(text),
    )
}

/// The beginning of a passage on one line.
pub(super) fn beginning(text: &str) -> String {
    let mut chars = text.split_whitespace().enumerate().flat_map(|(nth, word)| {
        let space = (nth > 0).then_some(' ');
        space.into_iter().chain(word.chars())
    });
    let mut beginning: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() {
        beginning.push('…');
    }
    beginning
}

/// Says which passages may be missing because they are shorter than those that the store finds.
pub(super) fn note_length(store: &Store, at_least: Option<u32>, console: &Console) {
    let always = store.schema().passage();
    if at_least.is_some_and(|at_least| at_least < always) {
        console.note(&format!(
            "every passage of {always} words is found, shorter ones by chance; `reindex --passage` with another length \
             changes that"
        ));
    }
}

/// Says of how many places it is not known whether they are passages. `what` may be missing there.
pub(super) fn note_common((texts, places): (u64, u64), what: &str, console: &Console) {
    if places > 0 {
        console.note(&format!(
            "{} of {} in more stored texts than were compared, and {what} there may be missing; --all compares \
             them all",
            counted(places, "place", "places"),
            counted(texts, "text is", "texts are"),
        ));
    }
}

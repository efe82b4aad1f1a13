//! `query`: finds documents that resemble a text.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use dedupdb::sketching::{ShingleSet, Shingling};
use dedupdb::{Error, Match, Progress, Store};
use dedupdb_corpus::{Options, SourcedText};

use crate::args::{Args, QueryArgs};
use crate::console::Console;
use crate::document_source::SourceChecker;
use crate::each::ForEachRun;
use crate::exit::Exit;
use crate::inputs::check_stdin;
use crate::json;
use crate::left_out::NamingScope;
use crate::number::{counted, similarity};
use crate::output::{Output, copy_column, escape, shell_word};

/// Opens the store, which must be able to answer what is asked, and returns it with the shingles that do not count.
fn opened(
    args: &Args,
    query: &QueryArgs,
    options: &Options,
    console: &Console,
) -> Result<(Store, Option<ShingleSet>)> {
    if query.threshold == Some(0.0) && query.nearest.is_none() {
        bail!("--threshold 0 is for --nearest K; give a share above 0, such as 0.8");
    }
    let store = crate::store::open_to_read(args)?;
    let schema = store.schema();
    query.files.inputs.check_shingles(&schema)?;
    check_containment(args, query, &store)?;
    let ignored = (query.ignored).shingles(args, &schema, options, console)?;
    if ignored.is_none() && !query.exhaustive && query.nearest.is_none() {
        crate::store::note_threshold_of(args, &store, query.threshold, console);
    }
    Ok((store, ignored))
}

/// Runs `query`.
pub(crate) fn run(
    args: &Args,
    query: &QueryArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    check_stdin(query.paths.iter().map(PathBuf::as_path))?;
    query.files.telling.check(&query.paths, &[])?;
    let options = query.files.inputs.options().store(&args.store);
    query.files.inputs.check(&options, &query.paths, console)?;
    let (store, ignored) = &opened(args, query, &options, console)?;
    let ignored = ignored.as_ref();
    let options = options.id_scope(query.files.inputs.id_scope.unwrap_or(store.id_scope()));
    let (mut found, mut failed) = (false, false);
    let mut files = SourceChecker::of(store);
    let is_contained = query.contained.containment.is_some();
    let mut answer = |name: &str, matches: Vec<Match>| -> Result<()> {
        found |= !matches.is_empty();
        (matches.iter()).try_for_each(|like| list(name, like, is_contained, &mut files, output))
    };
    for key in &query.keys {
        let key = query.escaped.key(key)?;
        match store.query(&of(query, dedupdb::Query::key(&key), ignored)) {
            Err(error @ Error::NoSuchDocument { .. }) => {
                console.error(&error.to_string());
                failed = true;
            }
            matches => answer(&key, matches?)?,
        }
    }
    let each = ForEachRun {
        paths: &query.paths,
        options,
        telling: &query.files.telling,
        named: NamingScope::First,
        progress: &Progress::new(),
        whole: None,
        has_bar: false,
    };
    let (asked, unlike) = (AtomicUsize::new(0), OnceLock::new());
    let alike = |document: &SourcedText| {
        let text = of(query, dedupdb::Query::of(document.subject()), ignored);
        let matches = document.others(store, &text)?;
        // With many documents, the reason why each has no match is of no interest.
        let is_first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first && matches.is_empty() && ignored.is_none() {
            unlike.get_or_init(|| UnmatchedText::of(document, store));
        }
        Ok(matches)
    };
    let worked = each.run(console, alike, |origin, matches| {
        answer(&origin.key, matches)
    })?;
    // What could not be read has no answer.
    failed |= crate::read_counts::has_failed(&worked.reading, console);
    if failed {
        note_text(query, args, console);
    }
    files.note(args, console);
    note_stored(store, query, args, console)?;
    note_limits(store, query, args, console)?;
    let (unlike, asked) = (unlike.into_inner().transpose()?, asked.into_inner());
    if !found && !failed {
        output.flush()?;
        if asked == 0 && query.keys.is_empty() {
            console.note("there was nothing to look up: no file or record was found");
        } else {
            note_nothing(store, query, unlike, asked, console)?;
        }
    }
    Ok(if failed {
        Exit::Failed
    } else {
        Exit::found(found)
    })
}

/// Refuses a search by containment in a store that finds no passages, and says how it can.
fn check_containment(args: &Args, query: &QueryArgs, store: &Store) -> Result<()> {
    if !is_by_passages(query) || store.schema().passage() > 0 {
        return Ok(());
    }
    anyhow::bail!("{}", crate::store::without_passages(args, store))
}

/// Whether matches are found by their passages.
fn is_by_passages(query: &QueryArgs) -> bool {
    query.contained.containment.is_some() && query.ignored.ignore.is_empty() && !query.exhaustive
}

/// Says which matches may be missing.
fn note_limits(store: &Store, query: &QueryArgs, args: &Args, console: &Console) -> Result<()> {
    if is_by_passages(query) {
        crate::store::note_unfingerprinted(store, args, console)?;
    }
    crate::store::note_cut_short(store.searches_cut_short(), args, console);
    Ok(())
}

/// Says how to ask about a text, if one was given in the place of a path.
fn note_text(query: &QueryArgs, args: &Args, console: &Console) {
    if query.paths.iter().any(|path| is_text(path)) {
        let command = crate::store::command(args);
        console.note(&format!(
            "to look up a text, give it on standard input: `echo 'some text' | {command} query -`"
        ));
    }
}

/// Reports that nothing was found and, for a single text, a possible reason. `first` is the first text, if it has no
/// match.
fn note_nothing(
    store: &Store,
    query: &QueryArgs,
    first: Option<UnmatchedText>,
    asked: usize,
    console: &Console,
) -> Result<()> {
    let share = query.contained.containment;
    let least = share.or(query.threshold);
    let least = least.unwrap_or(if query.nearest.is_some() {
        0.0
    } else {
        store.schema().threshold()
    });
    let is_stored = first.as_ref().is_some_and(|first| first.is_stored);
    let is_stored = is_stored || !query.keys.is_empty();
    let other = if is_stored { "other " } else { "" };
    let what = if share.is_some() {
        "containment"
    } else {
        "similarity"
    };
    let none = match (query.nearest, query.exhaustive) {
        (Some(_), false) if least == 0.0 => format!(
            "no {other}stored document shares a bucket with it; --exhaustive compares with all"
        ),
        (Some(_), true) if least == 0.0 => {
            format!("no {other}stored document has anything in common with it")
        }
        _ => format!("found no {other}stored document with a {what} of {least} or more"),
    };
    let is_told = crate::store::note_none(store, &none, console)?;
    let first = first.filter(|_| share.is_none());
    if let Some(only) = first.filter(|_| is_told && asked == 1 && query.keys.is_empty()) {
        only.explain(store, least, console);
    }
    Ok(())
}

/// The similarity below which two short texts are hardly versions of one.
const LOWEST: f64 = 0.1;

/// A text that resembles no stored one.
struct UnmatchedText {
    key: String,
    /// Whether a document with this key is stored. It is not compared with itself.
    is_stored: bool,
    shingles: usize,
    /// The stored document that a change of one word or character keeps below the threshold, if there is one.
    closest: Option<Match>,
}

impl UnmatchedText {
    fn of(document: &SourcedText, store: &Store) -> dedupdb::Result<UnmatchedText> {
        let schema = store.schema();
        let shingles = schema.shingler()?.shingles(document.text())?.len();
        // The shingles that contain the changed unit differ. The texts share the others.
        let changed = usize::from(schema.shingling().k()).min(shingles);
        let reached = (shingles - changed) as f64 / (shingles + changed).max(1) as f64;
        let closest = if shingles > 0 && unit_of(schema.shingling()).is_some() {
            let query = dedupdb::Query::of(document.subject()).except(&document.key);
            store
                .query(&query.threshold(reached.max(LOWEST)).limit(1))?
                .pop()
        } else {
            None
        };
        Ok(UnmatchedText {
            key: document.key.clone(),
            is_stored: store.get(&document.key)?.is_some(),
            shingles,
            closest,
        })
    }

    /// Prints a note if the text has no words, or is too short to tolerate a small change.
    fn explain(&self, store: &Store, least: f64, console: &Console) {
        let key = escape(&self.key);
        if self.shingles == 0 {
            return console.note(&format!("{key} has no words to compare"));
        }
        let unit = unit_of(store.schema().shingling());
        let (Some(unit), Some(closest)) = (unit, &self.closest) else {
            return;
        };
        if closest.similarity() < least {
            console.note(&format!(
                "{key} is short ({}): one other {unit} can bring the similarity below {least}, and {} has {}; \
                 `dedupdb init --help` has an example for short texts",
                counted(self.shingles as u64, "shingle", "shingles"),
                escape(&closest.key),
                similarity(closest.jaccard, closest.estimate),
            ));
        }
    }
}

/// The name of a part of a shingle, if a shingle has several.
fn unit_of(shingling: Shingling) -> Option<&'static str> {
    match shingling {
        Shingling::Word(_) | Shingling::Code(_) => Some("word"),
        Shingling::Char(_) | Shingling::CharNoSpace(_) => Some("character"),
        _ => None,
    }
}

/// Says of the first path without a file that is the key of a document how to ask about that.
fn note_stored(store: &Store, query: &QueryArgs, args: &Args, console: &Console) -> Result<()> {
    let without_file = query
        .paths
        .iter()
        .filter(|path| path.symlink_metadata().is_err());
    for key in without_file.filter_map(|path| path.to_str()) {
        if store.get(key)?.is_some() {
            let (command, word) = (crate::store::command(args), shell_word(key));
            console.note(&format!(
                "{} is stored: `{command} query --key {word}`",
                escape(key)
            ));
            break;
        }
    }
    Ok(())
}

/// Whether an argument for a path looks like a text.
fn is_text(path: &Path) -> bool {
    const WORDS: usize = 3;
    let words = path
        .to_str()
        .map_or(0, |path| path.split_whitespace().count());
    words >= WORDS && path.symlink_metadata().is_err()
}

/// The question with what the arguments ask for.
fn of<'a>(
    query: &QueryArgs,
    mut question: dedupdb::Query<'a>,
    ignored: Option<&'a ShingleSet>,
) -> dedupdb::Query<'a> {
    if let Some(ignored) = ignored {
        question = question.ignore(ignored);
    }
    if let Some(threshold) = query.threshold {
        question = question.threshold(threshold);
    }
    if let Some(share) = query.contained.containment {
        question = question
            .containment(share)
            .shortest(query.contained.shortest);
    }
    if let Some(limit) = query.limit {
        question = question.limit(limit);
    }
    if let Some(most) = query.nearest {
        question = question.nearest(most);
    }
    question.exhaustive(query.exhaustive)
}

fn list(
    query: &str,
    found: &Match,
    is_contained: bool,
    files: &mut SourceChecker<'_>,
    output: &mut Output,
) -> Result<()> {
    let standing = files.look(&found.key)?;
    if output.is_json() {
        return Ok(output.object(&json::MatchJson::new(query, found, standing))?);
    }
    if is_contained {
        return Ok(output.line(contained_line(query, found))?);
    }
    Ok(output.line(line(query, found))?)
}

fn contained_line(query: &str, found: &Match) -> String {
    let [query, key] = [query, &found.key].map(escape);
    format!(
        "{query}\t{key}\t{}{}",
        contained_columns(found),
        copy_column(found.exact_copy, found.jaccard)
    )
}

/// The similarity of a match, and both containments.
pub(super) fn contained_columns(found: &Match) -> String {
    let shares = [found.jaccard, found.containment, found.containment_of_match];
    let shares = shares.map(|share| format!("{:.4}", share.unwrap_or_default()));
    shares.join("\t")
}

fn line(query: &str, found: &Match) -> String {
    format!(
        "{}\t{}\t{}{}",
        escape(query),
        escape(&found.key),
        similarity(found.jaccard, found.estimate),
        copy_column(found.exact_copy, found.jaccard)
    )
}

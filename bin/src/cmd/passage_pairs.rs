//! `pairs --passages`: ranks the pairs of documents by the longest passage that both have.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use dedupdb::overlap::{PassageQuery, Passages};
use dedupdb::sketching::ShingleSet;
use dedupdb::{Progress, Store};
use dedupdb_corpus::SourcedText;

use super::passages::{check_store, note_common, note_length};
use crate::args::{Args, PairsArgs};
use crate::console::Console;
use crate::document_source::{KeyTally, SourceChecker};
use crate::each::ForEachRun;
use crate::exit::Exit;
use crate::inputs::check_stdin;
use crate::json;
use crate::left_out::NamingScope;
use crate::number::{counted, four_decimals};
use crate::output::{Output, escape};
use crate::ranked_pairs::{RankedPair, RankedPairs};
use crate::read_counts::has_failed;

/// The message if a temporary file fails.
const NO_FILE: &str = "cannot keep pairs in a temporary file";

/// What is known of a text that was read.
enum Asked {
    /// Its key belongs to no pair of --between.
    Outside,
    NotStored,
    /// The document of this key has another text.
    Changed,
    Stored(StoredText),
}

/// A stored text, and what it shares with other documents.
struct StoredText {
    found: Passages,
    /// The number of places that were not compared with all documents that have them.
    common: u64,
}

/// Runs `pairs --passages`.
pub(super) fn run(
    args: &Args,
    pairs: &PairsArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    check_stdin(pairs.from.iter().map(PathBuf::as_path))?;
    let options = pairs.inputs.options().store(&args.store);
    pairs.inputs.check(&options, &pairs.from, console)?;
    let store = crate::store::open_to_read(args)?;
    check_store(args, &store, pairs.at_least)?;
    pairs.inputs.check_shingles(&store.schema())?;
    let ignored = pairs
        .ignored
        .shingles(args, &store.schema(), &options, console)?;
    let each = ForEachRun {
        paths: &pairs.from,
        options: options.id_scope(pairs.inputs.id_scope.unwrap_or(store.id_scope())),
        telling: &pairs.telling,
        named: NamingScope::First,
        progress: &Progress::new(),
        whole: None,
        has_bar: true,
    };
    let mut ranked = RankedPairs::new(pairs.limit);
    let (mut not_stored, mut changed) = (KeyTally::default(), KeyTally::default());
    let (mut common_places, mut texts_with_common) = (0, 0);
    let ask = |document: &SourcedText| asked(&store, pairs, ignored.as_ref(), document);
    let worked = each.run(console, ask, |origin, asked| {
        match asked {
            Asked::Outside => {}
            Asked::NotStored => not_stored.push(&origin.key),
            Asked::Changed => changed.push(&origin.key),
            Asked::Stored(text) => {
                take(&mut ranked, pairs, &origin.key, &text.found)?;
                common_places += text.common;
                texts_with_common += u64::from(text.common > 0);
            }
        }
        Ok(())
    })?;
    let failed = has_failed(&worked.reading, console);
    let missing = missing(&store, pairs, &ranked)?;
    let mut files = SourceChecker::of(&store);
    let mut found = 0;
    let listed = ranked.ranked().context(NO_FILE)?;
    for pair in listed.take(pairs.limit.unwrap_or(usize::MAX)) {
        list(&pair, &mut files, output)?;
        found += 1;
    }
    output.flush()?;
    if found > 0 {
        console.total(&counted(found, "pair", "pairs"));
    } else if !failed {
        let of = super::pairs::between(pairs);
        let least = pairs.at_least.unwrap_or(store.schema().passage());
        let tokens = crate::store::tokens(&store);
        let none = format!("no pair{of} shares a passage of {least} {tokens} or more");
        crate::store::note_none(&store, &none, console)?;
    }
    files.note(args, console);
    note_texts(args, [&not_stored, &changed, &missing], console);
    note_common((texts_with_common, common_places), "a pair", console);
    note_length(&store, pairs.at_least, console);
    crate::store::note_unfingerprinted(&store, args, console)?;
    Ok(if failed {
        Exit::Failed
    } else {
        Exit::found(found > 0)
    })
}

/// Looks for the passages that a document shares with others.
fn asked(
    store: &Store,
    pairs: &PairsArgs,
    ignored: Option<&ShingleSet>,
    document: &SourcedText,
) -> dedupdb::Result<Asked> {
    if !is_of_pairs(pairs, &document.key) {
        return Ok(Asked::Outside);
    }
    let Some(stored) = store.get(&document.key)? else {
        return Ok(Asked::NotStored);
    };
    if stored.hash != document.hash() {
        return Ok(Asked::Changed);
    }
    let own = [stored.key];
    let mut query = PassageQuery::text(document.text()).except(&own);
    if let Some(tokens) = pairs.at_least {
        query = query.at_least(tokens);
    }
    if let Some(ignored) = ignored {
        query = query.ignore(ignored);
    }
    if pairs.all {
        query = query.all();
    }
    let mut found = store.passages(&query)?;
    let common = found.passages.iter().filter(|passage| passage.is_common);
    let common = common.map(|passage| &passage.tokens).chain(&found.common);
    let common: BTreeSet<(u32, u32)> = common.map(|tokens| (tokens.start, tokens.end)).collect();
    let common = common.len() as u64;
    // The pairs need only the lengths, which `found.documents` has. The passages may take much memory.
    found.passages = Vec::new();
    Ok(Asked::Stored(StoredText { found, common }))
}

/// Whether a document can be one of a pair.
fn is_of_pairs(pairs: &PairsArgs, key: &str) -> bool {
    let between = &pairs.between;
    between.is_empty() || between.iter().any(|prefix| key.starts_with(prefix))
}

/// The keys of a pair in the order of its columns, and the column of `key`. `None` if the pair is not asked for.
fn in_order<'a>(pairs: &PairsArgs, key: &'a str, other: &'a str) -> Option<([&'a str; 2], usize)> {
    let is_first = match pairs.between.as_slice() {
        [a, b] => {
            let forth = key.starts_with(a) && other.starts_with(b);
            let back = other.starts_with(a) && key.starts_with(b);
            match (forth, back) {
                (false, false) => return None,
                (true, true) => key <= other,
                (forth, _) => forth,
            }
        }
        _ => key <= other,
    };
    Some(if is_first {
        ([key, other], 0)
    } else {
        ([other, key], 1)
    })
}

/// Takes the pairs of a document.
fn take(ranked: &mut RankedPairs, pairs: &PairsArgs, key: &str, found: &Passages) -> Result<()> {
    ranked.read(key, found.tokens - found.ignored);
    for document in &found.documents {
        if let Some((keys, side)) = in_order(pairs, key, &document.key) {
            let shared = (document.longest, document.covered);
            ranked.push(keys, side, shared).context(NO_FILE)?;
        }
    }
    Ok(())
}

/// The stored documents whose text was not at hand.
fn missing(store: &Store, pairs: &PairsArgs, ranked: &RankedPairs) -> Result<KeyTally> {
    let mut missing = KeyTally::default();
    for document in store.documents()? {
        let key = document?.key;
        if is_of_pairs(pairs, &key) && !ranked.has_read(&key) {
            missing.push(&key);
        }
    }
    Ok(missing)
}

/// Says which texts were not compared.
fn note_texts(args: &Args, [not_stored, changed, missing]: [&KeyTally; 3], console: &Console) {
    let command = crate::store::command(args);
    let notes = [
        not_stored.note(
            "text of --from is not stored",
            "texts of --from are not stored",
            &format!("; `{command} add` stores them"),
        ),
        changed.note(
            "text of --from is not the one that is stored under its key",
            "texts of --from are not those that are stored under their keys",
            &format!("; `{command} add` reads them again"),
        ),
        missing.note(
            "stored document has no text in --from",
            "stored documents have no text in --from",
            ", so pairs of two such documents are not found; name their files in --from, too",
        ),
    ];
    for note in notes.into_iter().flatten() {
        console.note(&note);
    }
}

fn list(pair: &RankedPair, files: &mut SourceChecker<'_>, output: &mut Output) -> Result<()> {
    let [a, b] = &pair.keys;
    let standings = [files.look(a)?, files.look(b)?];
    if output.is_json() {
        return Ok(output.object(&json::PassagePairJson::new(pair, standings))?);
    }
    let [share_a, share_b] = pair
        .coverage
        .map(|share| share.map_or_else(|| "-".to_owned(), four_decimals));
    let (a, b, longest) = (escape(a), escape(b), pair.longest);
    Ok(output.line(format!("{a}\t{b}\t{longest}\t{share_a}\t{share_b}"))?)
}

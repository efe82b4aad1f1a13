//! `pairs`: lists the similar documents.

use anyhow::{Result, bail};
use dedupdb::Store;
use dedupdb::groups::{Pair, PairQuery};

use crate::args::{Args, PairsArgs};
use crate::console::Console;
use crate::document_source::SourceChecker;
use crate::exit::Exit;
use crate::json;
use crate::number::{counted, four_decimals};
use crate::output::{Output, copy_column, escape};
use crate::prefetch::PrefetchIter;
use crate::watch::{ProgressWatch, StepUnit};

/// Runs `pairs`.
pub(crate) fn run(
    args: &Args,
    pairs: &PairsArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if pairs.passages {
        return super::passage_pairs::run(args, pairs, console, output);
    }
    // Clap does not ask for what an option needs if another one excludes it.
    if !pairs.from.is_empty() {
        bail!("--from needs --passages: other pairs are compared by what is stored");
    }
    output.end_with_reader();
    let store = crate::store::open_to_read(args)?;
    let contained = &pairs.contained;
    let mut query = PairQuery::new()
        .fold_copies(pairs.fold_copies)
        .exhaustive(pairs.exhaustive)
        .shortest(contained.shortest)
        .memory(pairs.memory);
    if let Some(least) = contained.containment {
        query = query.containment(least);
    }
    if let Some(threshold) = pairs.threshold {
        query = query.threshold(threshold);
    }
    if let [a, b] = pairs.between.as_slice() {
        query = query.between(a, b);
    }
    let options = pairs.inputs.options().store(&args.store);
    let ignored = pairs
        .ignored
        .shingles(args, &store.schema(), &options, console)?;
    if let Some(ignored) = &ignored {
        query = query.ignore(ignored);
    }
    // On a terminal, the pairs themselves show the progress.
    let watch = (!output.is_terminal())
        .then(|| ProgressWatch::new(console, "compared", StepUnit::Step, store.progress()));
    let all = store.pairs(query)?;
    let short = all.short();
    let mut files = SourceChecker::of(&store);
    let found = if args.threads == 1 {
        list_all(all, &mut files, output)?
    } else {
        // Find pairs while earlier ones are written.
        list_all(PrefetchIter::begin(all)?, &mut files, output)?
    };
    drop(watch);
    output.flush()?;
    if found > 0 {
        console.total(&counted(found, "pair", "pairs"));
    } else {
        let least = least(contained.containment, pairs.threshold, &store);
        let of = between(pairs);
        let none = format!("no pair{of} has a {least} or more");
        crate::store::note_none(&store, &none, console)?;
    }
    crate::store::note_short(&store, short, contained.shortest, console);
    files.note(args, console);
    if !pairs.exhaustive && ignored.is_none() {
        let remedy = crate::store::EXHAUSTIVE;
        crate::store::note_threshold(&store, pairs.threshold, remedy, console);
    }
    crate::store::note_cut_short(store.searches_cut_short(), args, console);
    Ok(Exit::found(found > 0))
}

/// Which pairs of keys are asked for, if not all.
pub(super) fn between(pairs: &PairsArgs) -> String {
    match pairs.between.as_slice() {
        [a, b] => format!(" of a key that begins with {a:?} and one that begins with {b:?}"),
        _ => String::new(),
    }
}

/// What a pair has at least.
pub(crate) fn least(containment: Option<f64>, threshold: Option<f64>, store: &Store) -> String {
    if let Some(least) = containment {
        return format!("containment of {least}");
    }
    let least = threshold.unwrap_or(store.schema().threshold());
    format!("similarity of {least}")
}

/// Lists pairs. Returns their number.
fn list_all(
    pairs: impl Iterator<Item = dedupdb::Result<Pair>>,
    files: &mut SourceChecker<'_>,
    output: &mut Output,
) -> Result<u64> {
    let mut found = 0;
    for pair in pairs {
        list(&pair?, files, output)?;
        found += 1;
    }
    Ok(found)
}

fn list(pair: &Pair, files: &mut SourceChecker<'_>, output: &mut Output) -> Result<()> {
    let standings = [files.look(&pair.key_a)?, files.look(&pair.key_b)?];
    if output.is_json() {
        return Ok(output.object(&json::PairJson::new(pair, standings))?);
    }
    let similarity = crate::number::similarity(pair.jaccard, pair.estimate);
    let (a, b) = (escape(&pair.key_a), escape(&pair.key_b));
    let copy = copy_column(pair.exact_copy, pair.jaccard);
    let containment = pair.containment.map(four_decimals);
    let columns = containment.iter().chain([&similarity]);
    let columns: String = columns.flat_map(|column| ["\t", column]).collect();
    for part in [&a, "\t", &b, &columns, copy, "\n"] {
        output.bytes(part.as_bytes())?;
    }
    Ok(())
}

//! `reindex`: gives the store other parameters.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow, bail};
use dedupdb::upkeep::{self, Rebuild, TextFingerprints};
use dedupdb::{Error, Schema, Store};
use dedupdb_corpus::{EndReason, path_of_document};

use crate::args::{Args, ReindexArgs};
use crate::console::Console;
use crate::each::ForEachRun;
use crate::exit::Exit;
use crate::inputs::check_stdin;
use crate::interrupt;
use crate::json;
use crate::left_out::NamingScope;
use crate::number::{bytes, counted, grouped, percent};
use crate::output::Output;
use crate::rebuilding;

/// What is said where there is nothing to show or to discard.
const NONE: &str = "there is no unfinished reindex";

/// Runs `reindex`.
pub(crate) fn run(
    args: &Args,
    reindex: &ReindexArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if reindex.status {
        return status(&crate::store::open_to_read(args)?, console, output);
    }
    if let Some(shingling) = reindex.shingling {
        bail!(
            "a store keeps no texts, so its shingles cannot change: make another store with `init --shingling \
             {shingling}`, and add the texts to it"
        );
    }
    let store = crate::store::open_to_write(args)?;
    if reindex.cancel {
        let is_cancelled = store.cancel_rebuild()?;
        if !is_cancelled {
            console.note(NONE);
        }
        return Ok(Exit::found(is_cancelled));
    }
    let rebuild = if reindex.is_bare() {
        if store.unfinished_rebuild()?.is_none() {
            bail!(
                "say what to change, such as --permutations 256; there is no unfinished reindex to continue"
            );
        }
        Rebuild::resume()
    } else {
        Rebuild::reindex(target(&store, reindex)?)
    };
    let rebuild = match fingerprints(args, &store, reindex, console)? {
        Ok(Some(texts)) => rebuild.fingerprints(texts),
        Ok(None) => rebuild,
        Err(stopped) => return Ok(stopped),
    };
    let mut rebuild = rebuild
        .memory(reindex.memory)
        .source(|key| source(key, &store, reindex));
    let dropped = AtomicU64::new(0);
    if reindex.drop_missing {
        rebuild = rebuild.drop_missing(|keys| {
            dropped.fetch_add(keys.len() as u64, Ordering::Relaxed);
        });
    }
    let stored = store.schema();
    let done = rebuilding::run(&store, rebuild, console);
    match done.map_err(|error| of_passage(args, error))? {
        Err(stopped) => return Ok(stopped),
        Ok(false) => {
            console.note("the store has these parameters already");
            return Ok(Exit::Nothing);
        }
        Ok(true) => {}
    }
    report(args, &store, dropped.into_inner(), console, output)?;
    note_same_bands(&stored, &store.schema(), reindex, console);
    crate::store::note_unfingerprinted(&store, args, console)?;
    Ok(Exit::Found)
}

/// Says of texts that a rebuild lacks how to name them.
fn of_passage(args: &Args, error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(Error::InvalidSchema {
            parameter: "passage",
            ..
        }) => anyhow!(
            "{error}; name all files that have them: `{} reindex --passage WORDS --from PATH...`",
            crate::store::command(args)
        ),
        _ => error,
    }
}

/// The fingerprints of the texts in the files that --from names, or the exit if the user stopped the reading.
fn fingerprints(
    args: &Args,
    store: &Store,
    reindex: &ReindexArgs,
    console: &Console,
) -> Result<Result<Option<TextFingerprints>, Exit>> {
    if reindex.from.is_empty() {
        return Ok(Ok(None));
    }
    let options = reindex.inputs.options().store(&args.store);
    reindex.inputs.check(&options, &reindex.from, console)?;
    check_stdin(reindex.from.iter().map(PathBuf::as_path))?;
    let texts = store.text_fingerprints(&target(store, reindex)?)?;
    let progress = interrupt::catch()?;
    let each = ForEachRun {
        paths: &reindex.from,
        options,
        telling: &reindex.telling,
        named: NamingScope::All,
        progress: &progress,
        whole: None,
        has_bar: true,
    };
    let read = each.run(
        console,
        |document| texts.add(document.text()).map(drop),
        |_, ()| Ok(()),
    )?;
    if read.ended == EndReason::Stopped {
        return Ok(Err(Exit::Interrupted));
    }
    if read.reading.has_failures() {
        bail!("not all of the files could be read, so nothing was changed");
    }
    Ok(Ok(Some(texts)))
}

/// Reports the store's new parameters.
fn report(
    args: &Args,
    store: &Store,
    dropped: u64,
    console: &Console,
    output: &mut Output,
) -> Result<()> {
    let schema = store.schema();
    let stats = store.stats()?;
    if output.is_json() {
        output.object(&json::ReindexJson {
            documents: stats.documents,
            dropped,
            schema: json::ParametersJson::new(&schema),
            recall: schema.recall(schema.threshold()),
        })?;
    } else if !args.quiet {
        output.line(format!(
            "{}: {} permutations, bands {}, which find {} of the pairs at {}",
            counted(stats.documents, "document", "documents"),
            schema.permutations(),
            schema.bands(),
            percent(schema.recall(schema.threshold())),
            schema.threshold()
        ))?;
    }
    if dropped > 0 {
        let dropped = counted(dropped, "document was", "documents were");
        console.note(&format!("{dropped} removed because their text is gone"));
    }
    Ok(())
}

/// Prints a note if the bands stayed the same although the number of permutations changed, unless bands were given.
fn note_same_bands(before: &Schema, after: &Schema, reindex: &ReindexArgs, console: &Console) {
    let is_asked = reindex.bands.is_some() || before.permutations() == after.permutations();
    if is_asked || before.bands() != after.bands() {
        return;
    }
    console.note(&format!(
        "the bands are still {}: they reach the recall with {} of the permutations. The others only make \
         estimates more precise; --recall or --bands can use more",
        after.bands(),
        after.bands().used(),
    ));
}

/// The schema that the arguments ask for.
fn target(store: &Store, reindex: &ReindexArgs) -> Result<Schema> {
    let target = changes(reindex).schema(store);
    let target = target.map_err(|error| match error {
        Error::InvalidSchema {
            parameter: "bands", ..
        } if reindex.tuned => {
            anyhow!("{error}; choose them with --bands, or leave --tuned out")
        }
        error => error.into(),
    })?;
    if reindex.seed.is_some_and(|seed| seed.is_random)
        && let Some(begun) = store.unfinished_rebuild()?
    {
        let same = target.to_builder().seed(begun.schema.seed()).build()?;
        if same == begun.schema {
            return Ok(same);
        }
    }
    Ok(target)
}

/// The changes that the arguments ask for.
fn changes(reindex: &ReindexArgs) -> upkeep::Reindex {
    let mut changes = upkeep::Reindex::new();
    if let Some(family) = reindex.family {
        changes = changes.family(family);
    }
    if let Some(seed) = reindex.seed {
        changes = changes.seed(seed.number);
    }
    if let Some(width) = reindex.slot_bits {
        changes = changes.slot_width(width);
    }
    if let Some(permutations) = reindex.permutations {
        changes = changes.permutations(permutations);
    }
    if let Some(threshold) = reindex.threshold {
        changes = changes.threshold(threshold);
    }
    if let Some(recall) = reindex.recall {
        changes = changes.recall(recall);
    }
    if let Some(bands) = reindex.bands {
        changes = changes.bands(bands.bands(), bands.rows());
    }
    if let Some(passage) = reindex.passage {
        changes = changes.passage(passage);
    }
    if reindex.tuned {
        changes = changes.tuned(reindex.contents);
    }
    changes
}

/// The text of a document that is a file, if the file is still there.
fn source(key: &str, store: &Store, reindex: &ReindexArgs) -> Option<String> {
    let document = store.get(key).ok()??;
    reindex.inputs.options().text(&path_of_document(&document)?)
}

fn status(store: &Store, console: &Console, output: &mut Output) -> Result<Exit> {
    let Some(unfinished) = store.unfinished_rebuild()? else {
        console.note(NONE);
        return Ok(Exit::Nothing);
    };
    if output.is_json() {
        output.object(&json::StatusJson::new(&unfinished))?;
        return Ok(Exit::Found);
    }
    let what = unfinished.what(&store.schema());
    let progress = unfinished.progress;
    let state = match (unfinished.is_running, unfinished.process) {
        (true, Some(process)) => format!("process {process} is at work on it"),
        (true, None) => "another process is at work on it".to_owned(),
        (false, _) => "stopped; the same command continues it".to_owned(),
    };
    output.line(format!(
        "{what}: {} of {} contents, {} of {} lists of buckets, {}; {state}",
        grouped(progress.contents),
        grouped(progress.all_contents),
        progress.lists,
        progress.all_lists,
        bytes(unfinished.bytes)
    ))?;
    Ok(Exit::Found)
}

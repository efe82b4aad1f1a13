//! Opening the store that the arguments name.

use std::env::temp_dir;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use dedupdb::sketching::Shingling;
use dedupdb::{
    Error, Options, Progress, Schema, Store,
    upkeep::{Casualty, CheckReport, Holder, SalvageSummary},
};
use dedupdb_corpus::TemporaryStore;
use dedupdb_corpus::dedup::{self, Unfit};
use dedupdb_corpus::publish;

use crate::args::{Args, STORE, SalvageArgs};
use crate::console::Console;
use crate::inputs::InputArgs;
use crate::number::{bytes, counted, utc};
use crate::output::{shell_word, system_error};
use crate::parse::CountOrAll;

/// How a command line for this store begins.
pub(crate) fn command(args: &Args) -> String {
    if args.store == Path::new(STORE) {
        return "dedupdb".to_owned();
    }
    format!(
        "dedupdb --store {}",
        shell_word(&args.store.to_string_lossy())
    )
}

/// Whether this is the folder of a store.
pub(crate) fn is_store(path: &Path) -> bool {
    path.join("index.redb").is_file()
}

/// Opens the store for reading. A writer and other readers may have it open.
pub(crate) fn open_to_read(args: &Args) -> Result<Store> {
    let opened = options(args).read_only(true).open(&args.store);
    opened.map_err(|error| of_folder(args, error))
}

/// Opens a store other than the one that the arguments name, for reading.
pub(crate) fn open_other(options: &Options, folder: &Path) -> Result<Store> {
    let opened = options.clone().read_only(true).open(folder);
    opened.map_err(of_other)
}

/// Opens the store for writing.
pub(crate) fn open_to_write(args: &Args) -> Result<Store> {
    let opened = options(args).open(&args.store);
    let store = opened.map_err(|error| unwritable(args, error))?;
    tell_put_aside(&store, &Console::new(args.quiet));
    Ok(store)
}

/// Prints which files of other stores were in the way. They are in the way only once.
fn tell_put_aside(store: &Store, console: &Console) {
    let files = store.put_aside().iter();
    let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
    if !files.is_empty() {
        console.note(&format!(
            "{}: of another store, and in the way, so renamed; move to that store what is missed there, or delete it",
            files.join(", ")
        ));
    }
}

/// Explains what is possible with a store that can be read but not opened for writing.
fn unwritable(args: &Args, error: Error) -> anyhow::Error {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    match &error {
        Error::Io { source, .. }
            if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
                && open_to_read(args).is_ok() =>
        {
            let (why, what) = match source.kind() {
                ReadOnlyFilesystem => ("its file system is read-only", ""),
                _ => ("you have no right to", "ask its owner for access, or "),
            };
            anyhow!(
                "{}: this store can be read but not written: {why}; {what}work on a copy (backup)",
                args.store.display()
            )
        }
        _ => of_folder(args, error),
    }
}

/// Says of a file in the place of the store's folder that it is one.
fn of_folder(args: &Args, error: Error) -> anyhow::Error {
    match &error {
        Error::NotAStore { path } | Error::Occupied { path }
            if *path == args.store && path.is_file() =>
        {
            anyhow!(
                "{}: this is a file, and a store is a folder; name one with --store",
                path.display()
            )
        }
        _ => error.into(),
    }
}

/// Creates the store.
pub(crate) fn create(args: &Args, schema: &Schema) -> Result<Store> {
    let created = options(args).create(&args.store, schema);
    created.map_err(|error| of_folder(args, error))
}

/// Refuses integers that are shingles for a store of texts, before anything is made. `new` is the schema of a store that
/// does not exist yet.
pub(crate) fn check_shingles(args: &Args, inputs: &InputArgs, new: &Schema) -> Result<()> {
    if inputs.format != Some(dedupdb_corpus::Format::Shingles) {
        return Ok(());
    }
    match open_to_read(args) {
        Ok(store) => inputs.check_shingles(&store.schema()),
        Err(_) => inputs.check_shingles(new),
    }
}

/// Opens the store for writing, or creates it with these parameters and prints a note.
///
/// Returns `None` if the user asked to stop while another process had the store.
pub(crate) fn open_or_create(
    args: &Args,
    options: Options,
    schema: &Schema,
    progress: &Progress,
    console: &Console,
) -> Result<Option<Store>> {
    let options = options.progress(progress);
    let (opened, is_new) = match options.open(&args.store) {
        Err(Error::NotAStore { .. }) => (options.open_or_create(&args.store, schema), true),
        opened => (opened, false),
    };
    let store = match opened {
        Err(Error::Stopped) => return Ok(None),
        opened => opened.map_err(|error| unwritable(args, error))?,
    };
    tell_put_aside(&store, console);
    if is_new {
        console.note(&format!("made a store in {}", args.store.display()));
    }
    Ok(Some(store))
}

/// Opens the store for writing, or makes a temporary one.
///
/// The temporary store has the default parameters, or is a copy of a store that may only be read. It is gone when the
/// caller drops it.
pub(crate) fn open_or_pretend(
    args: &Args,
    options: &Options,
) -> Result<(Option<TemporaryStore>, Store)> {
    let pretended = match options.open(&args.store) {
        Err(Error::NotAStore { path }) if !path.is_file() => temporary(args, &Schema::default())?,
        Err(error @ (Error::Io { .. } | Error::Index { .. })) => {
            let copied = TemporaryStore::copy(options, &temp_dir(), &args.store);
            copied.map_err(|_| error)?
        }
        opened => return Ok((None, opened.map_err(|error| of_folder(args, error))?)),
    };
    let store = pretended.clone();
    Ok((Some(pretended), store))
}

/// Makes a store that is gone when the caller drops it.
pub(crate) fn temporary(args: &Args, schema: &Schema) -> Result<TemporaryStore> {
    let made = TemporaryStore::create(&options(args), &temp_dir(), schema);
    made.context("cannot make a temporary store")
}

/// Checks the store. `progress` counts the steps.
pub(crate) fn check(args: &Args, progress: &Progress) -> Result<CheckReport> {
    let options = options(args).progress(progress);
    let checked = options.check(&args.store);
    checked.map_err(|error| of_folder(args, error))
}

/// Salvages a store, and reports each document that is not intact.
pub(crate) fn salvage(
    args: &Args,
    salvage: &SalvageArgs,
    schema: Option<&Schema>,
    progress: &Progress,
    told: impl FnMut(&Casualty),
) -> Result<SalvageSummary> {
    let options = options(args).progress(progress);
    let saved = options.salvage(&salvage.source, &salvage.target, schema, told);
    saved.map_err(of_other)
}

/// Explains an error of a store other than that of `--store`. The message does not advise to create it.
fn of_other(error: Error) -> anyhow::Error {
    match error {
        Error::NotAStore { .. } => anyhow!("{error}"),
        error => error.into(),
    }
}

/// An error of adding a corpus, or the store's own error if that was the cause.
pub(crate) fn of_corpus(error: dedupdb_corpus::Error) -> anyhow::Error {
    match error {
        dedupdb_corpus::Error::Store { source } => source.into(),
        error => error.into(),
    }
}

/// What to do if the place of an output is taken.
const EXISTS: &str = "; replace it with --force, or write to another place";

/// What to do where an output is a folder such as `.` or `..`.
const NO_NAME: &str = "; name a new one";

/// What kind of error it is, in a word.
pub(crate) fn kind(error: &anyhow::Error) -> &'static str {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(Error::Locked { .. } | Error::Rebuilding { .. } | Error::Blocked { .. }), _)
        | (_, Some(dedup::Error::Held { .. })) => BUSY,
        (Some(Error::Damaged { .. }), _) => "damaged",
        (Some(Error::NotAStore { .. }), _) => "no_store",
        (Some(Error::NewerFormat { .. } | Error::OlderFormat { .. }), _) => "format",
        _ if system_error(error).is_some() => "system",
        _ => "failed",
    }
}

/// The kind of an error that may be gone when the command is repeated.
pub(crate) const BUSY: &str = "busy";

/// What is wrong and what to do, in terms of this program's options.
pub(crate) fn message(error: &anyhow::Error) -> String {
    match error.downcast_ref() {
        Some(Error::Locked { path, holder }) => locked(path, *holder),
        Some(Error::Rebuilding { path, process }) => rebuilding(path, *process),
        _ => format!("{error:#}{}", advice(error)),
    }
}

/// Says who writes to a store, if that is known.
fn locked(path: &Path, holder: Option<Holder>) -> String {
    let who = match holder {
        Some(holder) => match holder.since {
            Some(since) => format!(
                "{holder} has been writing to the store since {}",
                utc(since)
            ),
            None => format!("{holder} is writing to the store"),
        },
        None => "another process is writing to the store".to_owned(),
    };
    format!(
        "{}: {who}; try again when it is done, or wait for it with --wait TIME",
        path.display()
    )
}

/// Says who rebuilds a store, if that is known.
fn rebuilding(path: &Path, process: Option<u32>) -> String {
    let who = match process {
        Some(process) => format!("process {process}"),
        None => "another process".to_owned(),
    };
    format!(
        "{}: {who} is rebuilding the store; `reindex --status` says how far it is; try again when it is done, or wait for \
         it with --wait TIME",
        path.display()
    )
}

/// What to do about an error of the library, in terms of this program's options.
fn advice(error: &anyhow::Error) -> String {
    match error.downcast_ref() {
        Some(publish::Error::Exists { .. }) => return EXISTS.to_owned(),
        Some(publish::Error::NoName { .. }) => return NO_NAME.to_owned(),
        _ => {}
    }
    if let Some(dedupdb_corpus::Error::FilesNotFound { .. }) = error.downcast_ref() {
        return ", or with --force if they are gone".to_owned();
    }
    let advice = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(Error::NotAStore { .. }), _) => {
            "; name another one with --store, or make one with init or add".to_owned()
        }
        (Some(Error::NoShingles), _) => ", with init and without --no-shingles".to_owned(),
        (_, Some(error)) => advice_on_dedup(error),
        _ => String::new(),
    };
    if advice.is_empty() && system_error(error) == Some(io::ErrorKind::StorageFull) {
        return "; make room there, or write to another place".to_owned();
    }
    advice
}

fn advice_on_dedup(error: &dedup::Error) -> String {
    const FIRST: &str = "--keep first needs no temporary files, unless passages are cut";
    let advice = match error {
        dedup::Error::Output(publish::Error::Exists { .. }) => EXISTS,
        dedup::Error::Output(publish::Error::NoName { .. }) => NO_NAME,
        dedup::Error::StreamOfText { .. } => "; say with --format what records it has",
        dedup::Error::Unfit { unfit, .. } => match unfit {
            Unfit::RecordsInList => "; leave --list out for records",
            Unfit::DocumentInRecords => " with --format",
            Unfit::NoText => "; leave such files out with --exclude",
            _ => "",
        },
        dedup::Error::TemporaryLimit { limit, .. } => {
            return format!(
                "; allow more than {} with --temp-limit SIZE, or make room; {FIRST}",
                bytes(*limit)
            );
        }
        dedup::Error::Temporary { .. } => return format!("; {FIRST}"),
        _ => "",
    };
    advice.to_owned()
}

/// Reports how often a search left out candidates, if any did.
pub(crate) fn note_cut_short(times: u64, args: &Args, console: &Console) {
    if let (CountOrAll::Some(most), 1..) = (args.false_candidates, times) {
        console.note(&format!(
            "{}, a search skipped candidates after {} that did not match; --false-candidates all \
             compares every one",
            counted(times, "time", "times"),
            most,
        ));
    }
}

/// Reports how many texts a search by containment left out, if any.
pub(crate) fn note_short(store: &Store, short: u64, shortest: usize, console: &Console) {
    if short == 0 {
        return;
    }
    let (shingling, tokens) = (store.schema().shingling(), tokens(store));
    let shingles = (shortest + 1).saturating_sub(usize::from(shingling.k()));
    let texts = counted(short, "text", "texts");
    console.note(&format!(
        "left out {texts} shorter than {shortest} {tokens} (fewer than {shingles} distinct shingles); --shortest 1 \
         compares them, too"
    ));
}

/// What the tokens of a store are.
pub(crate) fn tokens(store: &Store) -> &'static str {
    match store.schema().shingling() {
        Shingling::Word(_) => "words",
        Shingling::Char(_) | Shingling::CharNoSpace(_) => "characters",
        Shingling::Byte(_) => "bytes",
        _ => "tokens",
    }
}

/// Reports that nothing was found: `what`, or that the store is empty. Returns whether it reported `what`.
pub(crate) fn note_none(store: &Store, what: &str, console: &Console) -> Result<bool> {
    if console.is_quiet() {
        return Ok(false);
    }
    let has_documents = store.documents()?.next().transpose()?.is_some();
    console.note(if has_documents {
        what
    } else {
        "the store is empty"
    });
    Ok(has_documents)
}

/// How a search finds all pairs below the store's threshold.
pub(crate) const EXHAUSTIVE: &str = "--exhaustive finds all of them";

/// Reports what a threshold below the store's misses, and how the store finds more.
pub(crate) fn note_threshold_of(
    args: &Args,
    store: &Store,
    threshold: Option<f64>,
    console: &Console,
) {
    let remedy = threshold.map_or_else(String::new, |threshold| {
        format!(
            "to find more, give the store this threshold: `{} reindex --threshold {threshold}`",
            command(args)
        )
    });
    note_threshold(store, threshold, &remedy, console);
}

/// Reports what a threshold below the store's misses. `remedy` says what to do, if anything helps.
pub(crate) fn note_threshold(
    store: &Store,
    threshold: Option<f64>,
    remedy: &str,
    console: &Console,
) {
    let missed = threshold.and_then(|threshold| store.schema().missed_at(threshold));
    let Some(missed) = missed else {
        return;
    };
    console.note(&missed);
    if !remedy.is_empty() {
        console.note(remedy);
    }
}

/// How a store is opened.
pub(crate) fn options(args: &Args) -> Options {
    Options::new()
        .threads(args.threads)
        .wait(args.wait)
        .false_candidates(args.false_candidates.of(usize::MAX))
}

/// What to do in a store that finds no passages.
pub(crate) fn without_passages(args: &Args, store: &Store) -> String {
    if !store.schema().keeps_shingles() {
        return "this store keeps no shingles, which passages are compared by; make another one with `init`, and add \
                the texts to it"
            .to_owned();
    }
    format!(
        "this store finds no passages: `{} reindex --passage 20 --from PATH...` changes that, where PATHs have the \
         texts that were added",
        command(args)
    )
}

/// Says that some texts have no fingerprints, if any have none.
pub(crate) fn note_unfingerprinted(store: &Store, args: &Args, console: &Console) -> Result<()> {
    let without = store.stats()?.unfingerprinted;
    if without > 0 {
        console.note(&format!(
            "{}, and passages in {} are not found; `{} reindex --passage {} --from PATH...` reads the texts in PATHs again",
            counted(without, "stored text has no fingerprints", "stored texts have no fingerprints"),
            if without == 1 { "it" } else { "them" },
            command(args),
            store.schema().passage(),
        ));
    }
    Ok(())
}

//! What `dedup` and `move` have in common: how documents are judged, and the messages about it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use dedupdb::sketching::{SchemaBuilder, Shingling};
use dedupdb::{Options, Progress, Schema};
use dedupdb_corpus::dedup::{self, DedupEvent, DedupSummary, SpareReason};
use dedupdb_corpus::{Hint, Reason, Skipped, Source};

use crate::args::{Args, ComparisonArgs, JudgingArgs};
use crate::console::Console;
use crate::inputs::{InputArgs, sources};
use crate::keys::{self, NAMED};
use crate::left_out::{LeftOutArgs, LeftOutReporter, NamingScope, advice};
use crate::number::{counted, grouped};
use crate::output::escape;
use crate::progress::ReadingBar;
use crate::read_counts::{ALL_SKIPPED, ReadCountsText as _};
use crate::store;

/// What the arguments ask for, except for the output.
pub(super) fn judged(
    args: &Args,
    paths: &[PathBuf],
    judging: &JudgingArgs,
    store_options: Options,
) -> Result<dedup::Dedup> {
    let schema = schema(&judging.parameters)?;
    let mut asked = dedup::Dedup::new(sources(paths, None))
        .reading(judging.inputs.options())
        .memory(judging.memory)
        .skip_unreadable(judging.skip_unreadable)
        .protect(judging.protect.iter().cloned())
        .schema(schema.clone())
        .store_options(store_options);
    if let Some(keep) = judging.keep {
        asked = asked.keep(keep);
    }
    if let Some(path) = &judging.against {
        asked = if store::is_store(path) {
            if !judging.ignored.ignore.is_empty() {
                bail!(
                    "--ignore: texts are stored in {} with what is to be ignored; name their files with --against",
                    path.display()
                );
            }
            let options = store::options(args).expect(given(&judging.parameters));
            let store = store::open_other(&options, path);
            let store = store.map_err(|error| mismatched(path, error))?;
            judging.inputs.check_shingles(&store.schema())?;
            asked.against(&store)
        } else {
            judging.inputs.check_shingles(&schema)?;
            asked.against_corpus([Source::path(path)])
        };
    } else if args.store_given {
        store::check_shingles(args, &judging.inputs, &schema)?;
    } else {
        judging.inputs.check_shingles(&schema)?;
    }
    if let Some(list) = &judging.keys_from {
        asked = asked.drop_only(keys::listed(list, judging.escaped)?);
    }
    if let Some(bytes) = judging.temp_limit {
        asked = asked.temporary_limit(bytes);
    }
    Ok(asked)
}

/// How stores are opened, or made, in which texts are judged: without what is to be ignored.
pub(super) fn store_options(
    args: &Args,
    judging: &JudgingArgs,
    console: &Console,
) -> Result<Options> {
    let (options, ignored) = (store::options(args), &judging.ignored);
    if args.store_given && !ignored.ignore.is_empty() {
        bail!(
            "--ignore compares the input with itself or with --against: a store has its texts with what is to be ignored; \
             leave out --store (or DEDUPDB_STORE)"
        );
    }
    let schema = schema(&judging.parameters)?;
    let ignored = ignored.shingles(args, &schema, &judging.inputs.options(), console)?;
    Ok(ignored.map_or(options.clone(), |ignored| options.ignore(&ignored)))
}

pub(super) fn schema(parameters: &ComparisonArgs) -> Result<Schema> {
    Ok(given(parameters).build()?)
}

/// The parameters that were given.
pub(super) fn given(parameters: &ComparisonArgs) -> SchemaBuilder {
    let mut schema = Schema::builder();
    if let Some(threshold) = parameters.threshold {
        schema = schema.threshold(threshold);
    }
    if let Some(shingling) = parameters.shingling {
        schema = schema.shingling(shingling);
    }
    if let Some(permutations) = parameters.permutations {
        schema = schema.permutations(permutations);
    }
    schema
}

/// Says of a parameter that differs from the store's that it is an option.
pub(super) fn mismatched(store: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(dedupdb::Error::SchemaMismatch {
            parameter, stored, ..
        }) => anyhow!(
            "{}: the store has --{parameter} {stored}; leave the option out, or choose another store",
            store.display()
        ),
        _ => error,
    }
}

/// What distinguishes equal ids of two files in one output.
const ONLY_FILE: &str =
    "; if they are different documents, --id-scope file makes their keys PATH#ID";

/// Reports on a run.
pub(super) struct DedupReporter<'a> {
    console: &'a Console,
    progress: Progress,
    left_out: LeftOutReporter,
    pub(super) bar: ReadingBar,
    /// Whether a key was repeated. Only the first is reported.
    has_repeated: bool,
    /// Whether records stay in their files in any case, so that those that cannot be read are only counted.
    pub(super) are_records_left: bool,
    /// What the files are compared with, if that is a file or a folder.
    pub(super) against: Option<PathBuf>,
    /// The number of files and records that could not be read.
    pub(super) failures: u64,
    /// The number of listed keys whose documents are not dropped, and of those for which no document was read.
    spared: u64,
    pub(super) unread: u64,
    /// An error of this program that ends the run.
    pub(super) failed: Option<anyhow::Error>,
}

impl<'a> DedupReporter<'a> {
    /// Reports nothing yet. `store` is the folder that is skipped.
    pub(super) fn new(
        store: &Path,
        paths: &[PathBuf],
        inputs: &InputArgs,
        telling: &LeftOutArgs,
        console: &'a Console,
        progress: &Progress,
    ) -> Result<DedupReporter<'a>> {
        let (plan, paths) = (inputs.options().store(store), paths.to_vec());
        Ok(DedupReporter {
            console,
            progress: progress.clone(),
            left_out: LeftOutReporter::begin(console, telling, NamingScope::Failures)?,
            bar: ReadingBar::new(
                console,
                move || plan.disk_bytes(sources(&paths, None)),
                progress,
            ),
            has_repeated: false,
            are_records_left: false,
            against: None,
            failures: 0,
            spared: 0,
            unread: 0,
            failed: None,
        })
    }

    /// Whether it is a record that stays in its file in any case, or such a file. What is missing of --against is reported.
    fn is_left(&self, skipped: &Skipped) -> bool {
        let place = Path::new(&skipped.place);
        let is_against = (self.against.as_ref()).is_some_and(|against| place.starts_with(against));
        self.are_records_left && is_of_records(skipped) && !is_against
    }

    /// Reports an event. A failure stops the run.
    pub(super) fn observe(&mut self, event: DedupEvent<'_>) {
        let told = match event {
            DedupEvent::Forgotten { documents } => {
                note_forgotten(documents, self.console);
                Ok(())
            }
            DedupEvent::Skipped(skipped) if self.is_left(skipped) => self.left_out.list(skipped),
            DedupEvent::Skipped(skipped) => {
                self.failures += u64::from(skipped.is_failure());
                self.left_out.tell(skipped)
            }
            DedupEvent::Repeated { .. } if self.are_records_left => Ok(()),
            DedupEvent::Repeated { place, repeated } => {
                if !std::mem::replace(&mut self.has_repeated, true) {
                    let advice = match repeated.hint {
                        Some(Hint::IdScope) => ONLY_FILE,
                        hint => hint.map_or("", advice),
                    };
                    let detail = &repeated.detail;
                    self.console.error(&format!("{place}: {detail}{advice}"));
                }
                Ok(())
            }
            DedupEvent::Spared { key, why } => {
                self.spare(key, why);
                Ok(())
            }
            DedupEvent::Publishing => {
                self.bar.finish();
                if self.spared > NAMED {
                    let more = grouped(self.spared - NAMED);
                    self.console
                        .error(&format!("and {more} more listed keys are not dropped"));
                }
                self.left_out.finish()
            }
            _ => Ok(()),
        };
        self.progress.stop_on(told, &mut self.failed);
    }

    /// Reports a listed key whose document is not dropped. The first ones are named, the others only counted.
    fn spare(&mut self, key: &str, why: SpareReason) {
        self.spared += 1;
        let is_failure = matches!(why, SpareReason::Unknown | SpareReason::LeftOut);
        self.unread += u64::from(is_failure);
        if self.spared > NAMED {
            return;
        }
        let line = format!("{}: {why}", escape(key));
        if is_failure {
            self.console.error(&line);
        } else {
            self.console.note(&line);
        }
    }
}

/// Whether it is a record that is not a document, or a file of records without documents.
fn is_of_records(skipped: &Skipped) -> bool {
    let of_records = [Reason::BadRecord, Reason::AllBad, Reason::RepeatedKey];
    of_records.contains(&skipped.reason) || skipped.is_of_fields()
}

/// A line about patterns of --exclude that matched nothing, neither in the input nor in what it is compared with.
pub(super) fn exclusion_note(done: &DedupSummary, judging: &JudgingArgs) -> Option<String> {
    let others = done.compared.as_ref().map(|compared| &compared.reading);
    let has_excluded = others.is_some_and(|it| it.by_reason().contains_key(&Reason::Excluded));
    let note = done.reading.no_exclusion_note(&judging.inputs);
    note.filter(|_| !has_excluded)
}

/// Reports how many documents of an interrupted run were forgotten, if any.
pub(super) fn note_forgotten(forgotten: u64, console: &Console) {
    if forgotten > 0 {
        let documents = counted(forgotten, "document", "documents");
        console.note(&format!(
            "removed {documents} that an interrupted dedup had stored"
        ));
    }
}

/// Adds what this program knows about an error.
pub(super) fn explained(error: dedup::Error) -> anyhow::Error {
    match error {
        // The reader of standard output wants no more.
        dedup::Error::Stream { source } if source.kind() == ErrorKind::BrokenPipe => {
            io::Error::from(ErrorKind::BrokenPipe).into()
        }
        dedup::Error::Store(error) => error.into(),
        error @ dedup::Error::PassageMemory { .. } => anyhow!("{error} (--memory, --cut-passages)"),
        dedup::Error::NothingToCompare => anyhow!(
            "nothing could be read of --against, so nothing is written; --text-field and --id-field hold for it as for \
             INPUT, or name a store"
        ),
        error => error.into(),
    }
}

/// A note on dropped documents that share only their words with another one, not their exact text.
pub(super) fn words_note(done: &DedupSummary, judging: &JudgingArgs) -> Option<String> {
    let counts = done.of_input.same_words + done.of_history.same_words;
    let words = judging.parameters.shingling.unwrap_or_default();
    if counts == 0 || !matches!(words, Shingling::Word(_)) {
        return None;
    }
    let texts = counted(
        counts,
        "dropped text has the same words as another one, but is not the same",
        "dropped texts have the same words as other ones, but are not the same",
    );
    Some(format!(
        "{texts}: case, spacing, punctuation and symbols do not count, so -500 is like +500 (`explain A B` shows what differs; \
         with --shingling code:5, symbols count)"
    ))
}

/// A note if there was nothing to read at all.
pub(super) fn nothing_note(done: &DedupSummary) -> Option<String> {
    if done.reading.is_all_skipped() {
        return Some(ALL_SKIPPED.to_owned());
    }
    let is_nothing = done.documents == 0 && done.reading.all_skipped() == 0;
    is_nothing.then(|| "there was nothing to compare: no file or record was found".to_owned())
}

/// Tells what --against left out, and that it has nothing.
pub(super) fn tell_compared(done: &DedupSummary, console: &Console) {
    let Some(compared) = &done.compared else {
        return;
    };
    if compared.documents == 0 {
        console.warning("--against has no document, so nothing was compared with it");
    }
    if let Some(note) = compared.reading.left_out_note(false) {
        console.note(&format!(
            "of --against, {note}; nothing was compared with these"
        ));
    }
}

/// A note on short texts, unless they were compared as a store says.
pub(super) fn short_note(
    done: &DedupSummary,
    args: &Args,
    judging: &JudgingArgs,
) -> Result<Option<String>> {
    if args.store_given || judging.against.is_some() {
        return Ok(None);
    }
    Ok(done.reading.short_note(&schema(&judging.parameters)?))
}

//! Work on each document of a corpus.

use std::ops::ControlFlow;

use crate::add::EndReason;
use crate::error::Error;
use crate::item::{Item, ItemBatch, Origin, SourcedText, count_items};
use crate::options::Options;
use crate::read::batches::for_each_batch;
use crate::read_counts::ReadCounts;
use crate::skipped::Skipped;
use crate::source::Source;
use dedupdb::Progress;
use rayon::prelude::*;

/// Works on each document of a corpus: on several at a time, with the results in the order of the input.
///
/// The work runs on the threads of rayon's pool while the next batch is read. The observer receives the results and the
/// skipped items on the caller's thread.
///
/// ```
/// use dedupdb_corpus::{EachEvent, ForEach};
/// use dedupdb::{Query, Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let lines = folder.path().join("pages.jsonl");
/// let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
/// store.insert_unless_duplicate("tram", "The night tram runs again from Friday on, every half hour")?;
/// std::fs::write(&lines, "{\"id\": 1, \"text\": \"the night tram runs again from friday on every half hour\"}\nno JSON\n")?;
///
/// // Which documents of these files resemble one that is stored?
/// let mut found = Vec::new();
/// let worked = ForEach::new([&lines]).run(
///     |document| store.query(&Query::text(document.text()).except(&document.key)),
///     |event| {
///         match event {
///             EachEvent::Document(origin, matches) => found.push((origin.key, matches[0].key.clone())),
///             EachEvent::Skipped(skipped) => println!("left out: {skipped}"),
///             _ => {}
///         }
///     },
/// )?;
/// assert_eq!(found, [("1".to_owned(), "tram".to_owned())]);
/// assert_eq!((worked.documents, worked.reading.all_skipped()), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is read before it is run"]
pub struct ForEach {
    sources: Vec<Source>,
    options: Options,
    progress: Progress,
}

/// An event for the observer of [`ForEach::run`], in the order of the input.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "nearly all events are documents")]
pub enum EachEvent<'a, T> {
    /// A document, and the result of the work on it.
    Document(Origin, T),
    /// A file or record is skipped.
    Skipped(&'a Skipped),
}

/// The result of working on the documents of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForEachSummary {
    /// Documents that were worked on.
    pub documents: u64,
    /// Files that were not read because they are [stored as they are](Options::added_to).
    pub unchanged: u64,
    /// Counts of what was read and skipped.
    pub reading: ReadCounts,
    /// Why the run ended.
    pub ended: EndReason,
}

impl ForEach {
    /// Works on the documents of these sources.
    pub fn new<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> ForEach {
        ForEach {
            sources: sources.into_iter().map(Into::into).collect(),
            options: Options::new(),
            progress: Progress::new(),
        }
    }

    /// Sets how the corpus is read. If it is read [strictly](Options::strict), the run ends at the first failure.
    pub fn reading(self, options: Options) -> ForEach {
        ForEach { options, ..self }
    }

    /// Counts documents, and bytes of their sources, in this progress. If it is stopped, the run ends after a document,
    /// and the summary says [`EndReason::Stopped`].
    pub fn progress(self, progress: &Progress) -> ForEach {
        ForEach {
            progress: progress.clone(),
            ..self
        }
    }

    /// Works on each document and reports to the observer.
    ///
    /// A document that the work refuses with [`InvalidKey`](dedupdb::Error::InvalidKey) or
    /// [`InvalidText`](dedupdb::Error::InvalidText) is skipped.
    ///
    /// # Errors
    ///
    /// The first other error of the work, in the order of the input; [`Error::Thread`].
    pub fn run<T: Send>(
        self,
        work: impl Fn(&SourcedText) -> dedupdb::Result<T> + Sync,
        mut observe: impl FnMut(EachEvent<'_, T>),
    ) -> Result<ForEachSummary, Error> {
        let (options, _ending) = self.options.begin();
        let strict = options.strict;
        let batches = options.batches(self.sources)?;
        let mut worked = ForEachSummary::default();
        let progress = self.progress;
        let stopped = ControlFlow::Break(EndReason::Stopped);
        if progress.go_on().is_err() {
            worked.ended = EndReason::Stopped;
            return Ok(worked);
        }
        let ended = for_each_batch(&batches, |batch| -> Result<_, Error> {
            let batch = batch.unwrap_or_default();
            progress.count_read(count_items(&batch.items), batch.bytes);
            for item in done(batch, &work) {
                worked.take(item, &mut observe)?;
                if progress.is_stopped() {
                    return Ok(stopped);
                }
                if strict && worked.reading.has_failures() {
                    return Ok(ControlFlow::Break(EndReason::All));
                }
            }
            Ok(match progress.go_on() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => stopped,
            })
        })?;
        worked.ended = ended.unwrap_or_default();
        Ok(worked)
    }
}

/// Runs the work on the documents of a batch.
fn done<T: Send>(
    batch: ItemBatch,
    work: &(impl Fn(&SourcedText) -> dedupdb::Result<T> + Sync),
) -> Vec<Item<(Origin, dedupdb::Result<T>)>> {
    batch
        .items
        .into_par_iter()
        .map(|item| match item {
            Item::Document(document) => {
                let result = work(&document);
                Item::Document((document.into_origin(), result))
            }
            Item::Unchanged(key) => Item::Unchanged(key),
            Item::Skipped(skipped) => Item::Skipped(skipped),
            Item::Opened(opened) => Item::Opened(opened),
        })
        .collect::<Vec<_>>()
}

impl ForEachSummary {
    fn take<T>(
        &mut self,
        item: Item<(Origin, dedupdb::Result<T>)>,
        observe: &mut impl FnMut(EachEvent<'_, T>),
    ) -> Result<(), Error> {
        let skipped = match item {
            Item::Document((origin, Ok(result))) => {
                self.documents += 1;
                self.reading.document(&origin);
                if origin.repeated.is_some() {
                    self.reading.repeated();
                }
                observe(EachEvent::Document(origin, result));
                return Ok(());
            }
            Item::Document((origin, Err(error))) => match error {
                dedupdb::Error::InvalidKey { .. } | dedupdb::Error::InvalidText { .. } => {
                    self.reading.document(&origin);
                    origin.refused(&error)
                }
                error => return Err(error.into()),
            },
            Item::Skipped(skipped) => skipped,
            Item::Unchanged(_) => {
                self.unchanged += 1;
                return Ok(());
            }
            // This run does not request verbatim records.
            Item::Opened(_) => return Ok(()),
        };
        self.reading.skipped(&skipped);
        observe(EachEvent::Skipped(&skipped));
        Ok(())
    }
}

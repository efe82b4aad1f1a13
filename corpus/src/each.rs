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
use rayon::prelude::*;

/// Works on each document of a corpus: on several at a time, with the results in the order of the input.
///
/// The work runs on the threads of rayon's pool while the next batch is read. The observer receives the results and the
/// skipped items on the caller's thread.
///
/// ```
/// use std::ops::ControlFlow;
///
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
///         ControlFlow::Continue(())
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
    /// The progress, after each batch, and twenty times a second while nothing else happens.
    Progress {
        /// Documents and skipped items so far.
        documents: u64,
        /// Bytes of their sources, read or not.
        bytes: u64,
    },
}

/// The result of working on the documents of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForEachSummary {
    /// Documents that were worked on.
    pub documents: u64,
    /// Files that were not read because they are [stored as they are](Options::unless_stored).
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
        }
    }

    /// Sets how the corpus is read. If it is read [strictly](Options::strict), the run ends at the first failure.
    pub fn reading(self, options: Options) -> ForEach {
        ForEach { options, ..self }
    }

    /// Works on each document and reports to the observer, which may stop the run.
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
        mut observe: impl FnMut(EachEvent<'_, T>) -> ControlFlow<()>,
    ) -> Result<ForEachSummary, Error> {
        let (options, _ending) = self.options.begin();
        let strict = options.strict;
        let batches = options.batches(self.sources)?;
        let mut worked = ForEachSummary::default();
        let (mut documents, mut bytes) = (0, 0);
        let stopped = ControlFlow::Break(EndReason::Stopped);
        if observe(EachEvent::Progress { documents, bytes }).is_break() {
            worked.ended = EndReason::Stopped;
            return Ok(worked);
        }
        let ended = for_each_batch(&batches, |batch| -> Result<_, Error> {
            let batch = batch.unwrap_or_default();
            documents += count_items(&batch.items);
            bytes += batch.bytes;
            for item in done(batch, &work) {
                if worked.take(item, &mut observe)?.is_break() {
                    return Ok(stopped);
                }
                if strict && worked.reading.has_failures() {
                    return Ok(ControlFlow::Break(EndReason::All));
                }
            }
            let flow = observe(EachEvent::Progress { documents, bytes });
            Ok(if flow.is_break() {
                stopped
            } else {
                ControlFlow::Continue(())
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
        observe: &mut impl FnMut(EachEvent<'_, T>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let skipped = match item {
            Item::Document((origin, Ok(result))) => {
                self.documents += 1;
                self.reading.document(&origin);
                if origin.repeated.is_some() {
                    self.reading.repeated();
                }
                return Ok(observe(EachEvent::Document(origin, result)));
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
                return Ok(ControlFlow::Continue(()));
            }
            // This run does not request verbatim records.
            Item::Opened(_) => return Ok(ControlFlow::Continue(())),
        };
        self.reading.skipped(&skipped);
        Ok(observe(EachEvent::Skipped(&skipped)))
    }
}

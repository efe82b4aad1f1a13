//! Events for the observer while a corpus is written.

use std::fmt;
use std::path::Path;

use crate::decontaminate::Hit;
use crate::{Nth, ReadFile, RepeatedId, Skipped};
use dedupdb::{Match, Progress};

use crate::dedup::error::Result;
use crate::dedup::surviving_copy::SurvivingCopy;

/// An event for the observer. Events are reported in the order in which they happen.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum DedupEvent<'a> {
    /// Documents of an interrupted run were removed from the store.
    Forgotten {
        /// The number of documents.
        documents: u64,
    },
    /// A file or record is skipped.
    Skipped(&'a Skipped),
    /// A record has an id that came before with another text. It is judged like any other.
    Repeated {
        /// The file and the record.
        place: &'a str,
        /// Where the id came before, and what would help.
        repeated: &'a RepeatedId,
    },
    /// A document is dropped because it resembles another one.
    Dropped(&'a DroppedDocument<'a>),
    /// A key of [`Dedup::drop_only`](crate::dedup::Dedup::drop_only) whose document is not dropped.
    Spared {
        /// The key.
        key: &'a str,
        /// Why it is not dropped.
        why: SpareReason,
    },
    /// A document has an item of a benchmark: see [`decontaminate`](crate::decontaminate).
    Hit(&'a Hit<'a>),
    /// Everything is judged and durable, and the output is about to be put in its place. This is the last chance to
    /// stop.
    Publishing,
}

/// Why a document is not dropped although its key is given to
/// [`Dedup::drop_only`](crate::dedup::Dedup::drop_only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpareReason {
    /// No document that was read has this key.
    Unknown,
    /// Its file was skipped, so it is not known what it resembles.
    LeftOut,
    /// It resembles no document that is kept.
    Alone,
    /// It matches a pattern of [`Dedup::protect`](crate::dedup::Dedup::protect).
    Protected,
    /// It is a message whose attachments no kept message that it resembles has.
    Attachments,
}

impl fmt::Display for SpareReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SpareReason::Unknown => "no document that was read has this key",
            SpareReason::LeftOut => "its file was left out, so it is kept",
            SpareReason::Alone => "it resembles no document that is kept, so it is kept too",
            SpareReason::Protected => "it is protected, so it is kept",
            SpareReason::Attachments => "no kept message has its attachments, so it is kept",
        })
    }
}

/// A dropped document, and the one that it resembles.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct DroppedDocument<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its file, or the name of the stream.
    pub source: &'a Path,
    /// The number of its record, if the file has records.
    pub record: Option<Nth>,
    /// The document that it resembles: the key under which it is stored, and their similarity.
    pub earlier: &'a Match,
    /// The file of the other document. `None` if that was in a store before this run, or without
    /// [lineage](crate::dedup::Dedup::lineage).
    pub earlier_source: Option<&'a Path>,
    /// The number of the other record, if it is known and its file has records.
    pub earlier_record: Option<Nth>,
    /// Whether the other document was stored before this run.
    pub stored_before: bool,
    /// Whether it is dropped only because the other document contains it: their similarity is below the threshold.
    pub is_contained: bool,
    /// Whether the text is not in the file as it is.
    pub(crate) is_extracted: bool,
    /// Whether a pattern protects the other document.
    pub(crate) is_earlier_protected: bool,
    /// What stands for the other document, if that was in a store and files are moved.
    pub(crate) surviving_copy: Option<&'a SurvivingCopy>,
    /// The files of both as they were when they were read, as far as known.
    pub(crate) files: [Option<ReadFile>; 2],
}

/// Reports events to the observer, and counts the progress.
pub(crate) struct Observer<'a> {
    observe: &'a mut dyn FnMut(DedupEvent<'_>),
    pub(crate) progress: Progress,
}

impl<'a> Observer<'a> {
    pub(crate) fn new(
        observe: &'a mut dyn FnMut(DedupEvent<'_>),
        progress: &Progress,
    ) -> Observer<'a> {
        Observer {
            observe,
            progress: progress.clone(),
        }
    }

    /// Reports an event.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`](crate::dedup::Error::Stopped) if the run was stopped.
    pub(crate) fn tell(&mut self, event: DedupEvent<'_>) -> Result<()> {
        (self.observe)(event);
        self.go_on()
    }

    /// Counts work done.
    ///
    /// # Errors
    ///
    /// Those of [`Observer::tell`].
    pub(crate) fn advance(&self, documents: u64, bytes: u64) -> Result<()> {
        self.progress.count_read(documents, bytes);
        self.go_on()
    }

    /// Returns whether to go on.
    ///
    /// # Errors
    ///
    /// Those of [`Observer::tell`].
    pub(crate) fn go_on(&self) -> Result<()> {
        Ok(self.progress.go_on()?)
    }
}

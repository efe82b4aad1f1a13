//! What an observer is told while a corpus is written.

use std::ops::ControlFlow;
use std::path::Path;

use crate::Match;
use crate::corpus::{Nth, Repeated, Skipped};

use crate::dedup::error::{Error, Result};

/// An event for the observer, in the order in which it happens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The store had so many documents of a run that was interrupted, and forgot them.
    Forgotten {
        /// How many.
        documents: u64,
    },
    /// A file or record is left out.
    Skipped(&'a Skipped),
    /// A record's id came before with another text. It is judged like any other.
    Repeated {
        /// The file and the record.
        place: &'a str,
        /// Where the id came before, and what would help.
        repeated: &'a Repeated,
    },
    /// A document is dropped, for the sake of another one.
    Dropped(&'a Dropped<'a>),
    /// How far it is: told after each batch, and twenty times a second while nothing else happens.
    Progress {
        /// Documents that were judged, or read where all are read first, and what was left out.
        documents: u64,
        /// Bytes that were read for them.
        bytes: u64,
    },
    /// All is judged and durable, and the output is about to take its place. To stop is possible once
    /// more.
    Publishing,
}

/// A document that is dropped, and the one that it resembles.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Dropped<'a> {
    /// Its key.
    pub key: &'a str,
    /// The file that it is in, or the name of the stream.
    pub source: &'a Path,
    /// Which record of its file it is, if the file has records.
    pub record: Option<Nth>,
    /// The document that it is like: the key that it is stored under, and how alike they are.
    pub earlier: &'a Match,
    /// The file that the other one is in. None if it was stored before, or if nobody asked for
    /// [lineage](crate::dedup::Dedup::lineage).
    pub earlier_source: Option<&'a Path>,
    /// Which record the other one is, if that is known and its file has records.
    pub earlier_record: Option<Nth>,
    /// Whether the other one was stored before this run.
    pub stored_before: bool,
}

/// Tells the observer, and learns whether to go on.
pub(crate) struct Observer<'a> {
    observe: &'a mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    documents: u64,
    bytes: u64,
}

impl<'a> Observer<'a> {
    /// Nothing happened yet.
    pub(crate) fn new(observe: &'a mut dyn FnMut(Event<'_>) -> ControlFlow<()>) -> Observer<'a> {
        Observer {
            observe,
            documents: 0,
            bytes: 0,
        }
    }

    /// Tells an event.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the observer says so.
    pub(crate) fn tell(&mut self, event: Event<'_>) -> Result<()> {
        match (self.observe)(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }

    /// Takes note of what was done.
    ///
    /// # Errors
    ///
    /// Those of [`Observer::tell`].
    pub(crate) fn advance(&mut self, documents: u64, bytes: u64) -> Result<()> {
        self.documents += documents;
        self.bytes += bytes;
        self.tick()
    }

    /// Tells how far it is.
    ///
    /// # Errors
    ///
    /// Those of [`Observer::tell`].
    pub(crate) fn tick(&mut self) -> Result<()> {
        self.tell(Event::Progress {
            documents: self.documents,
            bytes: self.bytes,
        })
    }
}

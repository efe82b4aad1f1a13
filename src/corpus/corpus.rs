//! Documents, one after the other.

use std::sync::mpsc::Receiver;
use std::vec;

use crate::corpus::error::Error;
use crate::corpus::options::Options;
use crate::corpus::skipped::{Reason, Skipped};
use crate::corpus::source::Source;
use crate::corpus::sourced::{Batch, Item, Sourced};

/// The documents of files, folders, patterns and streams, in the order in which these are given; the files of a
/// folder sorted by name.
///
/// Each is a document, or what was left out and why: nothing is left out in silence. A file that cannot be read,
/// or a broken record, is one such and no more; the rest goes on, unless [`Options::strict`] is set.
///
/// Reading runs ahead on a thread of its own, and uses rayon's global pool. Three batches of about 4 MB of text, or
/// of one larger document, are in memory at most: one is taken, one waits, one is being read. The thread ends when
/// the corpus is dropped, as soon as what it reads from returns.
#[derive(Debug)]
pub struct Corpus {
    batches: Receiver<Result<Batch, Error>>,
    items: vec::IntoIter<Item>,
}

impl Corpus {
    /// Begins to read as the command line would, without a flag.
    ///
    /// # Errors
    ///
    /// [`Error::Thread`]. What cannot be read is reported where it is met, and so are files that do not exist.
    pub fn open<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Result<Corpus, Error> {
        Options::new().open(sources)
    }

    /// How it can be read, to be chosen and [opened](Options::open).
    pub fn options() -> Options {
        Options::new()
    }

    /// The documents in these batches.
    pub(crate) fn of(batches: Receiver<Result<Batch, Error>>) -> Corpus {
        Corpus {
            batches,
            items: Vec::new().into_iter(),
        }
    }
}

impl Iterator for Corpus {
    type Item = Result<Sourced, Skipped>;

    fn next(&mut self) -> Option<Result<Sourced, Skipped>> {
        loop {
            match self.items.next() {
                Some(Item::Document(document)) => return Some(Ok(document)),
                Some(Item::Skipped(skipped)) => return Some(Err(skipped)),
                // The one was asked not to be read, the other is no document.
                Some(Item::Unchanged | Item::Opened(_)) => {}
                None => match self.batches.recv().ok()? {
                    Ok(batch) => self.items = batch.items.into_iter(),
                    // The thread that reads sends nothing after this.
                    Err(error) => return Some(Err(stopped(&error))),
                },
            }
        }
    }
}

/// Everything after this is left out.
fn stopped(error: &Error) -> Skipped {
    Skipped {
        reason: Reason::Stopped,
        place: "the rest of the corpus".to_owned(),
        detail: error.to_string(),
        hint: None,
    }
}

//! An iterator over the documents of a corpus.

use std::sync::mpsc::Receiver;
use std::vec;

use crate::error::Error;
use crate::item::{Item, ItemBatch, SourcedText};
use crate::options::Options;
use crate::skipped::{Reason, Skipped};
use crate::source::Source;

/// The documents of files, folders, patterns and streams, in the given order. The files of a folder are sorted by name.
///
/// Each item is a document, or a [`Skipped`] with its reason: nothing is skipped silently. An unreadable file or a
/// broken record is one skipped item; reading continues after it, unless [`Options::strict`] is set.
///
/// A thread reads ahead, and uses rayon's global pool. At most three batches of about 4 MB of text, or of one larger
/// document, are in memory: one is being used, one is waiting, one is being read. When the corpus is dropped, the
/// thread ends as soon as its current read returns.
#[derive(Debug)]
pub struct Corpus {
    batches: Receiver<Result<ItemBatch, Error>>,
    items: vec::IntoIter<Item>,
}

impl Corpus {
    /// Starts reading, with the default options of the command line.
    ///
    /// # Errors
    ///
    /// [`Error::Thread`]. Unreadable and missing files are items of the corpus.
    pub fn open<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Result<Corpus, Error> {
        Options::new().open(sources)
    }

    /// Returns options for reading. [`Options::open`] starts to read with them.
    pub fn options() -> Options {
        Options::new()
    }
}

impl Options {
    /// Starts reading, one document after another.
    ///
    /// # Errors
    ///
    /// [`Error::Thread`]. Unreadable and missing files are items of the corpus.
    pub fn open<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Result<Corpus, Error> {
        Ok(Corpus {
            batches: self.batches(sources)?,
            items: Vec::new().into_iter(),
        })
    }
}

impl Iterator for Corpus {
    type Item = Result<SourcedText, Skipped>;

    fn next(&mut self) -> Option<Result<SourcedText, Skipped>> {
        loop {
            match self.items.next() {
                Some(Item::Document(document)) => return Some(Ok(document)),
                Some(Item::Skipped(skipped)) => return Some(Err(skipped)),
                // An unchanged file was not read, and the start of a file is not a document.
                Some(Item::Unchanged(_) | Item::Opened(_)) => {}
                None => match self.batches.recv().ok()? {
                    Ok(batch) => self.items = batch.items.into_iter(),
                    // The reading thread sends nothing after this.
                    Err(error) => return Some(Err(stopped(&error))),
                },
            }
        }
    }
}

/// Reports the rest of the corpus as skipped because of an error.
fn stopped(error: &Error) -> Skipped {
    Skipped::new(
        Reason::Stopped,
        "the rest of the corpus".to_owned(),
        error.to_string(),
    )
}

//! Where batches are handed over to whoever takes them.

use std::cell::RefCell;
use std::sync::mpsc::SyncSender;

use crate::corpus::error::Error;
use crate::corpus::options::Options;
use crate::corpus::read::repeats::{Ids, Repeats};
use crate::corpus::skipped::{Reason, Skipped};
use crate::corpus::sourced::{Batch, Item};

/// The way out of the reader.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: SyncSender<Result<Batch, Error>>,
    strict: bool,
    repeats: Repeats,
    /// Everything goes out one after the other, so that the first of an id is the first of the input.
    ids: RefCell<Ids>,
}

/// Nothing more is to be read: the command ends early, or something failed and that ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Enough;

impl Outbox {
    /// An outbox for what is read in this way; nothing gets past the first failure if that is strict.
    pub(crate) fn new(sender: SyncSender<Result<Batch, Error>>, options: &Options) -> Outbox {
        Outbox {
            sender,
            strict: options.strict,
            repeats: options.repeats,
            ids: RefCell::default(),
        }
    }

    /// Hands over a batch; an empty one is kept back.
    pub(crate) fn send(&self, mut batch: Batch) -> Result<(), Enough> {
        if self.repeats != Repeats::Allow {
            batch
                .items
                .iter_mut()
                .for_each(|item| self.look_at_id(item));
        }
        let failed = |item: &Item| match item {
            Item::Skipped(skipped) => skipped.reason.is_failure(),
            Item::Document(document) => document.repeated.is_some(),
            Item::Unchanged | Item::Opened(_) => false,
        };
        let first = batch.items.iter().position(failed).filter(|_| self.strict);
        if let Some(first) = first {
            batch.items.truncate(first + 1);
        }
        if !batch.items.is_empty() {
            self.sender.send(Ok(batch)).map_err(|_| Enough)?;
        }
        first.map_or(Ok(()), |_| Err(Enough))
    }

    /// Takes note of a record's id, and of what is wrong if it came before with another text.
    fn look_at_id(&self, item: &mut Item) {
        let Item::Document(document) = item else {
            return;
        };
        let Some(repeated) = self.ids.borrow_mut().again(document) else {
            return;
        };
        if self.repeats == Repeats::Tell {
            document.origin.repeated = Some(repeated);
            return;
        }
        *item = Item::Skipped(Skipped {
            reason: Reason::RepeatedKey,
            place: document.place(),
            detail: repeated.detail,
            hint: repeated.hint,
            record: None,
        });
    }

    /// Says what keeps the whole command from going on.
    pub(crate) fn fail(&self, error: Error) -> Enough {
        // Nobody is left to be told when this fails.
        drop(self.sender.send(Err(error)));
        Enough
    }
}

//! Sends batches from the reader to its receiver.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use crate::error::Error;
use crate::item::{Item, ItemBatch};
use crate::options::{Options, Repeats};
use crate::read::repeats::SeenIds;
use crate::skipped::{Reason, Skipped};
use crate::source::Source;

/// The output of the reader.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: SyncSender<Result<ItemBatch, Error>>,
    strict: bool,
    /// The names of the sources.
    named: HashSet<String>,
    repeats: Repeats,
    /// All batches pass here in order, so the first record with an id is the first of the input.
    ids: RefCell<SeenIds>,
}

/// Reading is to stop: the receiver is gone, or a failure ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadingStopped;

impl Outbox {
    /// Returns an outbox for reading these sources with these options. If they are strict, nothing is sent after the
    /// first failure.
    pub(crate) fn new(
        sender: SyncSender<Result<ItemBatch, Error>>,
        sources: &[Source],
        options: &Options,
    ) -> Outbox {
        let names = sources.iter().map(|source| source.name().display());
        Outbox {
            sender,
            named: names.map(|name| name.to_string()).collect(),
            strict: options.strict,
            repeats: options.repeats,
            ids: RefCell::new(SeenIds::new(options.id_scope)),
        }
    }

    /// The names of the sources.
    pub(crate) fn named(&self) -> &HashSet<String> {
        &self.named
    }

    /// Whether a file is itself a source.
    pub(crate) fn is_named(&self, file: &Path) -> bool {
        self.named.contains(&file.display().to_string())
    }

    /// Whether the place is that of a record of a file that is itself a source.
    fn is_record_of_named(&self, place: &str) -> bool {
        let file = place.rsplit_once([':', '#']);
        file.is_some_and(|(file, _)| self.named.contains(file))
    }

    /// Sends a batch, unless it is empty.
    pub(crate) fn send(&self, mut batch: ItemBatch) -> Result<(), ReadingStopped> {
        if self.repeats != Repeats::Allow {
            batch
                .items
                .iter_mut()
                .for_each(|item| self.look_at_id(item));
        }
        // The reader of a file does not know whether it was named.
        for item in &mut batch.items {
            if let Item::Skipped(skipped) = item {
                skipped.named |= self.named.contains(&skipped.place);
                if skipped.reason == Reason::TooLarge && self.is_record_of_named(&skipped.place) {
                    skipped.reason = Reason::BadRecord;
                }
            }
        }
        let failed = |item: &Item| match item {
            Item::Skipped(skipped) => skipped.is_failure(),
            Item::Document(document) => document.repeated.is_some(),
            Item::Unchanged(_) | Item::Opened(_) => false,
        };
        // A strict run ends with its first failure, so nothing after that is sent.
        let first = batch.items.iter().position(failed).filter(|_| self.strict);
        if let Some(first) = first {
            batch.items.truncate(first + 1);
        }
        if !batch.items.is_empty() {
            self.sender.send(Ok(batch)).map_err(|_| ReadingStopped)?;
        }
        first.map_or(Ok(()), |_| Err(ReadingStopped))
    }

    /// Records the id of a document, and reports it if its key came before as an id with another text.
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
            hint: repeated.hint,
            ..Skipped::new(Reason::RepeatedKey, document.place(), repeated.detail)
        });
    }

    /// Sends an error that ends the run.
    pub(crate) fn fail(&self, error: Error) -> ReadingStopped {
        // If this fails, the receiver is gone.
        drop(self.sender.send(Err(error)));
        ReadingStopped
    }
}

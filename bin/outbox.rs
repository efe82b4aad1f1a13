//! Where batches are handed over to whoever takes them.

use std::sync::mpsc::SyncSender;

use anyhow::Result;

use crate::document::{Batch, Item};

/// The way out of the reader.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: SyncSender<Result<Batch>>,
    strict: bool,
}

/// Nothing more is to be read: the command ends early, or something failed and that ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Enough;

impl Outbox {
    /// An outbox that lets nothing past the first failure if `strict`.
    pub(crate) fn new(sender: SyncSender<Result<Batch>>, strict: bool) -> Outbox {
        Outbox { sender, strict }
    }

    /// Hands over a batch; an empty one is kept back.
    pub(crate) fn send(&self, mut batch: Batch) -> Result<(), Enough> {
        let failed =
            |item: &Item| matches!(item, Item::Skipped(skipped) if skipped.reason.is_failure());
        let first = batch.items.iter().position(failed).filter(|_| self.strict);
        if let Some(first) = first {
            batch.items.truncate(first + 1);
        }
        if !batch.items.is_empty() {
            self.sender.send(Ok(batch)).map_err(|_| Enough)?;
        }
        first.map_or(Ok(()), |_| Err(Enough))
    }

    /// Says what keeps the whole command from going on.
    pub(crate) fn fail(&self, error: anyhow::Error) -> Enough {
        // Nobody is left to be told when this fails.
        drop(self.sender.send(Err(error)));
        Enough
    }
}

//! From documents to sketches, one batch ahead of the store's writer.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;

use dedupdb::{Input, Store};

use crate::corpus_error::Error;
use crate::document::{Batch, Document, Item, Opened, place};
use crate::ingest::record::Nth;
use crate::skip::{Reason, Skipped};

/// What is kept of a document while the store has its text.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) key: String,
    pub(crate) source: PathBuf,
    pub(crate) line: Option<Nth>,
    /// Whether it is a record that brought an id.
    pub(crate) has_id: bool,
    /// Bytes of the file or text.
    pub(crate) bytes: u64,
    /// Name of the encoding that the text was in.
    pub(crate) encoding: &'static str,
    /// Whether bytes that are no characters were replaced in the text, and in the key.
    pub(crate) replaced: bool,
    pub(crate) lossy_key: bool,
    /// Time of a file's last change, as far as it is one document.
    pub(crate) modified: Option<i64>,
    /// What is wrong with its id, if it came before with another text.
    pub(crate) repeated: Option<String>,
    /// A record as it is in its file, if that is wanted.
    pub(crate) verbatim: Vec<u8>,
}

impl Origin {
    /// Leaves the document out, which the store does not take.
    pub(crate) fn refused(&self, error: &dedupdb::Error) -> Skipped {
        let reason = match (error, self.line) {
            (dedupdb::Error::InvalidKey { .. }, Some(_)) => Reason::BadRecord,
            (dedupdb::Error::InvalidKey { .. }, None) => Reason::BadKey,
            _ => Reason::BadText,
        };
        Skipped {
            reason,
            place: place(&self.source, self.line),
            detail: error.to_string(),
        }
    }
}

/// What became of one file or record, its text aside.
#[derive(Debug)]
pub(crate) enum Entry {
    /// The next document of the batch.
    Document(Origin),
    Unchanged,
    Skipped(Skipped),
    Opened(Opened),
}

/// A batch of the reader whose documents are sketched.
#[derive(Debug)]
pub(crate) struct Sketched {
    pub(crate) entries: Vec<Entry>,
    pub(crate) documents: dedupdb::Batch,
    /// Bytes that were read or spared.
    pub(crate) bytes: u64,
}

/// Sketches batches on a thread of its own as they come, as long as somebody takes them.
///
/// The thread holds the store only while it sketches, because it may outlive an interrupted add.
pub(crate) fn start<E: Send + 'static>(
    batches: Receiver<Result<Batch, E>>,
    store: &Arc<Store>,
) -> Result<Receiver<Result<Sketched, E>>, Error> {
    // No queue: one batch is being sketched, and one waits for its taker in the sender's hand.
    let (sender, receiver) = sync_channel(0);
    let store = Arc::downgrade(store);
    thread::Builder::new()
        .name("sketching".to_owned())
        .spawn(move || sketch_all(&batches, &store, &sender))
        .map_err(Error::thread)?;
    Ok(receiver)
}

fn sketch_all<E>(
    batches: &Receiver<Result<Batch, E>>,
    store: &Weak<Store>,
    sender: &SyncSender<Result<Sketched, E>>,
) {
    for batch in batches {
        let Some(store) = store.upgrade() else {
            return;
        };
        let sketched = batch.map(|batch| sketch(batch, &store));
        drop(store);
        if sender.send(sketched).is_err() {
            return;
        }
    }
}

fn sketch(batch: Batch, store: &Store) -> Sketched {
    let mut inputs = Vec::new();
    let entry = |item| match item {
        Item::Document(document) => {
            let (input, origin) = split(document);
            inputs.push(input);
            Entry::Document(origin)
        }
        Item::Unchanged => Entry::Unchanged,
        Item::Skipped(skipped) => Entry::Skipped(skipped),
        Item::Opened(opened) => Entry::Opened(opened),
    };
    Sketched {
        entries: batch.items.into_iter().map(entry).collect(),
        documents: store.sketch_all(inputs),
        bytes: batch.bytes,
    }
}

fn split(document: Document) -> (Input, Origin) {
    let origin = Origin {
        key: document.key.clone(),
        source: document.source,
        line: document.line,
        has_id: document.has_id,
        bytes: document.size.unwrap_or(document.text.len() as u64),
        encoding: document.encoding,
        replaced: document.replaced,
        lossy_key: document.lossy_key,
        modified: document.modified,
        repeated: document.repeated,
        verbatim: document.verbatim,
    };
    let input = Input {
        size: document.size,
        modified: document.modified,
        ..Input::new(document.key, document.text)
    };
    (input, origin)
}

//! From documents to sketches, one batch ahead of the store's writer.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;

use crate::{Input, Store};

use crate::corpus::document::{Batch, Document, Item, Opened, place};
use crate::corpus::error::Error;
use crate::corpus::formats::record::Nth;
use crate::corpus::skipped::{Reason, Skipped};

/// What is kept of a document while the store has its text.
#[derive(Debug)]
pub struct Origin {
    /// The key.
    pub key: String,
    /// The file that it is in, or the name of the stream.
    pub source: PathBuf,
    /// Which record of its file it is, if the file has records.
    pub line: Option<Nth>,
    /// Whether it is a record that brought an id.
    pub has_id: bool,
    /// Bytes of the file or text.
    pub bytes: u64,
    /// Name of the encoding that the text was in.
    pub encoding: &'static str,
    /// Whether bytes that are no characters were replaced in the text.
    pub replaced: bool,
    /// Whether bytes that are no characters were replaced in the key.
    pub lossy_key: bool,
    /// Time of a file's last change, as far as it is one document.
    pub modified: Option<i64>,
    /// What is wrong with its id, if it came before with another text.
    pub repeated: Option<String>,
    /// A record as it is in its file, if that is wanted.
    pub verbatim: Vec<u8>,
}

impl Origin {
    /// Leaves the document out, which the store does not take.
    pub fn refused(&self, error: &crate::Error) -> Skipped {
        let reason = match (error, self.line) {
            (crate::Error::InvalidKey { .. }, Some(_)) => Reason::BadRecord,
            (crate::Error::InvalidKey { .. }, None) => Reason::BadKey,
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
pub enum Entry {
    /// The next document of the batch.
    Document(Origin),
    /// A file that is as it was when it was stored, and was not read.
    Unchanged,
    /// It is left out.
    Skipped(Skipped),
    /// A file of records begins, which are wanted as they are.
    Opened(Opened),
}

/// A batch of the reader whose documents are sketched.
#[derive(Debug)]
pub struct Sketched {
    /// What became of each, in the order of the input.
    pub entries: Vec<Entry>,
    /// The sketches of those that are documents.
    pub documents: crate::Batch,
    /// Bytes that were read or spared.
    pub bytes: u64,
}

/// Sketches batches on a thread of its own as they come, as long as somebody takes them.
///
/// The thread holds the store only while it sketches, because it may outlive an interrupted add.
///
/// # Errors
///
/// The system allows no further thread.
pub fn start<E: Send + 'static>(
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

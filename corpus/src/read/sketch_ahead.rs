//! Sketches documents one batch ahead of the store's writer.

use std::sync::mpsc::Receiver;

use crate::error::Error;
use crate::item::{Item, ItemBatch, Origin};
use crate::read::batches::send_batches;
use dedupdb::{Input, Store};

/// A batch whose documents are sketched.
#[derive(Debug)]
#[non_exhaustive]
pub struct SketchedBatch {
    /// The items of the batch, in the order of the input.
    pub items: Vec<Item<Origin>>,
    /// The sketches of the documents among the items.
    pub documents: dedupdb::write::Batch,
    /// Bytes of their sources, read or not.
    pub bytes: u64,
}

/// Sketches batches on a separate thread as they arrive, until the receiver is dropped.
///
/// The thread holds the store only while it sketches, because the thread may outlive an interrupted add.
///
/// # Errors
///
/// The system allows no further thread.
pub fn start<D: Into<(Input, Origin)> + Send + 'static, E: From<Error> + Send + 'static>(
    batches: Receiver<Result<ItemBatch<D>, E>>,
    store: &Store,
) -> Result<Receiver<Result<SketchedBatch, E>>, Error> {
    let store = store.weak();
    // No queue: the thread sketches one batch or holds it until it is taken.
    send_batches("sketching", 0, move |sender| {
        for batch in batches {
            let Some(store) = store() else {
                return;
            };
            let sketched = batch.map(|batch| sketch(batch, &store));
            drop(store);
            if sender.send(sketched).is_err() {
                return;
            }
        }
    })
}

fn sketch<D: Into<(Input, Origin)>>(batch: ItemBatch<D>, store: &Store) -> SketchedBatch {
    let mut inputs = Vec::new();
    let without_text = |item: Item<D>| match item {
        Item::Document(document) => {
            let (input, origin) = document.into();
            inputs.push(input);
            Item::Document(origin)
        }
        Item::Unchanged(key) => Item::Unchanged(key),
        Item::Skipped(skipped) => Item::Skipped(skipped),
        Item::Opened(opened) => Item::Opened(opened),
    };
    SketchedBatch {
        items: batch.items.into_iter().map(without_text).collect(),
        documents: store.sketch_all(inputs),
        bytes: batch.bytes,
    }
}

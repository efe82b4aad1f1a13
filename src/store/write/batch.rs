//! Inputs that are prepared ahead of the writer.

use std::collections::HashMap;
use std::sync::Arc;

use super::writer::Writer;
use crate::codec::u64_at;
use crate::error::{Error, Result};
use crate::storage::Snapshot;
use crate::store::handle::Store;
use crate::store::offer::{Input, Outcome, PreparedInput};

/// Inputs with their signatures, made by [`Store::sketch_all`] for [`Writer::add_batch`].
///
/// It keeps the store that made it open.
#[derive(Debug)]
#[must_use = "a writer adds it"]
pub struct Batch {
    /// The commit that the inputs were looked up in.
    snapshot: Arc<Snapshot>,
    prepared: Vec<Result<Box<PreparedInput>>>,
}

impl Store {
    /// Does the larger part of adding documents, which needs no writer: hashing, shingling and signing, on all
    /// threads of the store.
    ///
    /// So one thread can sketch a batch while another one writes the batch before it, as `dedupdb add` does. The
    /// batch is in memory; a few megabytes of text at a time are enough to keep every core busy.
    ///
    /// ```
    /// use dedupdb::{Input, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// std::thread::scope(|scope| {
    ///     let (sender, batches) = std::sync::mpsc::sync_channel(1);
    ///     let store = &store;
    ///     scope.spawn(move || {
    ///         for page in ["one day in spring", "two days in spring"] {
    ///             sender.send(store.sketch_all(vec![Input::new(page, page)])).unwrap();
    ///         }
    ///     });
    ///     for batch in batches {
    ///         writer.add_batch(batch)?;
    ///     }
    ///     writer.commit()
    /// })?;
    /// assert_eq!(store.stats()?.documents, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sketch_all(&self, inputs: Vec<Input>) -> Batch {
        let last = self.last_commit();
        let prepared = match self.shared.process.check() {
            Ok(()) => self.shared.pool.map(inputs, |input| last.prepare(input)),
            Err(error) => inputs.iter().map(|_| Err(error.clone())).collect(),
        };
        let snapshot = last.snapshot;
        Batch { snapshot, prepared }
    }
}

/// The hashes of keys and of their texts.
#[derive(Debug, Default)]
pub(crate) struct KeyHashes(HashMap<u64, u64>);

impl Batch {
    /// Refuses documents whose keys came before with another text.
    pub(crate) fn refuse_repeated(&mut self, keys: &mut KeyHashes) {
        for one in &mut self.prepared {
            let Ok(prepared) = one else { continue };
            let text = u64_at(&prepared.hash, 0);
            let first = *keys.0.entry(prepared.keyed().hash).or_insert(text);
            if first != text {
                let key = prepared.key();
                let reason = format!("the key {key:?} came before with another text");
                *one = Err(Error::InvalidText { reason });
            }
        }
    }
}

impl Writer {
    /// Adds the documents of a batch like [`Writer::add_all`]. The batch may be older than the last commit, or come
    /// from another store.
    ///
    /// # Errors
    ///
    /// Those of [`Writer::add_all`].
    pub fn add_batch(&mut self, batch: Batch) -> Result<Vec<Result<Outcome>>> {
        let _used = self.begin()?;
        let located = self.locate(batch);
        self.settle_all(located, self.policy())
    }

    /// The documents of a batch, looked up in the last commit.
    pub(crate) fn locate(&self, batch: Batch) -> Vec<Result<Box<PreparedInput>>> {
        let Batch { snapshot, prepared } = batch;
        let last = &self.committed;
        let committed = &*last.snapshot;
        if snapshot.is_same_commit(committed) {
            return prepared;
        }
        let fits = snapshot.schema == committed.schema;
        self.store.shared.pool.map(prepared, |prepared| {
            let mut prepared = prepared?;
            if !fits {
                return last.prepare(prepared.input);
            }
            prepared.locate(committed)?;
            Ok(prepared)
        })
    }
}

//! Adding and removing documents.

use std::collections::HashMap;
use std::sync::Arc;

use super::earlier::{At, Earlier, Fresh};
use super::pending::Pending;
use crate::clock;
use crate::error::{Error, Result};
use crate::storage::{CatalogChange, DocumentRow, NewContent, Runs};
use crate::store::compare::{Published, Sketch};
use crate::store::handle::{Lease, Store};
use crate::store::offer::{Change, Input, Outcome, Prepared, Relation};

/// The one writer of a store: adds, removes and commits.
///
/// Nothing that it did is seen by readers, or survives a crash, before [`Writer::commit`] returns.
/// A writer that is dropped, by a panic too, leaves the store at its last commit and free for the next
/// writer. Documents that are not committed cost memory, about 400 bytes each beside their keys, so
/// commit now and then.
///
/// A writer keeps its store open, and may move to another thread. The store remembers the thread that
/// made the writer or used it last: that one is given [`Error::WriterHeld`] where it would wait for
/// itself.
///
/// ```
/// use dedupdb::{Error, Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let mut writer = store.writer()?;
/// assert!(matches!(store.writer(), Err(Error::WriterHeld)));
/// let added = std::thread::spawn(move || {
///     writer.add("one", "a text")?;
///     writer.commit()
/// });
/// added.join().unwrap()?;
/// assert!(store.writer().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    /// Dropped before the store, which is closed with its last handle.
    pub(crate) files: Lease,
    pub(crate) store: Store,
    /// The last commit.
    pub(crate) committed: Published,
    pub(crate) pending: Pending,
    /// The contents appended since the last commit, by hash.
    pub(crate) appended: HashMap<[u8; 32], u32>,
    pub(crate) added: i64,
    /// Number of contents when the writer was made: those from here on are its own.
    pub(crate) start: u32,
    /// The runs as of the next commit.
    pub(crate) runs: Runs,
    /// The run that admitted documents belong to; 0 for none.
    pub(crate) run: u64,
    unique: bool,
    pub(crate) evidence: bool,
    /// Whether a batch ended half-way, so that a commit would keep half of it.
    pub(crate) failed: bool,
}

impl Writer {
    pub(crate) fn new(store: &Store, files: Lease) -> Result<Writer> {
        files.check_writable()?;
        let committed = store.last_commit();
        Ok(Writer {
            files,
            store: store.clone(),
            pending: Pending::new(committed.snapshot.len),
            start: committed.snapshot.len,
            runs: committed.snapshot.tables.meta.runs,
            run: 0,
            committed,
            appended: HashMap::new(),
            added: clock::now(),
            unique: false,
            evidence: false,
            failed: false,
        })
    }

    /// Keeps out, from now on, every document that is an exact copy or a near-duplicate of a
    /// stored document with another key.
    pub fn unique(&mut self, unique: bool) {
        self.unique = unique;
    }

    /// Fills [`Outcome::earlier`] from now on, which costs a full comparison a near-duplicate.
    pub fn evidence(&mut self, evidence: bool) {
        self.evidence = evidence;
    }

    /// Adds a text under a key, replacing the text that the key had.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) and
    /// [`InvalidText`](crate::Error::InvalidText) leave the writer as it was. After any
    /// other error the writer should be dropped.
    pub fn add(&mut self, key: impl Into<String>, text: impl Into<String>) -> Result<Outcome> {
        let mut outcomes = self.add_all(vec![Input::new(key, text)])?;
        match outcomes.pop() {
            Some(outcome) => outcome,
            None => unreachable!("one input has one outcome"),
        }
    }

    /// Adds documents, working on several at a time, with the same result as adding one after
    /// another.
    ///
    /// The outcomes are in the order of the inputs. Those that cannot be stored have an error of
    /// their own and do not hinder the others. All inputs are in memory together: a few megabytes
    /// of text at a time are enough to keep every core busy.
    ///
    /// # Errors
    ///
    /// Those of reading and writing the store, with [`Error::Full`] and [`Error::Uncommitted`]; the
    /// writer should then be dropped.
    pub fn add_all(&mut self, inputs: Vec<Input>) -> Result<Vec<Result<Outcome>>> {
        self.begin()?;
        let prepare = |input| self.committed.prepare(input);
        let prepared = self.store.shared.pool.map(inputs, prepare);
        self.add_prepared(prepared)
    }

    /// Removes the document `key`; says whether it was there.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn remove(&mut self, key: &str) -> Result<bool> {
        self.files.enter()?;
        let row = self.committed.snapshot.document(key)?;
        let known = self.pending.current(key, row).is_some();
        if known {
            self.pending.set(key, row, None);
        }
        Ok(known)
    }

    /// Makes everything done so far durable and lets readers see it.
    ///
    /// # Errors
    ///
    /// After an error the disk's state is unknown: reading goes on from what is in memory of the last
    /// commit, writing needs the store to be opened anew. [`Error::Poisoned`] if an earlier call of this writer
    /// failed half-way.
    pub fn commit(&mut self) -> Result<()> {
        self.files.enter()?;
        if self.failed {
            return Err(Error::Poisoned);
        }
        if !self.is_dirty() {
            return Ok(());
        }
        let change = CatalogChange {
            runs: Some(self.runs),
            ..self.pending.change()
        };
        let (threads, meters) = (self.store.shared.pool.threads(), &self.store.shared.meters);
        let files = &mut self.files;
        let snapshot = meters
            .committing
            .time(|| files.commit(&change, threads, meters))?;
        self.pending = Pending::new(snapshot.len);
        self.committed.snapshot = Arc::new(snapshot);
        self.store.publish(self.committed.clone());
        let keys = change.documents.iter().map(|change| &change.key);
        self.store.note_changed(keys);
        self.appended.clear();
        Ok(())
    }

    /// Bytes of memory, about, that what was done since the last commit takes until the next one,
    /// which takes about as much again while it is under way.
    ///
    /// Texts are not part of it: they are forgotten as soon as they are added.
    pub fn uncommitted_bytes(&self) -> u64 {
        /// An entry of the map of hashes, with the room that a hash map leaves.
        const APPENDED: usize = 80;
        let appended = APPENDED * self.appended.len();
        self.pending.bytes() + self.files.recent_bytes() + appended as u64
    }

    /// Whether there is something that [`Writer::commit`] would make durable.
    pub fn is_dirty(&self) -> bool {
        !self.pending.is_empty() || self.runs != self.committed.snapshot.tables.meta.runs
    }

    /// Begins a batch.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.files.enter()?;
        self.files.check_writable()
    }

    /// Adds inputs that were prepared on the last commit or an earlier one.
    pub(crate) fn add_prepared(
        &mut self,
        prepared: Vec<Result<Prepared>>,
    ) -> Result<Vec<Result<Outcome>>> {
        let outcomes = self.add_each(prepared);
        self.failed |= outcomes.is_err();
        outcomes
    }

    fn add_each(&mut self, prepared: Vec<Result<Prepared>>) -> Result<Vec<Result<Outcome>>> {
        if self.unique {
            let compared = self.store.shared.pool.map(prepared, |prepared| {
                prepared.and_then(|prepared| self.find_matches(prepared))
            });
            return compared
                .into_iter()
                .map(|prepared| match own_error(prepared)? {
                    Ok(prepared) => self.add_if_unique(prepared).map(Ok),
                    Err(own) => Ok(Err(own)),
                })
                .collect();
        }
        let mut outcomes = Vec::with_capacity(prepared.len());
        let mut fresh = Vec::new();
        let meters = self.store.shared.meters.clone();
        meters.appending.time(|| -> Result<()> {
            for prepared in prepared {
                outcomes.push(match own_error(prepared)? {
                    Ok(prepared) => Ok(self.place(prepared, outcomes.len(), &mut fresh)?),
                    Err(own) => Err(own),
                });
            }
            Ok(())
        })?;
        for (index, earlier) in self.compare(fresh)? {
            if let Some(Ok(outcome)) = outcomes.get_mut(index) {
                (outcome.relation, outcome.earlier) = match earlier {
                    Earlier::None => continue,
                    Earlier::Some => (Relation::NearDuplicate, None),
                    Earlier::Best(best) => (Relation::NearDuplicate, Some(best)),
                };
            }
        }
        Ok(outcomes)
    }

    /// Stores one input. If its content is new, it is left in `fresh` to be compared.
    fn place(
        &mut self,
        mut prepared: Prepared,
        index: usize,
        fresh: &mut Vec<Fresh>,
    ) -> Result<Outcome> {
        let current = self.pending.current(prepared.key(), prepared.row);
        if let Some(content) = self.find_copy(&prepared, current)? {
            return self.place_copy(&prepared, current, content);
        }
        let sketch = prepared.take_sketch(&self.committed.sketcher)?;
        let content = self.append(&prepared.hash, &sketch)?;
        self.name(&prepared, content);
        fresh.push(Fresh {
            index,
            key: prepared.input.key,
            hash: prepared.hash,
            sketch,
            content,
            moment: self.pending.now(),
        });
        Ok(Outcome {
            change: added_or_updated(current),
            relation: Relation::Novel,
            earlier: None,
        })
    }

    /// Stores one input whose content a document names already, `current` or another.
    pub(crate) fn place_copy(
        &mut self,
        prepared: &Prepared,
        current: Option<DocumentRow>,
        content: u32,
    ) -> Result<Outcome> {
        if let Some(row) = current.filter(|row| row.content == content) {
            self.touch(prepared, row);
            return Ok(Outcome {
                change: Change::Unchanged,
                relation: Relation::Novel,
                earlier: None,
            });
        }
        let earlier = if self.evidence {
            self.copy_evidence(content, &prepared.hash, prepared.key())?
        } else {
            None
        };
        self.name(prepared, content);
        Ok(Outcome {
            change: added_or_updated(current),
            relation: Relation::ExactCopy,
            earlier,
        })
    }

    /// The content with the text of `prepared` that a document names now.
    ///
    /// There may be others: contents that lost their last name and are removed with the next
    /// commit, or were with an earlier one. They are never named again.
    pub(crate) fn find_copy(
        &self,
        prepared: &Prepared,
        current: Option<DocumentRow>,
    ) -> Result<Option<u32>> {
        let at = At {
            moment: self.pending.now(),
            key: prepared.key(),
        };
        let appended = self.appended.get(&prepared.hash);
        for &content in prepared.copies.iter().chain(appended) {
            let is_own = current.is_some_and(|row| row.content == content);
            if is_own || self.is_named(content, at)? {
                return Ok(Some(content));
            }
        }
        Ok(None)
    }

    /// Stores a new content.
    pub(crate) fn append(&mut self, hash: &[u8; 32], sketch: &Sketch) -> Result<u32> {
        let content = self.files.push(&NewContent {
            hash,
            shingle_count: sketch.shingle_count(),
            packed_shingles: &sketch.packed_shingles,
            signature: &sketch.signature,
            band_hashes: &sketch.band_hashes,
        })?;
        self.appended.insert(*hash, content);
        Ok(content)
    }

    /// Makes the input's key a name of `content`.
    pub(crate) fn name(&mut self, prepared: &Prepared, content: u32) {
        let row = self.row(prepared, content);
        self.pending
            .set(&prepared.input.key, prepared.row, Some(row));
    }

    /// The row of a document that names `content` and is of no run.
    pub(crate) fn row(&self, prepared: &Prepared, content: u32) -> DocumentRow {
        DocumentRow {
            content,
            size: prepared.input.source_bytes(),
            modified: prepared.input.modified_nanoseconds(),
            added: self.added,
            run: 0,
        }
    }

    /// Takes note of a new size or time of a source whose text did not change. What is added stays
    /// whatever becomes of the run that stored it.
    fn touch(&mut self, prepared: &Prepared, row: DocumentRow) {
        let touched = DocumentRow {
            size: prepared.input.source_bytes(),
            modified: prepared.input.modified_nanoseconds().or(row.modified),
            run: if self.runs.is_open(row.run) {
                0
            } else {
                row.run
            },
            ..row
        };
        if touched != row {
            self.pending
                .set(&prepared.input.key, prepared.row, Some(touched));
        }
    }
}

impl Store {
    /// The one writer, once no other thread has it.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::WriterHeld`] if this thread has the writer, or
    /// [`Error::Poisoned`] after a failed write.
    pub fn writer(&self) -> Result<Writer> {
        Writer::new(self, self.slot()?.take()?)
    }
}

impl Drop for Writer {
    /// Forgets what was not committed. If that fails, the store refuses further writing.
    fn drop(&mut self) {
        if self.files.is_of_this_process() {
            self.files.roll_back().unwrap_or_default();
        }
    }
}

pub(crate) fn added_or_updated(current: Option<DocumentRow>) -> Change {
    match current {
        None => Change::Added,
        Some(_) => Change::Updated,
    }
}

/// Tells an input's own error, which goes among the outcomes, from one that ends the batch.
pub(crate) fn own_error<T>(prepared: Result<T>) -> Result<Result<T>> {
    match prepared {
        Err(error) if !error.is_of_input() => Err(error),
        own => Ok(own),
    }
}

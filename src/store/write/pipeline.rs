//! Documents on their way into a store, in batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::batch::{Batch, KeyHashes};
use super::uncommitted::Uncommitted;
use crate::clock::Patience;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::store::handle::{Feeder, Store};
use crate::store::offer::{Input, Outcome};

/// The number of batches in progress from which a pipeline is full: one is sketched, one is written, and one waits for
/// each.
const MOST_UNDER_WAY: usize = 4;

/// How long to wait for a batch before checking whether a commit is due.
const TICK: Duration = Duration::from_millis(50);

/// How long dropping a pipeline waits for the work in progress.
const MOMENT: Duration = Duration::from_millis(60);

const DEFAULT_MEMORY: u64 = 512 << 20;

/// How a [`Pipeline`] treats its documents.
#[derive(Clone, Copy, Debug)]
pub struct Intake {
    unique: bool,
    evidence: bool,
    distinct: bool,
    memory: u64,
}

impl Default for Intake {
    fn default() -> Intake {
        Intake {
            unique: false,
            evidence: false,
            distinct: false,
            memory: DEFAULT_MEMORY,
        }
    }
}

impl Intake {
    /// Stores everything.
    pub fn new() -> Intake {
        Intake::default()
    }

    /// Keeps copies and near-duplicates out, as [`Writer::unique`](crate::Writer::unique) does.
    #[must_use]
    pub fn unique(self, unique: bool) -> Intake {
        Intake { unique, ..self }
    }

    /// Fills [`Outcome::earlier`], as [`Writer::evidence`](crate::Writer::evidence) does.
    #[must_use]
    pub fn evidence(self, evidence: bool) -> Intake {
        Intake { evidence, ..self }
    }

    /// Refuses a document whose key came before in this pipeline with another text, with
    /// [`Error::InvalidText`]. This takes about 32 bytes of memory for each key.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dedupdb::{Input, Schema, Store, write::Intake};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut pipeline = store.pipeline(Intake::new().distinct(true))?;
    /// pipeline.push(vec![Input::new("1", "one text"), Input::new("1", "another one")]);
    /// let outcomes = loop {
    ///     if let Some(outcomes) = pipeline.wait(Duration::from_millis(50))? {
    ///         break outcomes;
    ///     }
    /// };
    /// assert!(outcomes[0].is_ok() && outcomes[1].is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn distinct(self, distinct: bool) -> Intake {
        Intake { distinct, ..self }
    }

    /// Sets the approximate number of bytes of memory for the process, 512 MiB by default. Uncommitted changes get a
    /// share of it ([`Uncommitted`]).
    #[must_use]
    pub fn memory(self, bytes: u64) -> Intake {
        let memory = bytes;
        Intake { memory, ..self }
    }
}

/// Adds documents that arrive batch after batch: one thread sketches, another one writes and commits, and the owner
/// of the pipeline waits for neither unless it asks to.
///
/// The outcomes are those of adding one document after another, in the order of the batches. [`Uncommitted`] decides
/// when to commit. There is a last commit when the pipeline is [closed](Pipeline::close), and then the index is
/// [packed](Store::pack_if_loose) if much was added. Dropping an open pipeline leaves the last commit: its thread
/// first finishes the current batch or commit. Until then the store stays open, and other writers wait.
///
/// ```
/// use std::time::Duration;
/// use dedupdb::{Input, Schema, Store, write::Intake};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let mut pipeline = store.pipeline(Intake::new())?;
/// pipeline.push(vec![Input::new("one", "one day in spring")]);
/// pipeline.push(vec![Input::new("two", "two days in spring")]);
/// pipeline.close();
/// while pipeline.under_way() > 0 {
///     for outcome in pipeline.wait(Duration::from_millis(50))?.unwrap_or_default() {
///         println!("{:?}", outcome?.relation);
///     }
/// }
/// assert_eq!(store.stats()?.documents, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "what has no outcome yet is lost when it is dropped"]
pub struct Pipeline {
    store: Store,
    /// `None` once it is closed, because it then ends by itself.
    feeder: Option<Feeder>,
    batches: Option<Sender<Vec<Input>>>,
    outcomes: Receiver<Result<Vec<Result<Outcome>>>>,
    under_way: usize,
    kept_out_by_replaced: Arc<AtomicU64>,
    stop: Progress,
    sketching: JoinHandle<()>,
    writing: JoinHandle<()>,
}

impl Store {
    /// Starts to add documents that arrive batch after batch. A thread of the pipeline waits for the writer.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::WriterHeld`] if this thread has the writer or feeds another pipeline,
    /// [`Error::Io`] if no thread can be started.
    pub fn pipeline(&self, intake: Intake) -> Result<Pipeline> {
        // Batches go from the owner to the thread that sketches, to the one that writes, and their outcomes back.
        let feeder = self.slot()?.feed()?;
        let (batches, to_sketch) = mpsc::channel();
        let (sketched, to_write) = mpsc::channel();
        let (told, outcomes) = mpsc::channel();
        let (stop, kept_out_by_replaced) = (Progress::new(), Arc::default());
        let sketching = SketchThread {
            store: self.clone(),
            batches: to_sketch,
            sketched,
        };
        let sketching = self.start("sketch", move || sketching.run())?;
        let writing = WriteThread {
            store: self.clone(),
            intake,
            sketched: to_write,
            outcomes: told,
            kept_out_by_replaced: Arc::clone(&kept_out_by_replaced),
            stop: stop.clone(),
        };
        let writing = self.start("write", move || writing.run())?;
        Ok(Pipeline {
            store: self.clone(),
            feeder: Some(feeder),
            batches: Some(batches),
            outcomes,
            under_way: 0,
            kept_out_by_replaced,
            stop,
            sketching,
            writing,
        })
    }

    fn start(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        thread.map_err(|source| Error::Io {
            path: self.folder().to_owned(),
            source: Arc::new(source),
        })
    }
}

impl Pipeline {
    /// Takes a batch without waiting. A few megabytes of text are enough to keep every core busy. Batches after
    /// [`Pipeline::close`] are ignored.
    pub fn push(&mut self, batch: Vec<Input>) {
        self.fed_here();
        if let Some(batches) = &self.batches {
            // If no thread receives it, the next wait says why.
            drop(batches.send(batch));
            self.under_way += 1;
        }
    }

    /// Returns whether enough batches are in progress. Another one would only take memory, so wait first.
    pub fn is_full(&self) -> bool {
        self.under_way >= MOST_UNDER_WAY
    }

    /// Returns the number of batches whose outcomes were not taken yet. Closing the pipeline counts as one more batch,
    /// without outcomes.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Ends the input: the remaining batches are written, and everything is committed.
    pub fn close(&mut self) {
        if self.batches.take().is_some() {
            self.under_way += 1;
            self.feeder = None;
        }
    }

    /// Returns [`Writer::kept_out_by_replaced`](crate::Writer::kept_out_by_replaced) of all documents, once the pipeline is
    /// closed and nothing is under way; 0 before.
    pub fn kept_out_by_replaced(&self) -> u64 {
        self.kept_out_by_replaced.load(Ordering::Acquire)
    }

    /// Records that this thread feeds the pipeline.
    fn fed_here(&mut self) {
        if let Some(feeder) = &mut self.feeder {
            feeder.is_here();
        }
    }

    /// Returns the outcomes of the next batch, or `None` if there are none within `time`, or at the end. A document
    /// that cannot be stored has an error of its own; the others are stored.
    ///
    /// # Errors
    ///
    /// Those of [`Store::writer`](crate::Store::writer),
    /// [`Writer::add_batch`](crate::Writer::add_batch) and [`Writer::commit`](crate::Writer::commit): the
    /// store is at its last commit. [`Error::WriterHeld`] if this thread holds the writer that the pipeline
    /// waits for. [`Error::OtherProcess`] in a fork.
    pub fn wait(&mut self, time: Duration) -> Result<Option<Vec<Result<Outcome>>>> {
        self.store.shared.process.check()?;
        self.fed_here();
        let outcomes = match self.outcomes.recv_timeout(time) {
            Ok(outcomes) => outcomes?,
            Err(RecvTimeoutError::Timeout) => {
                self.store.slot()?.check_not_used_here()?;
                return Ok(None);
            }
            Err(RecvTimeoutError::Disconnected) if self.under_way == 0 => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Poisoned),
        };
        self.under_way = self.under_way.saturating_sub(1);
        Ok(Some(outcomes))
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.stop.stop();
        self.batches = None;
        self.feeder = None;
        if self.store.shared.process.is_current() {
            let mut patience = Patience::new(MOMENT);
            let threads = [&self.sketching, &self.writing];
            let is_done = || threads.iter().all(|thread| thread.is_finished());
            while !is_done() && patience.pause() {}
        }
    }
}

/// The thread that sketches.
struct SketchThread {
    store: Store,
    batches: Receiver<Vec<Input>>,
    sketched: Sender<Batch>,
}

impl SketchThread {
    fn run(self) {
        for batch in self.batches {
            if self.sketched.send(self.store.sketch_all(batch)).is_err() {
                return;
            }
        }
    }
}

/// The thread that writes.
struct WriteThread {
    store: Store,
    intake: Intake,
    sketched: Receiver<Batch>,
    outcomes: Sender<Result<Vec<Result<Outcome>>>>,
    kept_out_by_replaced: Arc<AtomicU64>,
    stop: Progress,
}

impl WriteThread {
    fn run(self) {
        let end = self.write();
        // The writer is dropped by now, so the receiver may take the next one. There may be no receiver any more.
        drop(self.outcomes.send(end.map(|()| Vec::new())));
    }

    fn write(&self) -> Result<()> {
        let mut writer = self.store.writer()?;
        writer.unique(self.intake.unique);
        writer.evidence(self.intake.evidence);
        let mut uncommitted = Uncommitted::new(self.intake.memory);
        let mut keys = KeyHashes::default();
        loop {
            // Wakes up without a batch, too, because a commit may be due.
            let received = self.sketched.recv_timeout(TICK);
            if self.stop.is_stopped() {
                return Ok(());
            }
            match received {
                Ok(mut batch) => {
                    if self.intake.distinct {
                        batch.refuse_repeated(&mut keys);
                    }
                    let outcomes = writer.add_batch(batch)?;
                    drop(self.outcomes.send(Ok(outcomes)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    writer.commit()?;
                    let kept_out = writer.kept_out_by_replaced()?;
                    self.kept_out_by_replaced.store(kept_out, Ordering::Release);
                    break;
                }
            }
            if uncommitted.is_due(&writer) {
                writer.commit()?;
                uncommitted.committed();
            }
        }
        drop(writer);
        self.store.watched(&self.stop).pack_if_loose()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::store::offer::{Change, Relation};

    fn batch(numbers: std::ops::Range<u32>) -> Vec<Input> {
        let text = |n| {
            format!(
                "document {n} of many, about the number {} and nothing else",
                n / 2
            )
        };
        numbers
            .map(|n| Input::new(n.to_string(), text(n)))
            .collect()
    }

    fn all(pipeline: &mut Pipeline) -> Result<Vec<Result<Outcome>>> {
        let mut outcomes = Vec::new();
        while pipeline.under_way() > 0 {
            outcomes.extend(pipeline.wait(TICK)?.unwrap_or_default());
        }
        Ok(outcomes)
    }

    #[test]
    fn outcomes_are_those_of_one_after_another() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::default();
        let one = Store::create(folder.path().join("one"), &schema)?;
        let mut writer = one.writer()?;
        let expected = writer.add_all(batch(0..60))?;
        writer.commit()?;
        let many = Store::create(folder.path().join("many"), &schema)?;
        let mut pipeline = many.pipeline(Intake::new())?;
        for first in (0..60).step_by(7) {
            pipeline.push(batch(first..(first + 7).min(60)));
        }
        pipeline.close();
        let outcomes: Result<Vec<Outcome>> = all(&mut pipeline)?.into_iter().collect();
        let expected: Result<Vec<Outcome>> = expected.into_iter().collect();
        assert_eq!(outcomes?, expected?);
        assert_eq!(many.stats()?.documents, 60);
        Ok(())
    }

    #[test]
    fn one_that_is_dropped_leaves_the_last_commit() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default())?;
        let mut pipeline = store.pipeline(Intake::new())?;
        pipeline.push(batch(0..10));
        all(&mut pipeline)?;
        drop(pipeline);
        assert_eq!(store.stats()?.documents, 0);
        // The next one gets the writer.
        let mut pipeline = store.pipeline(Intake::new().unique(true).evidence(true))?;
        pipeline.push(vec![Input::new("a", "one day in spring")]);
        pipeline.push(vec![
            Input::new("b", "one day in spring"),
            Input::new("", ""),
        ]);
        pipeline.close();
        let outcomes = all(&mut pipeline)?;
        let copy = outcomes[1].as_ref().unwrap();
        assert_eq!(
            (copy.change, copy.relation),
            (Change::KeptOut, Relation::ExactCopy)
        );
        assert_eq!(copy.duplicate_of().unwrap().key, "a");
        assert!(matches!(outcomes[2], Err(Error::InvalidKey { bytes: 0 })));
        assert_eq!(store.stats()?.documents, 1);
        Ok(())
    }

    #[test]
    fn the_thread_that_has_the_writer_is_told() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default())?;
        let writer = store.writer()?;
        assert!(matches!(
            store.pipeline(Intake::new()),
            Err(Error::WriterHeld)
        ));
        drop(writer);
        assert!(store.pipeline(Intake::new()).is_ok());
        Ok(())
    }
}

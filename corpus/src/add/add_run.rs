//! The run of an add, from its first batch to its last commit.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use super::Add;
use super::event::AddEvent;
use super::missing_files::AddedFolders;
use super::summary::{AddSummary, EndReason};
use crate::error::Error;
use crate::item::{Item, ItemBatch, Origin};
use crate::options::Repeats;
use crate::presence::{file_exists, path_of_document};
use crate::read::batches::for_each_batch;
use crate::read::sketch_ahead::{self, SketchedBatch};
use crate::skipped::{Reason, Skipped};
use crate::walk::identity::is_same_file;
use crate::walk::key::Key;
use dedupdb::write::{Change, IdScope, Outcome, Relation, Uncommitted};
use dedupdb::{Input, Store, Writer};

/// The maximum number of documents with the text of a file to check for being the same file.
const LOOKED_AT: usize = 16;

/// An add in progress.
pub(super) struct AddRun<'a> {
    store: &'a Store,
    writer: Writer,
    evidence: bool,
    pretend: bool,
    memory: u64,
    uncommitted: Uncommitted,
    /// The last file that is stored under another key than that of its path.
    last_other: PathBuf,
    /// Whether the store had documents before, so that any file may be among them.
    had_documents: bool,
    added: AddSummary,
    /// The number of files of documents that were met.
    files: u64,
    observe: &'a mut dyn FnMut(AddEvent<'_>),
}

/// Runs an add.
///
/// # Errors
///
/// Those of [`Add::run`].
pub(super) fn run(
    add: Add,
    store: &Store,
    observe: &mut dyn FnMut(AddEvent<'_>),
) -> Result<AddSummary, Error> {
    let (options, _ending) = add.options.begin();
    let mut options = options.repeats(Repeats::Skip).memory(add.memory);
    if options.store.is_none() {
        options = options.store(store.absolute_folder());
    }
    options = options.added_to(store, add.reread);
    let folders = AddedFolders::of(&add.sources, store)?;
    let mut run = AddRun::begin(store, add.memory, observe)?;
    if options.id_scope == IdScope::Unset {
        options = options.id_scope(store.id_scope());
    }
    run.writer.set_id_scope(options.id_scope);
    run.writer.unique(add.unique);
    (run.evidence, run.pretend) = (add.evidence, add.pretend);
    if add.unique {
        run.forget()?;
    }
    run.add_all(options.batches(add.sources)?)?;
    run.commit()?;
    if run.added.ended == EndReason::All && !run.pretend {
        let gone = folders.missing(store, run.files)?;
        (run.added.gone, run.added.first_gone) = (gone.files, gone.first);
    }
    run.pack()
}

impl<'a> AddRun<'a> {
    /// Starts to write into a store, as an add without options does.
    pub(super) fn begin(
        store: &'a Store,
        memory: u64,
        observe: &'a mut dyn FnMut(AddEvent<'_>),
    ) -> Result<AddRun<'a>, Error> {
        Ok(AddRun {
            store,
            had_documents: store.documents()?.next().is_some(),
            writer: store.writer()?,
            evidence: false,
            pretend: false,
            memory,
            uncommitted: Uncommitted::new(memory),
            last_other: PathBuf::new(),
            added: AddSummary::default(),
            files: 0,
            observe,
        })
    }

    /// Removes what an interrupted dedup stored.
    fn forget(&mut self) -> Result<(), Error> {
        if self.pretend {
            // Nothing may be committed.
            self.writer.forget_run(u64::MAX)?;
            return Ok(());
        }
        let documents = self.writer.forget_run(Uncommitted::limit(self.memory))?;
        if documents > 0 {
            (self.observe)(AddEvent::Forgotten { documents });
        }
        Ok(())
    }

    /// Adds all batches as they arrive, each sketched while the one before it is added.
    pub(super) fn add_all<D: Into<(Input, Origin)> + Send + 'static>(
        &mut self,
        batches: Receiver<Result<ItemBatch<D>, Error>>,
    ) -> Result<(), Error> {
        let sketched = sketch_ahead::start(batches, self.store)?;
        let progress = self.store.progress();
        if progress.go_on().is_err() {
            self.added.ended = EndReason::Stopped;
            return Ok(());
        }
        let mut since = Instant::now();
        let ended = for_each_batch(&sketched, |sketched| -> Result<_, Error> {
            self.added.waiting += since.elapsed();
            if let Some(sketched) = sketched {
                let (items, bytes) = (sketched.items.len() as u64, sketched.bytes);
                self.take(sketched)?;
                progress.count_read(items, bytes);
                (self.observe)(AddEvent::Batch);
            }
            let bytes = self.writer.uncommitted_bytes();
            if self.pretend && Uncommitted::is_too_much(bytes, self.memory) {
                return Ok(ControlFlow::Break(EndReason::Full));
            }
            if self.uncommitted.is_due(&self.writer) {
                self.commit()?;
            }
            since = Instant::now();
            Ok(match progress.go_on() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(EndReason::Stopped),
            })
        })?;
        self.added.ended = ended.unwrap_or_default();
        Ok(())
    }

    /// Adds a batch. One that is begun is added and reported whole: the next run would take its documents for
    /// unchanged ones and not report them again.
    fn take(&mut self, sketched: SketchedBatch) -> Result<(), Error> {
        let mut origins = Vec::with_capacity(sketched.items.len());
        for item in sketched.items {
            match item {
                Item::Document(origin) => {
                    self.files += u64::from(origin.modified.is_some());
                    self.added.reading.document(&origin);
                    origins.push(origin);
                }
                Item::Unchanged(key) => {
                    self.files += 1;
                    self.writer.touch(&key)?;
                    self.added.unchanged += 1;
                }
                Item::Skipped(skipped) => self.skip(&skipped)?,
                // An add does not request verbatim records.
                Item::Opened(_) => {}
            }
        }
        if self.had_documents && self.writer.id_scope() == IdScope::File {
            for origin in &origins {
                self.rekey(origin)?;
            }
        }
        if !origins.is_empty() {
            // It tells a file that has changed, and is stored under another name, from a copy.
            let has_files = origins.iter().any(|origin| origin.modified.is_some());
            self.writer
                .evidence(self.evidence || self.had_documents && has_files);
            let outcomes = self.writer.add_batch(sketched.documents)?;
            for (origin, outcome) in origins.into_iter().zip(outcomes) {
                self.note(&origin, outcome)?;
            }
        }
        Ok(())
    }

    /// Gives a record that was stored under its id alone the key that it has now.
    fn rekey(&mut self, origin: &Origin) -> Result<(), Error> {
        if let Some(file) = &origin.file
            && let Some(id) = origin.id_in_file()
            && self.writer.rename_from(id, &origin.key, file)?
        {
            self.added.rekeyed(id, &origin.key);
        }
        Ok(())
    }

    fn skip(&mut self, skipped: &Skipped) -> Result<(), Error> {
        self.added.reading.skipped(skipped);
        if let Some(key) = self.stale_key(skipped)? {
            self.added.stale += 1;
            self.added.first_stale.get_or_insert(key);
        }
        (self.observe)(AddEvent::Skipped(skipped));
        Ok(())
    }

    /// Returns the key of a skipped file if an earlier run stored it.
    fn stale_key(&self, skipped: &Skipped) -> Result<Option<String>, Error> {
        let was_met = matches!(
            skipped.reason,
            Reason::Binary | Reason::TooLarge | Reason::Unreadable | Reason::BadText
        );
        if !was_met {
            return Ok(None);
        }
        let key = Key::of(Path::new(&skipped.place)).text;
        let stored = self.store.get(&key)?;
        let is_stored = stored.is_some_and(|stored| stored.modified.is_some());
        Ok(is_stored.then_some(key))
    }

    /// Counts and reports the outcome for a document.
    fn note(&mut self, origin: &Origin, outcome: dedupdb::Result<Outcome>) -> Result<(), Error> {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return self.skip(&origin.refused(&error)),
        };
        if let Some(other) = outcome.other_file.clone() {
            if outcome.change == Change::Refused {
                return self.skip(&origin.taken(&other, self.writer.id_scope()));
            }
            self.added.same_id(origin.place(), other);
        }
        if let Some(stored) = origin.stored_as.as_ref().filter(|stored| stored.is_other) {
            if self.is_another_other(origin) {
                let own = Key::of(&origin.source).text;
                let other = stored.key.clone();
                self.added.other_name(outcome.change, &own, other);
            }
        } else if outcome.relation != Relation::Novel
            && let Some(other) = self.other_name(origin, &outcome)?
        {
            let mut change = outcome.change;
            let stored = self.store.get(&other)?;
            let is_second = stored.is_some_and(|stored| stored.first_key() == origin.key);
            if is_second {
                // A dedup kept the earlier text of the file under its key.
                self.writer.remove(&other)?;
            } else if change == Change::Added {
                // The file keeps the name under which it was stored first.
                let renamed = self.writer.rename(&origin.key, &other)?;
                change = renamed.unwrap_or(Change::Unchanged);
            }
            // A file is not a duplicate of itself.
            self.added.change(change);
            if !is_second && self.is_another_other(origin) {
                self.added.other_name(change, &origin.key, other);
            }
            return Ok(());
        }
        self.added.outcome(&outcome);
        if let Some(old) = self.old_name(origin, &outcome)? {
            self.added.renamed(&origin.key, old);
        }
        if outcome.change != Change::KeptOut {
            (self.observe)(AddEvent::Stored {
                key: &origin.key,
                origin,
            });
        }
        if let Some(earlier) = outcome.earlier.as_ref().filter(|_| self.evidence) {
            let like = AddEvent::Like {
                key: &origin.key,
                earlier,
                is_kept_out: outcome.change == Change::KeptOut,
            };
            (self.observe)(like);
        }
        Ok(())
    }

    /// Whether a document of a file that is stored under another key is the first one of this file.
    fn is_another_other(&mut self, origin: &Origin) -> bool {
        let is_another = self.last_other != origin.source;
        self.last_other.clone_from(&origin.source);
        is_another
    }

    /// Returns another key under which an earlier run stored the same file, by a path that only shows once a document with
    /// its text, or a similar one, was found.
    fn other_name(&mut self, origin: &Origin, outcome: &Outcome) -> Result<Option<String>, Error> {
        let number = origin.after_file();
        if origin.modified.is_none() && (number.is_none() || !self.had_documents) {
            return Ok(None);
        }
        let is_same = |key: &String| {
            // An id may have such a sign, too.
            let is_of_number = |number| {
                let file = key.strip_suffix(number);
                file.is_some_and(|file| !file.contains('#'))
            };
            if !number.is_none_or(is_of_number) {
                return false;
            }
            let Ok(Some(stored)) = self.store.get(key) else {
                return false;
            };
            let path = match number {
                None => path_of_document(&stored),
                Some(_) => stored.source.as_deref().and_then(Key::path),
            };
            path.is_some_and(|path| is_same_file(&path, &origin.source))
        };
        let earlier = outcome.earlier.as_ref().map(|earlier| &earlier.key);
        let earlier = earlier.filter(|key| **key != origin.key);
        if let Some(same) = earlier.filter(|key| is_same(key)) {
            return Ok(Some(same.clone()));
        }
        if outcome.relation != Relation::ExactCopy {
            return Ok(None);
        }
        let copies = self.writer.committed_copies(&origin.key, LOOKED_AT)?;
        Ok(copies.into_iter().find(is_same))
    }

    /// Returns the key that a new file had before it was renamed: the key of a file with the same text, size and
    /// modification time that no longer exists, if no other file has the text. A relative path may belong to a file of
    /// another folder, which does not exist here either; but a copy of that file has its own modification time.
    fn old_name(&self, origin: &Origin, outcome: &Outcome) -> Result<Option<String>, Error> {
        let is_new_copy =
            outcome.change == Change::Added && outcome.relation == Relation::ExactCopy;
        if !is_new_copy || origin.modified.is_none() {
            return Ok(None);
        }
        let copies = self.writer.committed_copies(&origin.key, LOOKED_AT)?;
        let are_all = copies.len() < LOOKED_AT;
        let mut old = None;
        for key in copies {
            let Some(document) = self.store.get(&key)? else {
                return Ok(None);
            };
            if file_exists(&document) != Some(false) {
                return Ok(None);
            }
            let is_as_stored =
                document.modified == origin.modified && Some(document.size) == origin.size;
            if is_as_stored && old.is_none() {
                old = Some(key);
            }
        }
        Ok(old.filter(|_| are_all))
    }

    /// Rewrites the index if much was added, and returns the counts.
    pub(super) fn pack(self) -> Result<AddSummary, Error> {
        let AddRun {
            store,
            writer,
            pretend,
            mut added,
            ..
        } = self;
        added.kept_out_by_replaced = writer.kept_out_by_replaced()?;
        drop(writer);
        if !pretend && added.ended == EndReason::All {
            store.watched(&store.progress().part()).pack_if_loose()?;
        }
        Ok(added)
    }

    pub(super) fn commit(&mut self) -> Result<(), Error> {
        if !self.pretend {
            self.writer.commit()?;
        }
        self.uncommitted.committed();
        Ok(())
    }
}

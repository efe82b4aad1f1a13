//! Adding and removing documents.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::by_hash::ContentsByHash;
use super::judge::Policy;
use super::pending::PendingDocuments;
use super::settler::{PART, Settler};
use crate::clock;
use crate::error::{Error, Result};
use crate::storage::SourceFile;
use crate::storage::{CatalogChange, DocumentRow, IdScope, RunRecord, Sources};
use crate::store::compare::PublishedCommit;
use crate::store::handle::{Lease, SlotUse, Store};
use crate::store::offer::{Body, Change, HashedKey, Input, Outcome, check_key};

/// The writer of a store, of which a process has one at a time: it adds, removes and commits.
///
/// From its first change to its commit it has the right to write, for which other processes wait. A writer that waits
/// for input commits what it has.
///
/// Readers see none of its changes, and none of them survives a crash, before [`Writer::commit`] returns. A writer that
/// is dropped, also by a panic, leaves the store at its last commit and free for the next writer. Uncommitted documents
/// take memory, about 600 bytes each beside their keys, so commit from time to time.
///
/// A writer keeps its store open, and may move to another thread. The store remembers the thread that made the writer
/// or used it last. That thread gets [`Error::WriterHeld`] if it would wait for itself; see [`Store::writer`].
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
#[must_use = "what is not committed is lost when it is dropped"]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Writer {
    /// Dropped before the store, which is closed with its last handle.
    pub(crate) files: Lease,
    pub(crate) store: Store,
    /// The last commit.
    pub(crate) committed: PublishedCommit,
    pub(crate) pending: PendingDocuments,
    /// The contents appended since the last commit, by hash.
    pub(crate) appended: ContentsByHash,
    /// The time that documents get as that of adding.
    pub(crate) added: i64,
    /// The day that documents get as that of their last offer.
    pub(crate) today: i64,
    /// Contents from this id on are its own, and so are those of some ranges before, between which others wrote.
    start: u32,
    own: Vec<Range<u32>>,
    /// The runs as of the next commit.
    pub(crate) runs: RunRecord,
    /// The scope of ids as of the next commit.
    pub(crate) id_scope: IdScope,
    /// Whether a text may be refused because the earlier one of its key is from another file.
    pub(crate) refuses: bool,
    /// The files that uncommitted documents came from.
    pub(crate) sources: Sources,
    /// The run that admitted documents belong to; 0 for none.
    pub(crate) run: u64,
    /// Whether a run begins, goes on or is forgotten: another process would take it for an interrupted one, so the writer
    /// keeps the right to write.
    pub(super) is_in_run: bool,
    unique: bool,
    /// The contents because of which documents were kept out, with the number of these.
    pub(super) kept_out_by: BTreeMap<u32, u64>,
    /// Whether others learn from a note who has the right to write.
    pub(super) announces: bool,
    pub(crate) evidence: bool,
    /// Whether a batch ended half-way, so that a commit would keep half of it.
    pub(crate) failed: bool,
}

impl Writer {
    pub(crate) fn new(store: &Store, mut files: Lease) -> Result<Writer> {
        // A failed commit left the files in an unknown state, so they are opened again at the last commit.
        if files.check_writable().is_err() {
            store.follow(&mut files)?;
        }
        files.rest();
        let committed = store.last_commit();
        let mut writer = Writer {
            files,
            store: store.clone(),
            pending: PendingDocuments::new(committed.snapshot.len),
            start: committed.snapshot.len,
            own: Vec::new(),
            runs: committed.snapshot.tables.meta.runs,
            id_scope: committed.snapshot.id_scope(),
            refuses: true,
            sources: Sources::default(),
            run: 0,
            is_in_run: false,
            committed,
            appended: ContentsByHash::default(),
            added: 0,
            today: 0,
            unique: false,
            kept_out_by: BTreeMap::new(),
            announces: true,
            evidence: false,
            failed: false,
        };
        writer.read_clock();
        Ok(writer)
    }

    fn read_clock(&mut self) {
        self.added = clock::now();
        self.today = clock::day_of(self.added);
    }

    /// From now on, keeps out every document that is an exact copy or a near-duplicate of a stored document with
    /// another key. The documents of an interrupted run keep nothing out: they are forgotten first, as
    /// [`Writer::forget_run`] does.
    pub fn unique(&mut self, unique: bool) {
        self.unique = unique;
    }

    /// Returns the number of documents that this writer has kept out because of a text that it has replaced or removed
    /// since. Their own texts may be in no document, so they are to be offered again. Those from before a rebuild do not
    /// count.
    ///
    /// # Errors
    ///
    /// Those of reading the store.
    pub fn kept_out_by_replaced(&self) -> Result<u64> {
        let names = self.names(self.pending.now(), "");
        let kept_out = self.kept_out_by.iter();
        let counts = kept_out.map(|(&content, &count)| {
            let is_named = names.any(content)?;
            Ok(if is_named { 0 } else { count })
        });
        counts.sum()
    }

    /// Returns the store that it writes to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the scope of ids that it writes with.
    pub fn id_scope(&self) -> IdScope {
        self.id_scope
    }

    /// Lets the store remember, from the next commit on, whether an id names the same document in all files, or another
    /// one in each. `corpus::Add` makes keys accordingly.
    pub fn set_id_scope(&mut self, id_scope: IdScope) {
        self.id_scope = id_scope;
    }

    /// Fills [`Outcome::earlier`] from now on, which costs a full comparison for each near-duplicate.
    pub fn evidence(&mut self, evidence: bool) {
        self.evidence = evidence;
    }

    /// Adds a text, or [its shingles](crate::write::Body), under a key, and replaces an earlier text of that key.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey), [`InvalidText`](crate::Error::InvalidText) and
    /// [`InvalidShingles`](crate::Error::InvalidShingles) leave the writer as it was. After any other error, drop the
    /// writer.
    pub fn add(&mut self, key: impl Into<String>, body: impl Into<Body>) -> Result<Outcome> {
        let mut outcomes = self.add_all(vec![Input::new(key, body)])?;
        match outcomes.pop() {
            Some(outcome) => outcome,
            None => unreachable!("one input has one outcome"),
        }
    }

    /// Adds documents, several at a time, with the same result as adding one after another.
    ///
    /// The outcomes are in the order of the inputs. An input that cannot be stored has an error of its own; the
    /// others are stored. All inputs are in memory together: a few megabytes of text at a time are enough to keep
    /// every core busy.
    ///
    /// # Errors
    ///
    /// Those of reading and writing the store, and [`Error::Full`]. After an error, drop the writer.
    pub fn add_all(&mut self, inputs: Vec<Input>) -> Result<Vec<Result<Outcome>>> {
        let _used = self.begin()?;
        let (store, committed) = (self.store.clone(), self.committed.clone());
        let policy = self.policy();
        let prepare = |input| committed.prepare(input);
        let mut settling = Settler::begin(self, policy, inputs.len());
        let pool = &store.shared.pool;
        pool.map_ahead(inputs, PART, prepare, |part| settling.take(part))?;
        settling.end()
    }

    /// The policy for documents that are added.
    pub(crate) fn policy(&self) -> Policy {
        if self.unique {
            Policy::AddUnique
        } else {
            Policy::Add
        }
    }

    /// Removes the document `key`. Returns whether it existed.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`], or those of reading the store.
    pub fn remove(&mut self, key: &str) -> Result<bool> {
        let _used = self.begin()?;
        let [committed, current] = self.rows(key)?;
        if current.is_some() {
            self.pending.set(HashedKey::new(key), committed, None);
        }
        Ok(current.is_some())
    }

    /// Moves [`Document::last_seen`](crate::Document::last_seen) of the document `key` to today. Returns whether it
    /// exists.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`], or those of reading the store.
    pub fn touch(&mut self, key: &str) -> Result<bool> {
        let _used = self.begin()?;
        let [committed, current] = self.rows(key)?;
        if let Some(row) = current {
            let offered = self.outside_run(row);
            self.set_seen(HashedKey::new(key), committed, row, offered);
        }
        Ok(current.is_some())
    }

    /// Gives the document `old` the key `new`, with all that is stored of it. Returns whether it existed.
    ///
    /// As when a file is renamed, an earlier document `new` is replaced. If it had the same text, the earlier time of
    /// adding and the later day of the last offer stay. Returns what happened to the document `new`, or `None` if there is
    /// no document `old`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for `new`, [`Error::Locked`], or those of reading the store.
    pub fn rename(&mut self, old: &str, new: &str) -> Result<Option<Change>> {
        check_key(new)?;
        let _used = self.begin()?;
        let [committed_old, row] = self.rows(old)?;
        let [committed_new, replaced] = self.rows(new)?;
        let Some(mut row) = row else {
            return Ok(None);
        };
        let change = match replaced {
            None => Change::Added,
            Some(replaced) if replaced.content == row.content => {
                row.added = row.added.min(replaced.added);
                row.last_seen = row.last_seen.max(replaced.last_seen);
                Change::Unchanged
            }
            Some(_) => Change::Updated,
        };
        if old != new {
            // The folder of a file's key says nothing of another key.
            if row.modified.is_some() {
                row.source = replaced.map_or(0, |replaced| replaced.source);
            }
            let row = self.outside_run(row);
            self.pending.set(HashedKey::new(old), committed_old, None);
            self.pending
                .set(HashedKey::new(new), committed_new, Some(row));
        }
        Ok(Some(change))
    }

    /// Renames the document `old` if it came from the file `source`. If there is a document `new` already, `old` is
    /// removed. Returns whether it came from there.
    ///
    /// # Errors
    ///
    /// Those of [`Writer::rename`].
    pub fn rename_from(&mut self, old: &str, new: &str, source: &SourceFile) -> Result<bool> {
        let _used = self.begin()?;
        let [_, row] = self.rows(old)?;
        if row.is_none_or(|row| row.source != source.number) {
            return Ok(false);
        }
        let [_, there] = self.rows(new)?;
        if there.is_some() {
            self.remove(old)
        } else {
            self.rename(old, new).map(|change| change.is_some())
        }
    }

    /// The row of a document that a caller relies on. It leaves the open run, so that it stays whatever happens to the
    /// run.
    pub(super) fn outside_run(&self, row: DocumentRow) -> DocumentRow {
        let run = if self.runs.is_open(row.run) {
            0
        } else {
            row.run
        };
        DocumentRow { run, ..row }
    }

    /// Changes a document from its row `current` to `row`, which was offered today. Does nothing if that is the same.
    pub(super) fn set_seen(
        &mut self,
        key: HashedKey<'_>,
        committed: Option<DocumentRow>,
        current: DocumentRow,
        row: DocumentRow,
    ) {
        let last_seen = current.last_seen.max(self.today);
        let row = DocumentRow { last_seen, ..row };
        if row != current {
            self.pending.set(key, committed, Some(row));
        }
    }

    /// The document `key` in the last commit, and as it is now.
    pub(super) fn rows(&self, key: &str) -> Result<[Option<DocumentRow>; 2]> {
        let committed = self.committed.snapshot.document(key)?;
        Ok([
            committed,
            self.pending.current(HashedKey::new(key), committed),
        ])
    }

    /// Makes everything done so far durable and lets readers see it.
    ///
    /// # Errors
    ///
    /// [`Error::Moved`] if the store's folder has moved. [`Error::Poisoned`] if an earlier call of this writer failed
    /// half-way. After any error, such as that of a full disk, drop the writer. Queries still answer from the last commit,
    /// and the next writer continues from there.
    pub fn commit(&mut self) -> Result<()> {
        let _used = self.files.enter()?;
        if self.failed {
            return Err(Error::Poisoned);
        }
        if !self.is_dirty() {
            // Contents that lost their only name again are not kept.
            self.files.roll_back()?;
            self.start_over();
            return Ok(());
        }
        // What is to be remembered may be all there is.
        self.take_turn()?;
        let change = CatalogChange {
            runs: Some(self.runs),
            id_scope: Some(self.id_scope),
            sources: self.sources.all(),
            ..self.pending.change(&self.store.shared.pool)
        };
        let (threads, meters) = (self.store.shared.pool.threads(), &self.store.shared.meters);
        let files = &mut self.files;
        let snapshot = meters
            .committing
            .time(|| files.commit(&change, threads, meters))?;
        self.committed.snapshot = Arc::new(snapshot);
        self.store.publish(self.committed.clone());
        self.start_over();
        Ok(())
    }

    /// Starts without changes after the last commit, and lets other processes write.
    fn start_over(&mut self) {
        self.pending = PendingDocuments::new(self.committed.snapshot.len);
        self.appended.clear();
        self.sources.clear();
        if !self.is_in_run {
            self.files.end_turn();
        }
    }

    /// Returns the approximate number of bytes of memory that changes since the last commit take. The next commit
    /// frees them, and takes about as much again while it runs.
    ///
    /// Texts do not count: they are dropped as soon as they are added.
    pub fn uncommitted_bytes(&self) -> u64 {
        self.pending.bytes() + self.files.recent_bytes() + self.appended.bytes()
    }

    /// Returns whether another process waits for the right to write, which this writer has and would give up with its
    /// next commit.
    pub fn is_awaited(&self) -> bool {
        !self.is_in_run && self.files.is_awaited()
    }

    /// Whether [`Writer::commit`] has anything to make durable.
    pub(crate) fn is_dirty(&self) -> bool {
        let snapshot = &self.committed.snapshot;
        !self.pending.is_empty()
            || self.runs != snapshot.tables.meta.runs
            || self.id_scope != snapshot.id_scope()
    }

    /// Returns at most `most` other documents of the last commit with the text of the document `key`, the first ones.
    ///
    /// # Errors
    ///
    /// Those of reading the index.
    pub fn committed_copies(&self, key: &str, most: usize) -> Result<Vec<String>> {
        let snapshot = &self.committed.snapshot;
        let [_, row] = self.rows(key)?;
        let content = row.map(|row| row.content);
        let Some(content) = content.filter(|&content| content < snapshot.len) else {
            return Ok(Vec::new());
        };
        let is_other = |name: &Result<String>| name.as_ref().map_or(true, |name| name != key);
        let others = snapshot.names(content)?.filter(is_other);
        others.take(most).collect()
    }

    /// Whether this writer has added a content.
    pub(super) fn has_added(&self, content: u32) -> bool {
        content >= self.start || self.own.iter().any(|own| own.contains(&content))
    }

    /// Begins a change, which needs the right to write until the next commit.
    pub(crate) fn begin(&mut self) -> Result<SlotUse> {
        let used = self.files.enter()?;
        self.take_turn()?;
        if self.unique {
            self.forget_interrupted_run()?;
        }
        self.read_clock();
        Ok(used)
    }

    /// Waits for the right to write like [`Writer::take_turn`], of which its callers have already waited this long.
    pub(super) fn take_turn_after(&mut self, waited: Duration) -> Result<()> {
        self.files.wait.waited = waited;
        let taken = self.take_turn();
        self.files.wait.waited = Duration::ZERO;
        taken
    }

    /// Waits for the right to write, unless this writer has it, and takes over what others committed.
    pub(super) fn take_turn(&mut self) -> Result<()> {
        self.files.check_writable()?;
        let is_newer = self.files.take_turn()?;
        if self.announces {
            self.files.announce();
        }
        if !is_newer {
            return Ok(());
        }
        let before = self.committed.snapshot.clone();
        let published = self.store.publish_files(&mut self.files);
        // After an error, it is at another commit than its files.
        self.failed |= published.is_err();
        self.committed = published?;
        let snapshot = &self.committed.snapshot;
        // A pending change needs the right to write, so there is none.
        self.pending = PendingDocuments::new(snapshot.len);
        self.own.push(self.start..before.len);
        if snapshot.tables.meta.generation != before.tables.meta.generation {
            // The contents have other numbers.
            self.own.clear();
            self.kept_out_by.clear();
        }
        self.start = snapshot.len;
        // Runs and scope that this writer has not changed follow those of the last commit.
        if self.runs == before.tables.meta.runs {
            self.runs = snapshot.tables.meta.runs;
        }
        if self.id_scope == before.id_scope() {
            self.id_scope = snapshot.id_scope();
        }
        Ok(())
    }
}

impl Store {
    /// Returns the writer, after waiting until no other thread has it.
    ///
    /// A thread that would wait for itself gets an error at once: the one that made the writer or
    /// used it last, and the one that feeds a [`Pipeline`](crate::write::Pipeline) until that is closed. The call waits
    /// for the writer of another thread while that is used. After [`Options::idle_writer`](crate::Options::idle_writer)
    /// without a call to the writer, its owner is unknown, and a waiting caller gets the error as well. This covers a
    /// writer that moved to the thread that asks for a second one. [`Store::insert_unless_duplicate`] and
    /// [`Store::merge`] follow the same rule. [`Store::rebuild`], whose work is long, waits for the writers of other
    /// threads until its caller ends it.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], and [`Error::WriterHeld`] if this thread has the writer or it is not used. After a failed write,
    /// also those of opening the store, which this call does again.
    pub fn writer(&self) -> Result<Writer> {
        Writer::new(self, self.slot()?.take()?)
    }
}

impl Drop for Writer {
    /// Discards uncommitted changes. After a failure, it opens the files again, or else the next writer does.
    fn drop(&mut self) {
        if self.files.is_of_this_process() {
            self.files.roll_back().unwrap_or_default();
            if self.files.check_writable().is_err() {
                self.store.recover(&mut self.files);
            }
        }
    }
}

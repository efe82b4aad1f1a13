//! The store: one file a verb.

mod admit;
mod allowance;
mod backup;
mod batch;
#[cfg(test)]
mod bounded;
mod buckets;
mod check;
mod clusters;
mod comparisons;
mod documents;
mod earlier;
mod exhaustive;
mod explain;
#[cfg(test)]
#[cfg(unix)]
mod faults;
mod input;
mod insert;
mod join;
mod lock;
mod matching;
mod merge;
mod met;
#[cfg(any(test, fuzzing))]
pub(crate) mod model;
mod near;
mod pairs;
mod pending;
mod pool;
mod prepared;
mod query;
mod rebuild;
mod refresh;
mod resign;
mod run;
mod salvage;
mod sample;
mod search;
mod seen;
mod sketch;
mod slot;
mod stats;
mod tune;
mod unique;
mod writer;

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

pub use admit::Admission;
pub use batch::Batch;
pub use check::{Problem, Report};
pub use clusters::{Cluster, ClusterQuery, Clusters, Linkage, Member};
pub use documents::{Document, Documents};
pub use explain::{Common, Explanation};
pub use input::{Change, Input, Outcome, Relation, Verdict};
pub use merge::Merged;
pub use near::{Near, Nearness};
pub use pairs::{Pair, PairQuery, Pairs};
pub use query::{Match, Query, Subject};
pub use rebuild::{Rebuild, RebuildProgress, Unfinished};
pub use salvage::{Casualty, Salvaged, Unreadable};
pub use sample::{Expected, Sample};
pub use stats::{Bucket, Stats};
pub use tune::{Shape, Tuning};
pub use writer::{MAX_KEY_BYTES, Writer};

use crate::clock::{Meters, Patience, Timings};
use crate::error::{Error, Result};
use crate::process::Process;
use crate::progress::Progress;
use crate::schema::Schema;
use crate::storage::{Files, Note, Snapshot};
use allowance::{Allowance, FALSE_CANDIDATES};
use insert::Queue;
use pool::Pool;
use search::Search;
use sketch::Sketcher;
use slot::Slot;

/// How long a store may be locked by someone who leaves no note: a writer that has just come or is about
/// to go. Nobody is sent away for them.
const MOMENT: Duration = Duration::from_secs(5);

/// A near-duplicate store in a folder.
///
/// A `Store` is a handle: a clone of it is the same open store, which is closed when the last handle and
/// the last [`Writer`] are dropped. Threads share it: any number of them ask while one writes, and none
/// waits for the writer. It is of one process: a fork's child opens the store anew. Every answer comes from one commit, the last one when the question was put.
///
/// One process at a time has a store open for writing, and any number have it open for reading only
/// at the same time; none of them waits for another. A store that is open for reading only answers
/// from the commit that was the last one when it was opened or [refreshed](Store::refresh).
///
/// ```
/// use dedupdb::{Query, Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("store");
/// let store = Store::create(&path, &Schema::default())?;
/// let mut writer = store.writer()?;
/// writer.add("one", "it was the first of many long and cold nights in the old lighthouse")?;
/// writer.commit()?;
///
/// let text = "It was the first of many long and cold nights in the old lighthouse!";
/// let matches = store.query(&Query::text(text))?;
/// assert_eq!(matches[0].key, "one");
/// assert_eq!(matches[0].jaccard, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
}

/// What the handles of an open store share.
#[derive(Debug)]
struct Shared {
    process: Process,
    /// Dropped before the files and with them the store's lock. None in a store that is open for
    /// reading only.
    _note: Option<Note>,
    folder: PathBuf,
    pool: Pool,
    /// None in a store that is open for reading only.
    files: Option<Arc<Slot>>,
    /// The last commit. The lock is held only to copy or replace the pointer.
    published: RwLock<Published>,
    /// Held while a newer commit is opened for reading: one thread adds to the recent postings.
    refreshing: Mutex<()>,
    queue: Queue,
    /// Held by the one rebuild that there may be.
    rebuilding: Mutex<()>,
    /// The documents that commits changed since a rebuild copied them.
    journal: Mutex<Option<BTreeSet<String>>>,
    meters: Arc<Meters>,
    allowance: Allowance,
    progress: Progress,
}

/// The last commit, and what makes sketches as its schema asks for.
#[derive(Clone, Debug)]
struct Published {
    snapshot: Arc<Snapshot>,
    sketcher: Arc<Sketcher>,
}

/// How a store is opened.
///
/// ```
/// use dedupdb::{Options, Schema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("store");
/// let store = Options::new().threads(2).create(&path, &Schema::default())?;
/// # drop(store);
/// let reader = Options::new().read_only(true).open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    threads: usize,
    read_only: bool,
    wait: Duration,
    false_candidates: usize,
    progress: Progress,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: 0,
            read_only: false,
            wait: Duration::ZERO,
            false_candidates: FALSE_CANDIDATES,
            progress: Progress::default(),
        }
    }
}

impl Options {
    /// The most threads that a store starts, whatever [`Options::threads`] asks for.
    pub const MOST_THREADS: usize = pool::MOST_THREADS;

    /// As many threads as the machine has cores, for reading and writing.
    pub fn new() -> Options {
        Options::default()
    }

    /// Number of threads that work on batches and merges; 0 for as many as the machine has cores. No
    /// more than [`Options::MOST_THREADS`] are started.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Options {
        self.threads = threads;
        self
    }

    /// Opens a store for reading only, which any number of processes may do, also while another one
    /// writes to it.
    ///
    /// This takes locks on ranges of a file, which Linux, macOS and Windows have. On other systems,
    /// and on file systems without such locks, a store is open either for writing by one process or
    /// for reading by several.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Options {
        self.read_only = read_only;
        self
    }

    /// How long to wait for a store that another process has locked before the error
    /// [`Error::Locked`]; not at all by default.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dedupdb::{Error, Options, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let store = Store::create(&path, &Schema::default())?;
    /// let second = Options::new().wait(Duration::from_millis(20)).open(&path);
    /// let Err(Error::Locked { holder: Some(holder), .. }) = second else { panic!() };
    /// assert_eq!(holder.process, std::process::id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Options {
        self.wait = wait;
        self
    }

    /// Number of false candidates, contents that share a bucket with a text and do not match it,
    /// after which a search passes over those that are left; 4,000 by default, at least 1.
    ///
    /// Candidates come in masses and do not match where somebody makes them so, or where a template
    /// is a little less than the threshold of each; then this bounds what one more text costs, where
    /// every one before it would have to be compared. Matches do not count, so that any number of
    /// near-copies is found. Younger candidates are looked at first, and of thousands those that
    /// share most buckets, so that what is passed over seldom matches. It is not lost in silence:
    /// [`Store::passed_over`] counts. `usize::MAX` has every candidate compared.
    ///
    /// It bounds queries, and writers before and after a commit each. It bounds [`Store::pairs`] for
    /// each content and bucket, and so it does [`Store::clusters`], where candidates that match count
    /// as well unless they are in one cluster already; but not [`PairQuery::exhaustive`]. Where
    /// candidates are passed over, what is found may depend on when documents were committed, and on
    /// removed ones that take their part of the number until they are merged into the tables.
    ///
    /// ```
    /// use dedupdb::{Options, Schema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let store = Options::new().false_candidates(usize::MAX).create(&path, &Schema::default())?;
    /// assert_eq!(store.passed_over(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn false_candidates(mut self, most: usize) -> Options {
        self.false_candidates = most;
        self
    }

    /// Where long calls count their steps: [`Options::check`] and, of the store that is opened,
    /// [`Store::pairs`], [`Store::sample`], [`Store::largest_buckets`] and [`Store::backup`].
    #[must_use]
    pub fn progress(mut self, progress: &Progress) -> Options {
        self.progress = progress.clone();
        self
    }

    /// Makes a store in `folder`, which is absent or empty. After an error it is as it was.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyAStore`], [`Error::NotEmpty`], [`Error::Occupied`], [`Error::InsideStore`],
    /// [`Error::Locked`], or the system's.
    pub fn create(&self, folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        self.create_by(Files::create, folder.as_ref(), schema)
    }

    /// Makes a store in a folder of this process, whatever else it holds, for the users of the one in
    /// `like`.
    fn create_in(&self, folder: &Path, like: &Path, schema: &Schema) -> Result<Store> {
        let create =
            |folder: &Path, schema, store| Files::create_in(folder, Some(like), schema, store);
        self.create_by(create, folder, schema)
    }

    fn create_by(
        &self,
        create: impl Fn(&Path, Schema, u64) -> Result<Files>,
        folder: &Path,
        schema: &Schema,
    ) -> Result<Store> {
        // The standard library's randomness needs no further crate.
        let store = RandomState::new().hash_one(folder);
        let files = self.patiently(folder, || create(folder, schema.clone(), store))?;
        self.writable(folder, files)
    }

    /// Opens the store in `folder`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Locked`], [`Error::NewerFormat`],
    /// [`Error::OlderFormat`], [`Error::Damaged`], or the
    /// system's.
    pub fn open(&self, folder: impl AsRef<Path>) -> Result<Store> {
        let folder = folder.as_ref();
        if self.read_only {
            let snapshot = self.patiently(folder, || Snapshot::open(folder))?;
            return self.store(folder, None, snapshot);
        }
        let files = self.patiently(folder, || Files::open(folder))?;
        self.writable(folder, files)
    }

    /// Opens the store in `folder`, or makes one if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::SchemaMismatch`] if the store has another schema than `schema`, and those of
    /// [`Options::open`] and [`Options::create`].
    pub fn open_or_create(&self, folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        let folder = folder.as_ref();
        let opened = match self.open(folder) {
            Err(Error::NotAStore { .. }) if !self.read_only => match self.create(folder, schema) {
                // Someone else made it in the meantime.
                Err(Error::AlreadyAStore { .. }) => self.open(folder),
                created => return created,
            },
            opened => opened,
        };
        let store = opened?;
        store.schema().check_same(schema)?;
        Ok(store)
    }

    /// Opens something of the store in `folder`, again and again while it is locked and there is
    /// time.
    fn patiently<T>(&self, folder: &Path, open: impl Fn() -> Result<T>) -> Result<T> {
        let mut patience = Patience::new(self.wait);
        let mut moment = Patience::new(MOMENT);
        loop {
            let error = match open() {
                Err(error @ (Error::Locked { .. } | Error::Blocked { .. })) => error,
                opened => return opened,
            };
            if patience.pause() {
                continue;
            }
            let Error::Locked { path, .. } = error else {
                return Err(error);
            };
            let holder = Note::read(folder);
            if holder.is_some() || !moment.pause() {
                return Err(Error::Locked { path, holder });
            }
        }
    }

    fn writable(&self, folder: &Path, mut files: Files) -> Result<Store> {
        let snapshot = files.snapshot()?;
        self.store(folder, Some(Slot::new(files)), snapshot)
    }

    fn store(&self, folder: &Path, files: Option<Arc<Slot>>, snapshot: Snapshot) -> Result<Store> {
        let meters = Arc::new(Meters::default());
        let number = snapshot.tables.meta.store;
        let shared = Shared {
            process: Process::current(),
            _note: files.is_some().then(|| Note::leave(folder, number)),
            folder: folder.to_owned(),
            pool: Pool::new(self.threads),
            files,
            published: RwLock::new(Published {
                sketcher: Arc::new(Sketcher::new(&snapshot.schema, &meters)?),
                snapshot: Arc::new(snapshot),
            }),
            refreshing: Mutex::default(),
            queue: Queue::default(),
            rebuilding: Mutex::default(),
            journal: Mutex::default(),
            meters,
            allowance: Allowance::new(self.false_candidates),
            progress: self.progress.clone(),
        };
        Ok(Store {
            shared: Arc::new(shared),
        })
    }
}

impl Store {
    /// Makes a store in `folder`; see [`Options::create`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::create`].
    pub fn create(folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        Options::new().create(folder, schema)
    }

    /// Opens the store in `folder`; see [`Options::open`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::open`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Store> {
        Options::new().open(folder)
    }

    /// Opens the store in `folder`, or makes one; see [`Options::open_or_create`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::open_or_create`].
    pub fn open_or_create(folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        Options::new().open_or_create(folder, schema)
    }

    /// The store's folder.
    pub fn folder(&self) -> &Path {
        &self.shared.folder
    }

    /// The parameters of the store, as of its last commit: a reindex changes them.
    pub fn schema(&self) -> Arc<Schema> {
        self.last_commit().snapshot.schema.clone()
    }

    /// The one writer, once no other thread has it.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::WriterHeld`] if this thread has the writer, or
    /// [`Error::Poisoned`] after a failed write.
    pub fn writer(&self) -> Result<Writer> {
        Writer::new(self, self.slot()?.take()?)
    }

    /// Where the files are while nobody writes.
    fn slot(&self) -> Result<&Arc<Slot>> {
        self.shared.process.check()?;
        self.shared.files.as_ref().ok_or(Error::ReadOnly)
    }

    /// The documents that are like the one asked about: the best first, ties by key.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchDocument`] for a key that is not stored, [`Error::InvalidQuery`] for a threshold
    /// out of range, [`Error::InvalidText`], or those of reading the store.
    pub fn query(&self, query: &Query<'_>) -> Result<Vec<Match>> {
        let Published { snapshot, sketcher } = self.current()?;
        query::answer(&snapshot, &sketcher, &self.shared.allowance, query)
    }

    /// Number of times since the store was opened that candidates were passed over, because too many
    /// did not match; see [`Options::false_candidates`]. While it is 0, every candidate was compared.
    pub fn passed_over(&self) -> u64 {
        self.shared.allowance.passed_over()
    }

    /// A search of `snapshot` at its threshold.
    fn search<'a>(&'a self, snapshot: &'a Snapshot) -> Search<'a> {
        Search {
            snapshot,
            allowance: &self.shared.allowance,
            threshold: snapshot.schema.threshold(),
        }
    }

    /// Where the time went since the store was opened.
    pub fn timings(&self) -> Timings {
        self.shared.meters.read()
    }

    /// Where the store's long calls count their steps; see [`Options::progress`].
    pub fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    fn last_commit(&self) -> Published {
        let published = self.shared.published.read();
        published.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last commit, for those who read on in it.
    fn current(&self) -> Result<Published> {
        self.shared.process.check()?;
        Ok(self.last_commit())
    }

    fn published(&self) -> Result<Arc<Snapshot>> {
        Ok(self.current()?.snapshot)
    }

    fn publish(&self, commit: Published) {
        let published = self.shared.published.write();
        *published.unwrap_or_else(PoisonError::into_inner) = commit;
    }
}

impl Drop for Store {
    /// In a fork of the process that opened the store, it stays open: it is the other process's.
    fn drop(&mut self) {
        if !self.shared.process.is_current() {
            let _open = ManuallyDrop::new(self.shared.clone());
        }
    }
}

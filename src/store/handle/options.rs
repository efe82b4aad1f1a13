//! How a store is opened.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use super::non_reentrant::NonReentrantLock;
use super::slot::FilesSlot;
use super::store::{Store, StoreInner};
use crate::clock::{Meters, Patience};
use crate::error::{Error, Result, whole_path};
use crate::pool::{self, Pool};
use crate::progress::Progress;
use crate::schema::{Schema, SchemaBuilder};
use crate::storage::{Limits, Process, Snapshot, StoreFiles, TurnWait, UnsyncedFolder, holder};
use crate::store::compare::{Allowance, FALSE_CANDIDATES, PublishedCommit, StoreSketcher};
use crate::store::offer::CallQueue;
use crate::text::ShingleSet;

/// How long to wait for other processes that write, and for one that is making the same store.
const WAIT: Duration = Duration::from_secs(5);

/// How long to wait for a writer that is not used.
const IDLE_WRITER: Duration = Duration::from_secs(30);

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
    pub(crate) threads: usize,
    pub(crate) read_only: bool,
    pub(crate) wait: TurnWait,
    is_exclusive: bool,
    idle_writer: Duration,
    pub(crate) false_candidates: usize,
    containment: Option<f64>,
    ignored: Option<Arc<ShingleSet>>,
    pub(crate) progress: Progress,
    pub(crate) limits: Limits,
    is_fleeting: bool,
    expected: SchemaBuilder,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: 0,
            read_only: false,
            wait: TurnWait {
                time: WAIT,
                waited: Duration::ZERO,
                stop: None,
            },
            is_exclusive: false,
            idle_writer: IDLE_WRITER,
            false_candidates: FALSE_CANDIDATES,
            containment: None,
            ignored: None,
            progress: Progress::default(),
            limits: Limits::default(),
            is_fleeting: false,
            expected: SchemaBuilder::default(),
        }
    }
}

impl Options {
    /// The maximum number of threads that a store starts, even if [`Options::threads`] asks for more.
    pub const MOST_THREADS: usize = pool::MOST_THREADS;

    /// Returns the defaults: for reading and writing, with as many threads as the machine has cores.
    pub fn new() -> Options {
        Options::default()
    }

    /// The number of threads for batches and merges, at most [`Options::MOST_THREADS`]; 0 stands for one for each core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Options {
        self.threads = threads;
        self
    }

    /// Opens a store for reading only. Any number of processes may do so, also while another one writes to
    /// the store.
    ///
    /// This needs locks on ranges of a file, which Linux, macOS and Windows have. On other systems, and on
    /// file systems without such locks, a store is open either for writing by one process or for reading
    /// by several.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Options {
        self.read_only = read_only;
        self
    }

    /// How long a call waits for the right to write while other processes have it, before it fails with
    /// [`Error::Locked`]; 5 seconds by default. Who waits longest is next. Calls of several threads that share a commit
    /// each wait this long. A call that fails has changed nothing and can be made again:
    ///
    /// ```
    /// use std::time::Duration;
    /// use dedupdb::{Error, Options, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let one = Store::create(&path, &Schema::default())?;
    /// let other = Options::new().wait(Duration::from_millis(20)).open(&path)?; // or in another process
    /// let mut writer = one.writer()?;
    /// writer.add("one", "a text")?;
    /// loop {
    ///     match other.insert_unless_duplicate("two", "other words") {
    ///         Err(Error::Locked { holder, .. }) => println!("process {:?} writes", holder.map(|holder| holder.process)),
    ///         outcome => break outcome.map(drop)?,
    ///     }
    ///     writer.commit()?; // or go on with other work, and stop after some attempts
    /// }
    /// assert_eq!(other.stats()?.documents, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Options {
        self.wait.time = wait;
        self
    }

    /// Refuses a store that has other values of the parameters that are set here, with [`Error::SchemaMismatch`].
    /// Those that are not set may be any.
    ///
    /// Without this call, a store opens with whatever schema it has: the one that it was created with, or the one of its
    /// last [rebuild](crate::upkeep::Reindex).
    ///
    /// ```
    /// use dedupdb::{Error, Options, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// drop(Store::create(&path, &Schema::builder().threshold(0.7).permutations(256).build()?)?);
    /// let options = Options::new().expect(Schema::builder().threshold(0.8));
    /// let Err(Error::SchemaMismatch { parameter, .. }) = options.open(&path) else { panic!() };
    /// assert_eq!(parameter, "threshold");
    /// assert!(Options::new().expect(Schema::builder().threshold(0.7)).open(&path).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn expect(mut self, parameters: SchemaBuilder) -> Options {
        self.expected = parameters;
        self
    }

    /// Keeps the right to write from opening the store to closing it, so that no other process writes in between.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dedupdb::{Error, Options, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let store = Options::new().exclusive(true).create(&path, &Schema::default())?;
    /// let other = Options::new().wait(Duration::ZERO).open(&path);
    /// assert!(matches!(other, Err(Error::Locked { .. })));
    /// drop(store);
    /// assert!(Store::open(&path).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Options {
        self.is_exclusive = exclusive;
        self
    }

    /// How long a [`Writer`](crate::Writer) of this process may be idle before a caller that waits for it gets
    /// [`Error::WriterHeld`]; 30 seconds by default.
    ///
    /// The caller waits at least this long and at most twice as long. It waits without limit for a writer that is used
    /// now and then or is in a long call.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dedupdb::{Error, Options, Schema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let options = Options::new().idle_writer(Duration::from_millis(10));
    /// let store = options.create(&path, &Schema::default())?;
    /// let _writer = store.writer()?;
    /// let second = std::thread::scope(|scope| scope.spawn(|| store.writer().err()).join());
    /// assert!(matches!(second.unwrap(), Some(Error::WriterHeld)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn idle_writer(mut self, idle: Duration) -> Options {
        self.idle_writer = idle;
        self
    }

    /// The number of false candidates after which a search stops; 4,000 by default, at least 1.
    ///
    /// False candidates are contents that share a bucket with a text and do not match it. Adversarial texts or shared
    /// templates can put thousands of them into one bucket; this bounds the cost of each search. Matches do not count,
    /// so any number of near-copies is found. Younger candidates come first and, among thousands, those that share the
    /// most buckets, so the skipped ones seldom match. [`Store::searches_cut_short`] counts the searches that were
    /// stopped. With `usize::MAX` every candidate is compared.
    ///
    /// The bound applies to each query, and for writers to the committed and the pending contents separately. For
    /// [`Store::pairs`] and [`Store::clusters`] it applies to each content and bucket; for clusters, matches in
    /// another cluster count as well. It does not apply to
    /// [`PairQuery::exhaustive`](crate::groups::PairQuery::exhaustive). If candidates are skipped, the answers
    /// may depend on when documents were committed, and on removed documents that still have recent postings.
    ///
    /// ```
    /// use dedupdb::{Options, Schema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let store = Options::new().false_candidates(usize::MAX).create(&path, &Schema::default())?;
    /// assert_eq!(store.searches_cut_short(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn false_candidates(mut self, most: usize) -> Options {
        self.false_candidates = most;
        self
    }

    /// Takes a text for a duplicate also if a stored one contains at least this share of its shingles, over 0 and at
    /// most 1: for [`Store::insert_unless_duplicate`] and [`Writer::unique`](crate::Writer::unique).
    ///
    /// Pages of a site differ by their own few words and share all others, and an excerpt resembles its article little.
    /// A text that itself contains a stored one is stored, and [told](crate::write::Relation::Contains). A text of fewer
    /// than 20 tokens is contained in nothing. The store must find passages
    /// ([`SchemaBuilder::passage`](crate::sketching::SchemaBuilder::passage)); what is found for certain, and what is not, is that
    /// of [`Query::containment`](crate::Query::containment).
    ///
    /// ```
    /// use dedupdb::write::{Change, Relation};
    /// use dedupdb::{Options, Schema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let options = Options::new().containment(0.8);
    /// let store = options.create(folder.path().join("seen"), &Schema::builder().passage(20).build()?)?;
    /// let excerpt = "seven swans were swimming on the lake when the snow began to fall at last and nobody was there \
    ///                to see how they rose";
    /// let article = format!("{excerpt} into the grey sky, turned once above the reeds, and went south with the last \
    ///                        light, which lay on the ice for a while and was gone");
    /// store.insert_unless_duplicate("article", article.as_str())?;
    /// let outcome = store.insert_unless_duplicate("excerpt", excerpt)?;
    /// assert_eq!((outcome.change, outcome.relation), (Change::KeptOut, Relation::Contained));
    /// assert_eq!(outcome.duplicate_of().unwrap().key, "article");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn containment(mut self, share: f64) -> Options {
        self.containment = Some(share);
        self
    }

    /// Takes texts without these shingles, whether they are added or asked for: a template, a licence, base code.
    ///
    /// A document is then stored without them, and without fingerprints, so it is not found by its passages. To ignore
    /// shingles of texts that are stored with them, see [`Query::ignore`](crate::Query::ignore). A text of which nothing
    /// is left has no near-duplicates, only copies.
    ///
    /// ```
    /// use dedupdb::{Options, Schema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let schema = Schema::default();
    /// let form = "name of the applicant, date and place of birth, current address, signature";
    /// let options = Options::new().ignore(&schema.shingler()?.shingles(form)?);
    /// let store = options.create(&path, &schema)?;
    /// store.insert_unless_duplicate("one", format!("{form}: Ada, London"))?;
    /// let outcome = store.insert_unless_duplicate("two", format!("{form}: Emmy, Erlangen"))?;
    /// assert!(outcome.duplicate_of().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ignore(mut self, shingles: &ShingleSet) -> Options {
        self.ignored = (!shingles.is_empty()).then(|| Arc::new(shingles.clone()));
        self
    }

    /// Sets where long calls report their progress, and what stops them: [`Options::check`], [`Options::salvage`] and
    /// those of the opened handle, of which [`Store::watched`] makes others. Once it is stopped, no call waits for
    /// another process either: it fails with [`Error::Stopped`].
    #[must_use]
    pub fn progress(mut self, progress: &Progress) -> Options {
        self.progress = progress.clone();
        self.wait.stop = Some(progress.clone());
        self
    }

    /// Makes nothing durable. The store is deleted after use, or by the next process that finds it after a crash.
    #[must_use]
    pub fn fleeting(self) -> Options {
        Options {
            is_fleeting: true,
            ..self
        }
    }

    /// Sets how much is done at a time.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn limits(self, limits: Limits) -> Options {
        Options { limits, ..self }
    }

    /// Makes a store in `folder`, which must be absent or empty. After an error the folder is unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyAStore`], [`Error::NotEmpty`], [`Error::Occupied`], [`Error::InsideStore`],
    /// [`Error::InvalidSchema`] for [`Family::Xor`](crate::sketching::Family::Xor), [`Error::ReadOnly`] with
    /// [`Options::read_only`], [`Error::SchemaMismatch`] with [`Options::expect`], [`Error::Locked`], or the system's.
    pub fn create(&self, folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        self.create_by(StoreFiles::create, folder.as_ref(), schema)
    }

    /// Makes a store in a folder of this process, whatever else the folder holds, for the users of the store in `like`.
    pub(crate) fn create_in(&self, folder: &Path, like: &Path, schema: &Schema) -> Result<Store> {
        let create =
            |folder: &Path, schema, store| StoreFiles::create_in(folder, Some(like), schema, store);
        self.create_by(create, folder, schema)
    }

    fn create_by(
        &self,
        create: impl Fn(&Path, Schema, u64) -> Result<StoreFiles>,
        folder: &Path,
        schema: &Schema,
    ) -> Result<Store> {
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        schema.check_for_store()?;
        self.expected.check(schema)?;
        // The standard library's randomness needs no further crate.
        let store = RandomState::new().hash_one(folder);
        let place = whole_path(folder);
        let fleeting = self.fleeting_at(&place);
        let made = self.patiently(&place, || create(&place, schema.clone(), store));
        let opened = made.and_then(|files| self.writable(folder, &place, files, fleeting));
        opened.map_err(|error| error.named_as_given(&place, folder))
    }

    /// Opens the store in `folder`. A relative path starts at the current folder of the process at the time of
    /// this call. Where the process may not write, as on a read-only file system, it needs [`Options::read_only`].
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::Locked`], [`Error::NewerFormat`],
    /// [`Error::OlderFormat`], [`Error::Damaged`], [`Error::SchemaMismatch`] with [`Options::expect`], or the system's.
    pub fn open(&self, folder: impl AsRef<Path>) -> Result<Store> {
        let folder = folder.as_ref();
        let place = whole_path(folder);
        let opened = self.open_at(folder, &place);
        opened.map_err(|error| error.named_as_given(&place, folder))
    }

    fn open_at(&self, folder: &Path, place: &Path) -> Result<Store> {
        if self.read_only {
            let snapshot = self.patiently(place, || Snapshot::open(place))?;
            return self.store(folder, place, None, snapshot, None);
        }
        let fleeting = self.fleeting_at(place);
        let files = self.patiently(place, || StoreFiles::open(place, &self.wait))?;
        self.writable(folder, place, files, fleeting)
    }

    fn fleeting_at(&self, place: &Path) -> Option<UnsyncedFolder> {
        self.is_fleeting.then(|| UnsyncedFolder::new(place))
    }

    /// Opens the store in `folder`, or makes one with `schema` if there is none. A store that exists keeps its own schema;
    /// see [`Options::expect`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::open`] and [`Options::create`].
    pub fn open_or_create(&self, folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        let folder = folder.as_ref();
        match self.open(folder) {
            Err(Error::NotAStore { .. }) if !self.read_only => match self.create(folder, schema) {
                // Another caller made it in the meantime.
                Err(Error::AlreadyAStore { .. }) => self.open(folder),
                created => created,
            },
            opened => opened,
        }
    }

    /// Opens something of the store in `folder`, and retries while it is locked and there is time.
    pub(crate) fn patiently<T>(&self, folder: &Path, open: impl Fn() -> Result<T>) -> Result<T> {
        let mut patience = Patience::new(self.wait.time);
        loop {
            let error = match open() {
                Err(error @ (Error::Locked { .. } | Error::Blocked { .. })) => error,
                opened => return opened,
            };
            if self.wait.is_stopped() {
                return Err(Error::Stopped);
            }
            if !patience.pause() {
                return Err(error.held_by(|| holder(folder)));
            }
        }
    }

    fn writable(
        &self,
        folder: &Path,
        place: &Path,
        mut files: StoreFiles,
        fleeting: Option<UnsyncedFolder>,
    ) -> Result<Store> {
        files.limits = self.limits;
        files.wait = self.wait.clone();
        files.is_exclusive = self.is_exclusive;
        let snapshot = files.snapshot()?;
        if self.is_exclusive {
            files.announce();
        }
        files.end_turn();
        self.store(folder, place, Some(files), snapshot, fleeting)
    }

    fn store(
        &self,
        folder: &Path,
        place: &Path,
        files: Option<StoreFiles>,
        snapshot: Snapshot,
        fleeting: Option<UnsyncedFolder>,
    ) -> Result<Store> {
        self.expected.check(&snapshot.schema)?;
        let meters = Arc::new(Meters::default());
        let put_aside = files.as_ref().map(|files| files.put_aside.clone());
        let sketcher =
            StoreSketcher::new(&snapshot.schema, &meters)?.ignoring(self.ignored.as_ref());
        let shared = StoreInner {
            process: Process::current(),
            folder: folder.to_owned(),
            place: place.to_owned(),
            put_aside: put_aside.unwrap_or_default(),
            pool: Pool::new(self.threads),
            files: files.map(|files| FilesSlot::new(files, self.idle_writer)),
            published: RwLock::new(PublishedCommit {
                sketcher: Arc::new(sketcher),
                snapshot: Arc::new(snapshot),
            }),
            refreshing: Mutex::default(),
            queue: CallQueue::default(),
            wait: self.wait.clone(),
            rebuilding: NonReentrantLock::default(),
            meters,
            allowance: Allowance::new(self.false_candidates, self.limits),
            containment: self.containment,
            ignored: self.ignored.clone(),
            fleeting,
        };
        Ok(Store {
            shared: Arc::new(shared),
            progress: self.progress.clone(),
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::Options;
    use crate::Schema;
    use crate::storage::watch::{DiskEvent, DiskWatch};

    /// Counts the syncs of a store that is made with these options and gets a document.
    fn synced(options: &Options) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let watch = DiskWatch::new(folder.path());
        let store = options.create(folder.path().join("store"), &Schema::default());
        let store = store.unwrap();
        let mut writer = store.writer().unwrap();
        writer.add("a", "the night tram to the harbour").unwrap();
        writer.commit().unwrap();
        drop(writer);
        assert_eq!(store.documents().unwrap().count(), 1);
        drop(store);
        let events = watch.events().into_iter();
        let is_sync = |event: &DiskEvent| matches!(event, DiskEvent::Synced { .. });
        events.filter(is_sync).count()
    }

    #[test]
    fn of_a_store_that_does_not_stay_nothing_is_durable() {
        assert!(synced(&Options::new()) > 5);
        assert_eq!(synced(&Options::new().fleeting()), 0);
    }
}

//! The open store, which threads share.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::non_reentrant::NonReentrantLock;
use super::options::Options;
use super::slot::FilesSlot;
use crate::clock::{Meters, Timings};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::progress::Progress;
use crate::schema::Schema;
use crate::storage::{IdScope, Process, Snapshot, StoreFiles, TurnWait, UnsyncedFolder, is_store};
use crate::store::compare::{Allowance, PublishedCommit, Search, StoreSketcher};
use crate::store::offer::CallQueue;
use crate::text::{ShingleSet, Shingler};

/// A near-duplicate store in a folder.
///
/// A `Store` is a handle. A clone of it is the same open store, which is closed when the last handle and the last
/// [`Writer`](crate::Writer) are dropped. Threads can share it: any number of them query while one writes, and none
/// waits for the writer. Each answer comes from one commit, the last one at the time of the query. A handle belongs
/// to one process: in the child of a fork, every call returns [`Error::OtherProcess`], and dropping the handle
/// changes nothing. The child may open the store again.
///
/// Any number of processes may have a store open, and write by turns: each has the right to write from its first change
/// to its commit, and waits for it as long as [`Options::wait`] says. Reading waits for nobody. A store answers from the
/// last commit that this process made or, at its last write or [refresh](Store::refresh), found.
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
    pub(crate) shared: Arc<StoreInner>,
    /// The progress of the long calls of this handle.
    pub(crate) progress: Progress,
}

/// What the handles of an open store share.
#[derive(Debug)]
pub(crate) struct StoreInner {
    pub(crate) process: Process,
    /// The folder as it was given.
    pub(crate) folder: PathBuf,
    /// Its absolute path, which stays right if the process changes its current directory.
    pub(crate) place: PathBuf,
    /// The files of other stores that were put aside.
    pub(crate) put_aside: Vec<PathBuf>,
    pub(crate) pool: Pool,
    /// `None` if the store is open for reading only.
    pub(crate) files: Option<Arc<FilesSlot>>,
    /// The last commit. The lock is held only to copy or replace the pointer.
    pub(crate) published: RwLock<PublishedCommit>,
    /// Held while a newer commit is opened for reading, so that one thread at a time adds to the recent postings.
    pub(crate) refreshing: Mutex<()>,
    pub(crate) queue: CallQueue,
    /// How long to wait for another process.
    pub(crate) wait: TurnWait,
    /// Held by the running rebuild; there is one at most.
    pub(crate) rebuilding: NonReentrantLock,
    pub(crate) meters: Arc<Meters>,
    pub(crate) allowance: Allowance,
    /// The share of a text that a stored one has to have for the text to be kept out.
    pub(crate) containment: Option<f64>,
    /// The shingles that texts are taken without.
    pub(crate) ignored: Option<Arc<ShingleSet>>,
    /// Dropped after the files. `None` if the store is durable.
    pub(crate) fleeting: Option<UnsyncedFolder>,
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

    /// Opens the store in `folder`, or makes one with `schema`; see [`Options::open_or_create`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::open_or_create`].
    pub fn open_or_create(folder: impl AsRef<Path>, schema: &Schema) -> Result<Store> {
        Options::new().open_or_create(folder, schema)
    }

    /// Returns whether there is a store in `folder`, which need not exist. The store is not opened.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder cannot be examined.
    pub fn exists(folder: impl AsRef<Path>) -> Result<bool> {
        is_store(folder.as_ref())
    }

    /// Returns the store's folder, with the path by which it was opened or made.
    pub fn folder(&self) -> &Path {
        &self.shared.folder
    }

    /// Returns the store's folder as an absolute path, which stays right if the process changes its current directory.
    pub fn absolute_folder(&self) -> &Path {
        &self.shared.place
    }

    /// Returns the parameters of the store, as of its last commit. A reindex changes them.
    pub fn schema(&self) -> Arc<Schema> {
        self.last_commit().snapshot.schema.clone()
    }

    /// Returns what makes the shingles of texts that are given to this handle: that of the schema, without what is
    /// [ignored](Options::ignore).
    ///
    /// # Errors
    ///
    /// None: the parameters were checked when the schema was built.
    pub fn shingler(&self) -> Result<Shingler> {
        let shingler = self.schema().shingler()?;
        Ok(match &self.shared.ignored {
            Some(ignored) => shingler.ignoring(ignored),
            None => shingler,
        })
    }

    /// Returns the scope of ids that the store remembers, as of its last commit.
    pub fn id_scope(&self) -> IdScope {
        self.last_commit().snapshot.id_scope()
    }

    /// The place of the files between writes.
    pub(crate) fn slot(&self) -> Result<&Arc<FilesSlot>> {
        self.shared.process.check()?;
        self.shared.files.as_ref().ok_or(Error::ReadOnly)
    }

    /// Returns the number of searches, since the store was opened, that skipped candidates because too many did not
    /// match; see [`Options::false_candidates`]. As long as it is 0, every candidate was compared. For pairs and
    /// clusters, the comparisons of one content in one bucket are a search.
    pub fn searches_cut_short(&self) -> u64 {
        self.shared.allowance.cut_short()
    }

    /// Returns the files of other stores that lay in the folder under names that this store needs, by the new names that
    /// they got when it was opened for writing: `contents.3.other` and the like.
    ///
    /// A process leaves such a file if the folder of the store that it works on is moved away, and another takes its
    /// place.
    pub fn put_aside(&self) -> &[PathBuf] {
        &self.shared.put_aside
    }

    /// A search of `snapshot` at its threshold.
    pub(crate) fn search<'a>(&'a self, snapshot: &'a Snapshot) -> Search<'a> {
        Search {
            snapshot,
            allowance: &self.shared.allowance,
            threshold: snapshot.schema.threshold(),
        }
    }

    /// Returns where the time was spent since the store was opened.
    pub fn timings(&self) -> Timings {
        self.shared.meters.read()
    }

    /// Returns a handle of the same open store whose long calls report their progress to `progress` and are stopped by
    /// it; see [`Options::progress`].
    #[must_use]
    pub fn watched(&self, progress: &Progress) -> Store {
        Store {
            shared: self.shared.clone(),
            progress: progress.clone(),
        }
    }

    /// Returns where long calls of this handle report their progress.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(crate) fn last_commit(&self) -> PublishedCommit {
        let published = self.shared.published.read();
        published.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last commit, for a caller that goes on to read it.
    pub(crate) fn current(&self) -> Result<PublishedCommit> {
        self.shared.process.check()?;
        Ok(self.last_commit())
    }

    pub(crate) fn published(&self) -> Result<Arc<Snapshot>> {
        Ok(self.current()?.snapshot)
    }

    /// Returns a function that gives the store while another handle keeps it open. It is for threads that may outlive
    /// their callers.
    pub fn weak(&self) -> impl Fn() -> Option<Store> + Send + Sync + 'static {
        let (shared, progress) = (Arc::downgrade(&self.shared), self.progress.clone());
        move || {
            shared.upgrade().map(|shared| Store {
                shared,
                progress: progress.clone(),
            })
        }
    }

    /// Publishes the commit that files are at, and returns it.
    pub(crate) fn publish_files(&self, files: &mut StoreFiles) -> Result<PublishedCommit> {
        self.publish_snapshot(files.snapshot()?)
    }

    /// Publishes a newer commit, and returns it.
    pub(crate) fn publish_snapshot(&self, snapshot: Snapshot) -> Result<PublishedCommit> {
        let last = self.last_commit();
        let sketcher = if snapshot.schema == last.snapshot.schema {
            last.sketcher
        } else {
            let sketcher = StoreSketcher::new(&snapshot.schema, &self.shared.meters)?;
            Arc::new(sketcher.ignoring(self.shared.ignored.as_ref()))
        };
        let published = PublishedCommit {
            snapshot: Arc::new(snapshot),
            sketcher,
        };
        self.publish(published.clone());
        Ok(published)
    }

    pub(crate) fn publish(&self, commit: PublishedCommit) {
        let published = self.shared.published.write();
        *published.unwrap_or_else(PoisonError::into_inner) = commit;
    }
}

impl Drop for Store {
    /// In a fork of the process that opened the store, the store stays open, because it belongs to that process.
    fn drop(&mut self) {
        if !self.shared.process.is_current() {
            let _open = ManuallyDrop::new(self.shared.clone());
        }
    }
}

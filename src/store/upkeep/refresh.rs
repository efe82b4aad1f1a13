//! Following a writer in another process.

use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::storage::{Snapshot, StoreFiles, TurnWait};
use crate::store::handle::{FilesSlot, Store};

impl Store {
    /// Moves the store to the last commit of all processes; returns whether there was a newer one.
    ///
    /// A store that is open for reading only answers from the last commit at the time when it was opened or refreshed.
    /// One that is open for writing also takes over what others committed whenever it writes; its refresh waits for a
    /// [`Writer`](crate::Writer) of this process, and for other processes that write. A running query finishes on the
    /// commit that it began with. The index keeps the pages of a commit that is being read, so a busy index grows while
    /// a reader stays open for long without a refresh.
    ///
    /// Without a newer commit, a refresh takes tens of microseconds. Otherwise it takes about as long as opening the
    /// store, but does not read contents again that this handle has seen.
    ///
    /// ```
    /// use dedupdb::{Options, Query, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let crawler = Store::create(&path, &Schema::default())?; // in one process
    /// let reader = Options::new().read_only(true).open(&path)?; // in another
    /// crawler.insert_unless_duplicate("one", "a text")?;
    /// assert!(reader.query(&Query::text("a text"))?.is_empty());
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.query(&Query::text("a text"))?.len(), 1);
    /// assert!(!reader.refresh()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of opening the store for reading or, if it is open for writing, of [`Store::writer`] and of waiting for other
    /// processes. After an error the store is at the same commit as before.
    pub fn refresh(&self) -> Result<bool> {
        self.shared.process.check()?;
        if let Some(slot) = &self.shared.files {
            let mut files = slot.take()?;
            return self.follow(&mut files);
        }
        let _turn = lock(&self.shared.refreshing);
        let last = self.last_commit();
        let Some(snapshot) = last.snapshot.newer(&self.shared.place)? else {
            return Ok(false);
        };
        self.publish_snapshot(snapshot)?;
        Ok(true)
    }

    /// Takes over what other processes committed, unless a writer of this one is at work, which does so itself, or
    /// others keep the right to write.
    pub(crate) fn catch_up(&self) -> Result<()> {
        let free = self.shared.files.as_ref().and_then(FilesSlot::take_if_free);
        match free.map(|mut files| self.follow(&mut files)) {
            None | Some(Ok(_) | Err(Error::Locked { .. })) => Ok(()),
            Some(Err(error)) => Err(error),
        }
    }

    /// After a call that failed, opens the store again, so that queries go on: for reading if it cannot be written now, as on
    /// a full disk. The next write tries again.
    pub(crate) fn recover(&self, files: &mut StoreFiles) {
        let wait = std::mem::replace(&mut files.wait, TurnWait::NONE);
        let followed = self.follow(files);
        files.wait = wait;
        if followed.is_ok() {
            return;
        }
        let Ok(snapshot) = Snapshot::open(&self.shared.place) else {
            return;
        };
        // Another store may be in its place.
        let last = self.last_commit().snapshot.tables.meta;
        if snapshot.tables.meta.store == last.store {
            let _kept_if_it_fails = self.publish_snapshot(snapshot);
        }
    }

    /// Takes over what others committed, or the last commit after a failure.
    pub(crate) fn follow(&self, files: &mut StoreFiles) -> Result<bool> {
        let is_newer = files.take_turn()?;
        if is_newer {
            self.publish_files(files)?;
        }
        files.end_turn();
        Ok(is_newer)
    }
}

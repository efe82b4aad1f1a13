//! Following a writer in another process.

use std::sync::Arc;

use crate::error::Result;
use crate::store::compare::{Published, Sketcher};
use crate::store::handle::Store;
use crate::store::lock::lock;

impl Store {
    /// Moves a store that is open for reading only to the last commit; returns whether there was a newer one. A store
    /// that is open for writing is always at its last commit.
    ///
    /// Answers come from the last commit at the time when the store was opened or refreshed, whatever a writer does in
    /// the meantime. A running query finishes on the commit that it began with. The index keeps the pages of a commit
    /// that is being read, so a busy index grows while a reader stays open for long without a refresh.
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
    /// Those of opening the store for reading. After an error the store is at the same commit as before.
    pub fn refresh(&self) -> Result<bool> {
        self.shared.process.check()?;
        if self.shared.files.is_some() {
            return Ok(false);
        }
        let _turn = lock(&self.shared.refreshing);
        let last = self.last_commit();
        let Some(snapshot) = last.snapshot.newer(&self.shared.place)? else {
            return Ok(false);
        };
        let sketcher = if snapshot.schema == last.snapshot.schema {
            last.sketcher
        } else {
            Arc::new(Sketcher::new(&snapshot.schema, &self.shared.meters)?)
        };
        self.publish(Published {
            snapshot: Arc::new(snapshot),
            sketcher,
        });
        Ok(true)
    }
}

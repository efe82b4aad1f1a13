//! Following a writer in another process.

use std::sync::Arc;

use crate::error::Result;
use crate::store::compare::{Published, Sketcher};
use crate::store::handle::Store;
use crate::store::lock::lock;

impl Store {
    /// Moves a store that is open for reading only to the last commit, and says whether there was a
    /// newer one. A store that is open for writing is at its last commit always.
    ///
    /// Answers come from the commit that was the last one when the store was opened or refreshed,
    /// whatever a writer does in the meantime; queries that are under way end on the commit they
    /// began with. The commit that a store reads keeps its pages in the index, so that a store
    /// which is kept open for long and never refreshed makes a busy index grow.
    ///
    /// Without a newer commit that takes some tens of microseconds. With one it takes about as long
    /// as opening the store, but looks at no content again that this one has seen.
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
    /// Those of opening the store for reading. After an error it is where it was.
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

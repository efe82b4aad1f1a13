//! A copy of the store, taken while it is in use.

use std::path::Path;

use super::stats::Stats;
use crate::error::Result;
use crate::store::handle::Store;

impl Store {
    /// Copies the store, as of its last commit, into `folder`, and returns the figures of the copy.
    ///
    /// Queries and a writer can continue in the meantime, in this process or another. The folder must be absent or
    /// empty. The copy appears complete or not at all, and is a store like any other. The committed bytes of the
    /// columns are copied, by sharing blocks if the file system can, and compared with their checksums, so a damaged
    /// column does not get into a backup. The index is written again from one transaction, without the free space of an
    /// index in use.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// # store.insert_unless_duplicate("one", "a text")?;
    /// let copy = folder.path().join("backups/monday");
    /// let stats = store.backup(&copy)?;
    /// assert_eq!(stats.documents, 1);
    /// assert!(Store::check(&copy)?.is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AlreadyAStore`](crate::Error::AlreadyAStore), [`NotEmpty`](crate::Error::NotEmpty) or
    /// [`Occupied`](crate::Error::Occupied) if something is in the folder, [`InsideStore`](crate::Error::InsideStore),
    /// [`Locked`](crate::Error::Locked) if another process is copying to it, [`Damaged`](crate::Error::Damaged) if a
    /// column does not match its checksums, or those of the file system. After an error there is no copy.
    pub fn backup(&self, folder: impl AsRef<Path>) -> Result<Stats> {
        let snapshot = self.published()?;
        // This comes first because it can fail, and after an error there must be no copy.
        let stats = Stats::of(&snapshot)?;
        let files = snapshot.copy_to(folder.as_ref(), &self.progress)?;
        Ok(Stats { files, ..stats })
    }
}

//! Removing old documents.

use std::time::SystemTime;

use super::writer::Writer;
use crate::clock;
use crate::error::Result;
use crate::store::offer::Keyed;

impl Writer {
    /// Removes the documents whose text was added under their key before `time`, and returns their number.
    ///
    /// [`Document::added`](crate::Document::added) gives that time, to the second.
    ///
    /// Commits everything that was done before. Commits the removal whenever it takes `memory` bytes, of which a
    /// document takes about 300 and its key, and leaves the rest to [`Writer::commit`].
    /// [`Rebuild::compact`](crate::upkeep::Rebuild::compact) frees the space of what was removed.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    ///
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// writer.add("today", "seven swans were swimming on the lake when the snow fell")?;
    /// let quarter = Duration::from_secs(90 * 24 * 60 * 60);
    /// assert_eq!(writer.remove_older_than(SystemTime::now() - quarter, 64 << 20)?, 0);
    /// assert_eq!(writer.remove_older_than(SystemTime::now() + quarter, 64 << 20)?, 1);
    /// writer.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`] and of reading the store.
    pub fn remove_older_than(&mut self, time: SystemTime, memory: u64) -> Result<u64> {
        let _used = self.files.enter()?;
        self.commit()?;
        let snapshot = self.committed.snapshot.clone();
        let mut removed = 0;
        for document in snapshot.documents_with_prefix("")? {
            let (key, row) = document?;
            if clock::at_seconds(row.added) >= time {
                continue;
            }
            self.pending.set(Keyed::new(&key), Some(row), None);
            removed += 1;
            if self.uncommitted_bytes() >= memory {
                self.commit()?;
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use crate::store::Store;
    use crate::store::model::schema;

    #[test]
    fn what_is_older_goes_in_as_many_commits_as_memory_asks_for() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &schema()).unwrap();
        let mut writer = store.writer().unwrap();
        for number in 0..20_u64 {
            writer.added = i64::try_from(100 + number).unwrap();
            let text = format!("x{number} y{number} z{number}");
            writer.add(format!("k{number:02}"), text).unwrap();
        }
        let time = UNIX_EPOCH + Duration::from_secs(112);
        assert_eq!(writer.remove_older_than(time, 1000).unwrap(), 12);
        let left = || store.documents().unwrap().map(|document| document.unwrap());
        assert!((8..20).contains(&left().count()));
        writer.commit().unwrap();
        assert_eq!(left().count(), 8);
        assert!(left().all(|document| document.added >= time));
    }
}

//! Removing documents by their times.

use std::time::SystemTime;

use super::writer::Writer;
use crate::clock;
use crate::error::Result;
use crate::storage::DocumentRow;
use crate::store::offer::HashedKey;

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
        self.remove_rows(memory, |row| clock::at_seconds(row.added) < time)
    }

    /// Removes the documents that were last offered before the day of `time`, in UTC, and returns their number.
    ///
    /// [`Document::last_seen`](crate::Document::last_seen) gives that day. For commits and memory, see
    /// [`Writer::remove_older_than`].
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    ///
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// store.insert_unless_duplicate("today", "seven swans were swimming on the lake when the snow fell")?;
    /// let quarter = Duration::from_secs(90 * 24 * 60 * 60);
    /// let mut writer = store.writer()?;
    /// assert_eq!(writer.remove_unseen_since(SystemTime::now() - quarter, 64 << 20)?, 0);
    /// assert_eq!(writer.remove_unseen_since(SystemTime::now() + quarter, 64 << 20)?, 1);
    /// writer.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`] and of reading the store.
    pub fn remove_unseen_since(&mut self, time: SystemTime, memory: u64) -> Result<u64> {
        self.remove_rows(memory, |row| {
            clock::day(row.last_seen.saturating_add(1)) <= time
        })
    }

    fn remove_rows(
        &mut self,
        memory: u64,
        is_chosen: impl Fn(&DocumentRow) -> bool,
    ) -> Result<u64> {
        let _used = self.files.enter()?;
        self.commit()?;
        // Removals need the right to write until they are committed. Without it, others may change the same documents.
        self.take_turn()?;
        let snapshot = self.committed.snapshot.clone();
        let documents = snapshot.documents_with_prefix("")?;
        let chosen = documents.filter_map(|document| match document {
            Ok((key, row)) => is_chosen(&row).then_some(Ok(key)),
            Err(error) => Some(Err(error)),
        });
        self.remove_chosen(chosen, memory, &is_chosen)
    }

    /// Removes those of these documents that are chosen, and returns their number. The caller has the right to
    /// write.
    pub(super) fn remove_chosen(
        &mut self,
        keys: impl Iterator<Item = Result<String>>,
        memory: u64,
        is_chosen: impl Fn(&DocumentRow) -> bool,
    ) -> Result<u64> {
        let mut removed = 0;
        for key in keys {
            let key = key?;
            // The row as it is now, which another process may have changed since the keys were read.
            let row = self.committed.snapshot.document(&key)?;
            if !row.as_ref().is_some_and(&is_chosen) {
                continue;
            }
            self.pending.set(HashedKey::new(&key), row, None);
            removed += 1;
            if self.uncommitted_bytes() >= memory {
                self.commit()?;
                self.take_turn()?;
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, UNIX_EPOCH};

    use crate::clock;
    use crate::error::Error;
    use crate::store::handle::Options;
    use crate::store::model::schema;
    use crate::store::{Change, Store};

    #[test]
    fn what_is_removed_for_its_time_is_not_lost_to_another_handle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::create(&path, &schema()).unwrap();
        clock::set(100 * clock::DAY);
        for key in ["one", "two", "three"] {
            store.replace(key, format!("{key} x y z")).unwrap();
        }
        let options = Options::new().wait(Duration::from_millis(20));
        let other = options.open(&path).unwrap();
        let later = clock::at_seconds(200 * clock::DAY);
        // All in one commit, and each in one of its own.
        for memory in [u64::MAX, 1] {
            store.replace("one", "one x y z").unwrap();
            let mut writer = store.writer().unwrap();
            assert!(writer.remove_older_than(later, memory).unwrap() > 0);
            let refused = other.replace("four", "four a b c");
            assert!(matches!(refused, Err(Error::Locked { .. })), "{refused:?}");
            writer.commit().unwrap();
            drop(writer);
            other.refresh().unwrap();
            assert_eq!(other.stats().unwrap().documents, 0);
        }
    }

    #[test]
    fn what_another_handle_replaces_between_two_commits_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::create(&path, &schema()).unwrap();
        clock::set(100 * clock::DAY);
        let mut writer = store.writer().unwrap();
        for number in 0..200 {
            let text = format!("x{number} y{number} z{number}");
            writer.add(format!("k{number:03}"), text).unwrap();
        }
        writer.commit().unwrap();
        let other = Store::open(&path).unwrap();
        // It gets its turn at a commit for memory, or else after the last one. The document is a new one in either case.
        let replacing = thread::spawn(move || {
            clock::set(200 * clock::DAY);
            other.replace("k199", "a new text").unwrap();
        });
        let later = clock::at_seconds(150 * clock::DAY);
        let removed = writer.remove_older_than(later, 1).unwrap();
        writer.commit().unwrap();
        drop(writer);
        replacing.join().unwrap();
        assert!((199..=200).contains(&removed), "{removed}");
        store.refresh().unwrap();
        assert_eq!(store.stats().unwrap().documents, 1);
        let left = store.get("k199").unwrap().unwrap();
        assert_eq!(left.added, clock::at_seconds(200 * clock::DAY));
    }

    #[test]
    fn a_document_is_written_once_a_day_when_it_is_offered_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &schema()).unwrap();
        let commits = || store.last_commit().snapshot.tables.meta.commit;
        clock::set(100 * clock::DAY + 1);
        for (key, text) in [
            ("one", "x y z"),
            ("two", "x y z u"),
            ("three", "a b c"),
            ("four", "d e f"),
        ] {
            store.replace(key, text).unwrap();
        }
        let insert = |key, text| store.insert_unless_duplicate(key, text).unwrap().change;
        let offers: [&dyn Fn() -> bool; 3] = [
            &|| insert("one", "x y z") == Change::Unchanged,
            // Its new text is kept out by the first document.
            &|| insert("two", "x y z v") == Change::KeptOut,
            &|| store.touch("three").unwrap(),
        ];
        for offer in offers {
            let before = commits();
            assert!(offer());
            assert_eq!(commits(), before);
        }
        clock::set(101 * clock::DAY);
        for offer in offers {
            let before = commits();
            assert!(offer());
            assert_eq!(commits(), before + 1);
            assert!(offer());
            assert_eq!(commits(), before + 1);
        }
        // Of another key, an offer says nothing of the document that keeps it out.
        store.insert_unless_duplicate("five", "d e f").unwrap();
        let mut writer = store.writer().unwrap();
        assert_eq!(
            writer.remove_unseen_since(clock::day(100), 1000).unwrap(),
            0
        );
        let almost = clock::at_seconds(101 * clock::DAY - 1);
        assert_eq!(writer.remove_unseen_since(almost, 1000).unwrap(), 0);
        assert_eq!(
            writer.remove_unseen_since(clock::day(101), 1000).unwrap(),
            1
        );
        writer.commit().unwrap();
        drop(writer);
        assert!(store.get("four").unwrap().is_none());
    }

    #[test]
    fn what_is_older_goes_in_as_many_commits_as_memory_asks_for() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &schema()).unwrap();
        let mut writer = store.writer().unwrap();
        for number in 0..20_u64 {
            clock::set(i64::try_from(100 + number).unwrap());
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

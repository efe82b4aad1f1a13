//! Removing documents by a condition.

use super::writer::Writer;
use crate::error::Result;
use crate::store::find::Document;
use crate::store::offer::HashedKey;

impl Writer {
    /// Removes the documents whose keys begin with `prefix` and for which `is_chosen` returns true, and returns their
    /// number.
    ///
    /// While it looks for them, other processes can write. A document that one of them changes meanwhile is shown to
    /// `is_chosen` again. The store's progress counts the documents that were looked at.
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
    /// let (past, future) = (SystemTime::now() - quarter, SystemTime::now() + quarter);
    /// assert_eq!(writer.remove_if("", 64 << 20, |document| document.added < past)?, 0);
    /// assert_eq!(writer.remove_if("", 64 << 20, |document| document.last_seen < past)?, 0);
    /// assert_eq!(writer.remove_if("", 64 << 20, |document| document.added < future)?, 1);
    /// writer.commit()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`] and of reading the store, and [`Error::Stopped`](crate::Error::Stopped).
    pub fn remove_if(
        &mut self,
        prefix: &str,
        memory: u64,
        mut is_chosen: impl FnMut(&Document) -> bool,
    ) -> Result<u64> {
        let _used = self.files.enter()?;
        // Takes over what others have committed, and lets them write until something is chosen.
        self.take_turn()?;
        self.commit()?;
        let store = self.store.clone();
        let all = match prefix {
            "" => store.stats()?.documents,
            // The number of such documents is not known.
            _ => 0,
        };
        store.progress().begin(all);
        let mut removed = 0;
        for document in store.documents_with_prefix(prefix)? {
            let document = document?;
            store.progress().step(1)?;
            if !is_chosen(&document) {
                continue;
            }
            self.take_turn()?;
            let snapshot = &self.committed.snapshot;
            let row = snapshot.document(&document.key)?;
            let now = Document::of_row(snapshot, &document.key, row)?;
            if now.is_some_and(|now| now == document || is_chosen(&now)) {
                self.pending.set(HashedKey::new(&document.key), row, None);
                removed += 1;
            }
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

    use crate::clock;
    use crate::error::Error;
    use crate::store::handle::Options;
    use crate::store::model::schema;
    use crate::store::{Change, Document, Store};

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
        let mut writer = store.writer().unwrap();
        let is_old = |document: &Document| document.added < later;
        assert_eq!(writer.remove_if("", u64::MAX, is_old).unwrap(), 3);
        let refused = other.replace("four", "four a b c");
        assert!(matches!(refused, Err(Error::Locked { .. })), "{refused:?}");
        writer.commit().unwrap();
        drop(writer);
        other.refresh().unwrap();
        assert_eq!(other.stats().unwrap().documents, 0);
    }

    #[test]
    fn what_another_handle_replaces_or_removes_meanwhile_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::create(&path, &schema()).unwrap();
        clock::set(100 * clock::DAY);
        let keys = ["a", "b", "c", "other"];
        for key in keys {
            store.replace(key, format!("{key} x y z")).unwrap();
        }
        let other = Store::open(&path).unwrap();
        clock::set(200 * clock::DAY);
        other.replace("unknown to the first handle", "d").unwrap();
        let later = clock::at_seconds(150 * clock::DAY);
        let mut writer = store.writer().unwrap();
        let mut met = Vec::new();
        let is_old = |document: &Document| {
            if met.is_empty() {
                other.replace("a", "a new text").unwrap();
                other.remove("b").unwrap();
            }
            met.push(document.key.clone());
            document.added < later
        };
        assert_eq!(writer.remove_if("", u64::MAX, is_old).unwrap(), 2);
        writer.commit().unwrap();
        drop(writer);
        let again = ["a", "a", "b", "c", "other", "unknown to the first handle"];
        assert_eq!(met, again);
        let left = store.documents().unwrap().map(|left| left.unwrap().key);
        let left: Vec<String> = left.collect();
        assert_eq!(left, ["a", "unknown to the first handle"]);
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
        let last_seen = |key| store.get(key).unwrap().unwrap().last_seen;
        let days = ["one", "two", "three", "four"].map(last_seen);
        assert_eq!(days, [101, 101, 101, 100].map(clock::day));
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
        let removed = writer.remove_if("k", 1000, |document| document.added < time);
        assert_eq!(removed.unwrap(), 12);
        let left = || store.documents().unwrap().map(|document| document.unwrap());
        assert!((8..20).contains(&left().count()));
        writer.commit().unwrap();
        assert_eq!(left().count(), 8);
        assert!(left().all(|document| document.added >= time));
    }
}

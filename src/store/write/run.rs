//! Runs: documents that count as published only once their run is published.

use super::writer::Writer;
use crate::error::Result;
use crate::store::offer::HashedKey;

/// The number of bytes of memory that the removal of documents takes before it is committed.
const MEMORY: u64 = 64 << 20;

impl Writer {
    /// Begins a run, forgets the documents of an earlier unpublished run, and returns their number.
    ///
    /// Documents that [`Writer::admit_batch`] stores belong to the run until [`Writer::publish_run`]. The writer keeps the
    /// right to write until then, because another process could not tell the run from an interrupted one.
    ///
    /// Everything that was done before is committed, and so is the beginning of the run. If the process ends before the
    /// run is published, its documents stay in the store, and queries find them like any others, until the next run
    /// begins or [`Store::insert_unless_duplicate`](crate::Store::insert_unless_duplicate) is called. Documents that were
    /// added, touched or renamed by other calls in the meantime stay, also under keys of the run. A crash while documents
    /// are forgotten leaves the rest to the next call.
    ///
    /// ```
    /// use dedupdb::{Input, Schema, Store, write::Change};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let page = Input::new("1", "seven swans were swimming on the lake when the snow fell");
    /// let mut writer = store.writer()?;
    /// writer.begin_run()?;
    /// let admissions = writer.admit_batch(store.sketch_all(vec![page.clone()]))?;
    /// assert!(matches!(&admissions[0], Ok(outcome) if outcome.change == Change::Added));
    /// writer.commit()?;
    /// drop(writer);
    ///
    /// // It was never published, so the same document is new again.
    /// let mut writer = store.writer()?;
    /// assert_eq!(writer.begin_run()?, 1);
    /// let admissions = writer.admit_batch(store.sketch_all(vec![page]))?;
    /// assert!(matches!(&admissions[0], Ok(outcome) if outcome.change == Change::Added));
    /// writer.publish_run()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`] and of reading the store.
    pub fn begin_run(&mut self) -> Result<u64> {
        self.is_in_run = true;
        self.commit()?;
        let forgotten = self.forget_open(MEMORY)?;
        let first = self.committed.snapshot.len;
        self.runs = self.runs.begin(first);
        self.commit()?;
        self.run = self.runs.open;
        Ok(forgotten)
    }

    /// Commits everything, and publishes the open run, in one transaction.
    ///
    /// Call it once the results of the run are durable. Without an open run, it is the same as [`Writer::commit`].
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`].
    pub fn publish_run(&mut self) -> Result<()> {
        // Another process may have begun the run that is open.
        let used = self.begin()?;
        self.close_run();
        drop(used);
        self.commit()
    }

    /// Forgets the documents of an earlier unpublished run, and returns their number.
    ///
    /// Everything that was done before is committed. The removal is committed whenever it takes `memory` bytes, and the
    /// rest is left to [`Writer::commit`].
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`] and of reading the store.
    pub fn forget_run(&mut self, memory: u64) -> Result<u64> {
        self.is_in_run = true;
        self.commit()?;
        let forgotten = self.forget_open(memory)?;
        self.close_run();
        Ok(forgotten)
    }

    /// Forgets the documents of a run that another writer began and did not publish. A run that goes on has the right to
    /// write, so the caller must have it.
    pub(super) fn forget_interrupted_run(&mut self) -> Result<()> {
        if self.runs.open != self.run {
            self.is_in_run = true;
            self.forget_open(MEMORY)?;
            self.close_run();
        }
        Ok(())
    }

    fn close_run(&mut self) {
        self.runs = self.runs.close();
        (self.run, self.is_in_run) = (0, false);
    }

    /// Removes the documents of the open run, and commits whenever that takes `memory` bytes. The caller commits the
    /// rest, with the end of the run.
    fn forget_open(&mut self, memory: u64) -> Result<u64> {
        let _used = self.files.enter()?;
        // Removals need the right to write until they are committed. Without it, others may change the same documents.
        self.take_turn()?;
        let runs = self.runs;
        if runs.open == 0 {
            return Ok(0);
        }
        let snapshot = self.committed.snapshot.clone();
        let mut removed = 0;
        for name in snapshot.names_from(runs.first)? {
            let (_, key) = name?;
            let [committed, current] = self.rows(&key)?;
            if current.is_some_and(|row| runs.is_open(row.run)) {
                self.pending.set(HashedKey::new(&key), committed, None);
                removed += 1;
            }
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
    use std::path::Path;
    use std::time::Duration;

    use crate::error::Error;
    use crate::store::handle::{Options, Store};
    use crate::store::model::schema;
    use crate::store::{Change, Input};

    #[test]
    fn a_long_run_is_forgotten_in_several_commits_and_the_rest_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &schema()).unwrap();
        let mut writer = store.writer().unwrap();
        writer.begin_run().unwrap();
        let inputs = (0..9).map(|i| Input::new(format!("k{i}"), format!("x{i} y{i} z{i}")));
        writer
            .admit_batch(store.sketch_all(inputs.collect()))
            .unwrap();
        writer.commit().unwrap();
        drop(writer);
        // Stopped when all but the last few are forgotten.
        let mut writer = store.writer().unwrap();
        let memory = writer.uncommitted_bytes() + 1000;
        let most = writer.forget_run(memory).unwrap();
        assert_eq!(most, 9);
        drop(writer);
        let left = store.stats().unwrap().documents;
        assert!((1..9).contains(&left), "{left}");
        let mut writer = store.writer().unwrap();
        assert_eq!(writer.begin_run().unwrap(), left);
        writer.publish_run().unwrap();
        assert_eq!(store.stats().unwrap().documents, 0);
    }

    #[test]
    fn nobody_takes_a_run_that_goes_on_for_an_interrupted_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::create(&path, &schema()).unwrap();
        let options = Options::new().wait(Duration::from_millis(20));
        let other = options.open(&path).unwrap();
        let mut writer = store.writer().unwrap();
        writer.begin_run().unwrap();
        let page = store.sketch_all(vec![Input::new("one", "x y z")]);
        writer.admit_batch(page).unwrap();
        writer.commit().unwrap();
        assert!(!writer.is_awaited());
        // Neither a run nor an insert of another process, between two commits of this one.
        let refused = other.writer().unwrap().begin_run();
        assert!(matches!(refused, Err(Error::Locked { .. })), "{refused:?}");
        let refused = other.insert_unless_duplicate("two", "u v w");
        assert!(matches!(refused, Err(Error::Locked { .. })), "{refused:?}");
        writer.publish_run().unwrap();
        let mut writer = other.writer().unwrap();
        assert_eq!(writer.begin_run().unwrap(), 0);
        writer.publish_run().unwrap();
        drop(writer);
        assert_eq!(other.stats().unwrap().documents, 1);
    }

    /// A store with the pages "one" and "two" of a run that nobody published.
    fn interrupted(folder: &Path) -> Store {
        let store = Store::create(folder.join("store"), &schema()).unwrap();
        let mut writer = store.writer().unwrap();
        writer.begin_run().unwrap();
        let pages = [("one", "x y z"), ("two", "u v w")].map(|(key, text)| Input::new(key, text));
        let admitted = writer.admit_batch(store.sketch_all(pages.to_vec()));
        assert_eq!(admitted.unwrap().len(), 2);
        writer.commit().unwrap();
        drop(writer);
        store
    }

    /// Begins the next run, which forgets what the interrupted one had, and returns the number of documents forgotten and
    /// the keys of the others.
    fn forget(store: &Store) -> (u64, Vec<String>) {
        let mut writer = store.writer().unwrap();
        let forgotten = writer.begin_run().unwrap();
        writer.publish_run().unwrap();
        let left = store.documents().unwrap();
        (
            forgotten,
            left.map(|document| document.unwrap().key).collect(),
        )
    }

    #[test]
    fn what_is_stored_again_touched_or_renamed_is_of_no_run() {
        for call in ["replace", "touch", "rename"] {
            let folder = tempfile::tempdir().unwrap();
            let store = interrupted(folder.path());
            let key = match call {
                "replace" => {
                    let outcome = store.replace("one", "x y z").unwrap();
                    assert_eq!(outcome.change, Change::Unchanged);
                    "one"
                }
                "touch" => {
                    assert!(store.touch("one").unwrap());
                    "one"
                }
                _ => {
                    assert!(store.rename("one", "new").unwrap());
                    "new"
                }
            };
            assert_eq!(forget(&store), (1, vec![key.to_owned()]), "{call}");
        }
    }

    #[test]
    fn what_an_interrupted_run_stored_keeps_no_text_out() {
        for (key, text) in [("one", "x y z"), ("page", "x y z"), ("page", "w x y z")] {
            let folder = tempfile::tempdir().unwrap();
            let store = interrupted(folder.path());
            let outcome = store.insert_unless_duplicate(key, text).unwrap();
            assert_eq!(outcome.change, Change::Added, "{key} {text}");
            assert_eq!(forget(&store), (0, vec![key.to_owned()]));
        }
        for is_one_commit in [true, false] {
            // By a writer with changes of its own.
            let folder = tempfile::tempdir().unwrap();
            let store = interrupted(folder.path());
            let mut writer = store.writer().unwrap();
            writer.add("two", "u v w").unwrap();
            if !is_one_commit {
                writer.commit().unwrap();
            }
            writer.unique(true);
            let outcome = writer.add("page", "x y z").unwrap();
            assert_eq!(outcome.change, Change::Added);
            let outcome = writer.add("page 2", "u v w").unwrap();
            assert_eq!(outcome.change, Change::KeptOut);
            writer.commit().unwrap();
            drop(writer);
            assert_eq!(
                forget(&store),
                (0, vec!["page".to_owned(), "two".to_owned()])
            );
        }
    }
}

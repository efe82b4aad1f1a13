//! Rewrites an index to which much was added.

use super::rebuild::Rebuild;
use crate::error::{Error, Result};
use crate::store::handle::Store;

impl Store {
    /// Rewrites the index if a lot was added since it was last rewritten, and returns whether it did. Call it after
    /// adding many documents with a [`Writer`](crate::Writer), when no writer is held. [`Store::pipeline`],
    /// [`Store::merge`] and the calls that take a corpus do this themselves.
    ///
    /// The index is rewritten if at least 65,536 distinct texts, and a sixth of all contents, were added. The new
    /// index takes about half of the space. It is made beside the old one, as by [`Store::rebuild`]: columns stay
    /// as they are, queries and writers continue, and it is safe to end the process at any time. It takes about a
    /// twentieth of the time of adding.
    ///
    /// If its [progress](Store::watched) is stopped, the store is unchanged. It is also unchanged if the disk has no space for another index, or if there is an unfinished [`Rebuild`] that
    /// compacts or changes the schema; an unfinished pack is finished.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// store.insert_unless_duplicate("one", "a text")?;
    /// assert!(!store.pack_if_loose()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::WriterHeld`], [`Error::Moved`], [`Error::Damaged`] or those of reading the
    /// store.
    pub fn pack_if_loose(&self) -> Result<bool> {
        self.slot()?.check_not_held_here()?;
        let limits = self.shared.allowance.limits();
        let snapshot = self.published()?;
        if !snapshot.is_loose(limits) {
            return Ok(false);
        }
        let begun = self.begun_rebuild(&snapshot)?;
        if begun.is_some_and(|begun| begun.compacts || begun.schema != *snapshot.schema) {
            return Ok(false);
        }
        match self.rebuild_alone(&Rebuild::pack()) {
            Err(error) if matches!(error, Error::Stopped) || error.is_refusal_to_write() => {
                self.cancel_rebuild()?;
                Ok(false)
            }
            // The index gets packed there.
            Err(Error::Rebuilding { .. }) => Ok(false),
            packed => packed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::progress::Progress;
    use crate::schema::Schema;
    use crate::storage::Limits;
    use crate::store::{Input, Intake, Match, Options, Query};

    /// A handle whose long calls are stopped at their first step.
    fn hasty(store: &Store) -> Store {
        store.watched(&Progress::observed(Progress::stop))
    }

    /// A text of a family, with a few words of its own.
    fn text(number: usize) -> String {
        let words = (0..40).map(|word| match word {
            0..4 => format!("own{number}x{word}"),
            _ => format!("family{}x{word}", number % 10),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn store(folder: &tempfile::TempDir) -> Store {
        let options = Options::new().threads(2).limits(Limits::LOW);
        let store = options.create(folder.path().join("store"), &Schema::default());
        let store = store.unwrap();
        for first in [0, 30, 60] {
            let mut writer = store.writer().unwrap();
            for number in first..first + 30 {
                writer.add(format!("key {number}"), text(number)).unwrap();
            }
            writer.commit().unwrap();
        }
        let mut writer = store.writer().unwrap();
        for number in (0..90).step_by(7) {
            writer.remove(&format!("key {number}")).unwrap();
        }
        writer.add("key 91", text(1)).unwrap();
        writer.commit().unwrap();
        store
    }

    fn answers(store: &Store) -> Vec<Vec<Match>> {
        let answer = |number| store.query(&Query::text(&text(number))).unwrap();
        (0..92).map(answer).collect()
    }

    fn index_bytes(store: &Store) -> u64 {
        let files = store.stats().unwrap().files;
        let index = files.iter().find(|(name, _)| name == "index.redb");
        index.unwrap().1
    }

    #[test]
    fn a_loose_index_is_packed_once_and_says_what_it_said() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let (before, bytes) = (answers(&store), index_bytes(&store));
        assert!(store.pack_if_loose().unwrap());
        assert!(!store.pack_if_loose().unwrap());
        assert_eq!(answers(&store), before);
        assert!(index_bytes(&store) < bytes);
        // Recent contents and those in tables work together.
        let novel = "words that no other text here has";
        store.insert_unless_duplicate("new", novel).unwrap();
        drop(store);
        let place = folder.path().join("store");
        assert!(Store::check(&place).unwrap().is_clean());
        let store = Store::open(&place).unwrap();
        assert_eq!(store.query(&Query::text(novel)).unwrap()[0].key, "new");
    }

    #[test]
    fn one_that_is_stopped_leaves_nothing_and_one_that_was_killed_blocks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        assert!(!hasty(&store).pack_if_loose().unwrap());
        assert_eq!(store.unfinished_rebuild().unwrap(), None);
        assert!(matches!(
            hasty(&store).rebuild(Rebuild::pack()),
            Err(Error::Stopped)
        ));
        let begun = store.unfinished_rebuild().unwrap().unwrap();
        assert_eq!((begun.compacts, &begun.schema), (false, &*store.schema()));
        assert!(store.rebuild(Rebuild::compact()).unwrap());
        assert_eq!(store.unfinished_rebuild().unwrap(), None);
        drop(store);
        let report = Store::check(folder.path().join("store")).unwrap();
        assert!(report.is_clean(), "{report:?}");
    }

    #[test]
    fn an_unfinished_rebuild_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        hasty(&store).rebuild(Rebuild::compact()).unwrap_err();
        assert!(!store.pack_if_loose().unwrap());
        assert!(store.unfinished_rebuild().unwrap().unwrap().compacts);
    }

    #[test]
    fn what_adds_much_packs_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let create = |name| {
            let options = Options::new().threads(2).limits(Limits::LOW);
            options.create(folder.path().join(name), &Schema::default())
        };
        let inputs = || (0..90).map(|number| Input::new(format!("key {number}"), text(number)));
        let written = create("written").unwrap();
        let mut writer = written.writer().unwrap();
        writer.add_all(inputs().collect()).unwrap();
        writer.commit().unwrap();
        drop(writer);
        let piped = create("piped").unwrap();
        let mut pipeline = piped.pipeline(Intake::new()).unwrap();
        pipeline.push(inputs().collect());
        pipeline.close();
        while pipeline.under_way() > 0 {
            pipeline.wait(Duration::from_millis(50)).unwrap();
        }
        let merged = create("merged").unwrap();
        assert_eq!(merged.merge(&written, 1 << 20).unwrap().added, 90);
        let is_loose = |store: &Store| store.pack_if_loose().unwrap();
        assert!(is_loose(&written) && !is_loose(&piped) && !is_loose(&merged));
        // The merge succeeds even if packing is stopped.
        let stopped = create("stopped").unwrap();
        let mut calls = 0;
        let progress = Progress::observed(move |progress| {
            calls += 1;
            if calls > 1 {
                progress.stop();
            }
        });
        let done = stopped.watched(&progress).merge(&written, 1 << 20);
        assert_eq!(done.unwrap().added, 90);
        assert!(is_loose(&stopped));
    }
}

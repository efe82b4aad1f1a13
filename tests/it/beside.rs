//! Readers beside a writer in another process, which is killed repeatedly.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dedupdb::{Input, Options, Query, Schema, Store, groups::PairQuery, upkeep::Rebuild};
use tempfile::TempDir;

use crate::numbered;

/// Names the store for the process that runs [`writes_until_it_is_killed`].
const STORE: &str = "DEDUPDB_TEST_STORE";

/// The number of batches in a store. Each commit adds one and removes the oldest.
const WINDOW: usize = 6;

/// The number of lives of the writer, and of commits that are seen in each.
const LIVES: usize = 4;
const COMMITS: usize = 12;

/// The number of documents in a batch. Several batches make one merge.
fn size(batch: usize) -> usize {
    2 + batch * 74 % 300
}

fn key(batch: usize, index: usize) -> String {
    format!("{batch:06}/{index:03}")
}

/// The text of a document. Every second one resembles the one before it.
fn text(batch: usize, index: usize) -> String {
    let mut text = numbered::text(batch * 1000 + index / 2, 40);
    text.push_str(if index.is_multiple_of(2) { "" } else { " more" });
    text
}

/// The batches in a store whose newest one is `newest`.
fn batches(newest: usize) -> std::ops::RangeInclusive<usize> {
    newest.saturating_sub(WINDOW - 1).max(1)..=newest
}

fn open(path: &Path) -> Store {
    Options::new().read_only(true).open(path).unwrap()
}

/// The last batch that was committed. The store must answer as it did after that commit.
fn newest(store: &Store) -> usize {
    let documents = store.documents().unwrap();
    let keys: Vec<String> = documents.map(|document| document.unwrap().key).collect();
    let last = keys.last();
    let newest = last.map_or(0, |key| key[..6].parse().unwrap());
    let expected = batches(newest).flat_map(|batch| (0..size(batch)).map(move |i| key(batch, i)));
    assert!(keys.iter().eq(&expected.collect::<Vec<_>>()), "{keys:?}");
    assert_eq!(store.stats().unwrap().documents, keys.len() as u64);

    let pairs = store.pairs(PairQuery::new()).unwrap();
    let mut pairs: Vec<(String, String)> = pairs
        .map(|pair| pair.map(|pair| (pair.key_a, pair.key_b)).unwrap())
        .collect();
    pairs.sort_unstable();
    let mut like = Vec::new();
    for batch in batches(newest) {
        like.extend(
            (0..size(batch))
                .step_by(2)
                .map(|i| (key(batch, i), key(batch, i + 1))),
        );
    }
    assert_eq!(pairs, like);

    for batch in newest.saturating_sub(WINDOW)..=newest + 1 {
        let index = size(batch) - 2;
        let text = text(batch, index);
        let found = store.query(&Query::text(&text)).unwrap();
        let found: Vec<&str> = found.iter().map(|found| found.key.as_str()).collect();
        if batches(newest).contains(&batch) {
            assert_eq!(found, [key(batch, index), key(batch, index + 1)]);
            assert!(store.get(&key(batch, index)).unwrap().is_some());
        } else {
            assert_eq!(found, [""; 0], "{batch} in {newest}");
        }
    }
    newest
}

/// Commits one batch after another. Each commit removes the batch that leaves the window.
fn write(store: &Store, batches: impl Iterator<Item = usize>) {
    let mut writer = store.writer().unwrap();
    for batch in batches {
        let inputs =
            (0..size(batch)).map(|index| Input::new(key(batch, index), text(batch, index)));
        writer.add_all(inputs.collect()).unwrap();
        if let Some(old) = batch.checked_sub(WINDOW).filter(|&old| old > 0) {
            for index in 0..size(old) {
                assert!(writer.remove(&key(old, index)).unwrap());
            }
        }
        writer.commit().unwrap();
    }
}

/// What the writing process does. In any other process, this tests nothing.
#[test]
fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(STORE).map(PathBuf::from) else {
        return;
    };
    let store = Store::open(path).unwrap();
    // The process ends with the test that started it, however that ends.
    let ended = Arc::new(AtomicBool::new(false));
    let end = ended.clone();
    thread::spawn(move || {
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        end.store(true, Ordering::Relaxed);
    });
    let batches = newest(&store) + 1..;
    write(
        &store,
        batches.take_while(|_| !ended.load(Ordering::Relaxed)),
    );
}

/// A process that writes, killed on drop.
struct Writing(Child);

impl Writing {
    fn start(path: &Path) -> Writing {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "beside::writes_until_it_is_killed"])
            .env(STORE, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        Writing(child.unwrap())
    }

    fn assert_goes_on(&mut self) {
        assert_eq!(self.0.try_wait().unwrap(), None, "the writer has ended");
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn new_store() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    write(&Store::create(&path, &Schema::default()).unwrap(), 1..3);
    (folder, path)
}

#[test]
fn readers_see_whole_commits_of_a_writer_that_is_killed() {
    let (folder, path) = new_store();
    let followed = open(&path);
    let mut seen = newest(&followed);
    for life in 0..LIVES {
        let held = open(&path);
        let at = newest(&held);
        let mut writing = Writing::start(&path);
        while seen < at + COMMITS {
            writing.assert_goes_on();
            followed.refresh().unwrap();
            let now = newest(&followed);
            assert!(now >= seen, "{now} after {seen}");
            seen = newest(&open(&path));
            assert!(seen >= now, "{seen} after {now}");
        }
        let copy = folder.path().join(life.to_string());
        assert!(followed.backup(&copy).unwrap().documents > 0);
        writing.assert_goes_on();
        let followers = [(); 4].map(|()| open(&path));
        drop(writing);
        assert_eq!(newest(&held), at);
        assert_eq!(newest(&open(&copy)), newest(&followed));
        assert!(Store::check(&copy).unwrap().is_clean());
        // All open what the killed writer left at once, and one of them has to repair it.
        thread::scope(|scope| {
            for follower in followers {
                scope.spawn(move || {
                    follower.refresh().unwrap();
                    let found = newest(&follower);
                    assert!(found >= seen, "{found} after {seen}");
                });
            }
        });
        followed.refresh().unwrap();
        seen = newest(&followed);
        assert_eq!(newest(&open(&path)), seen);
    }
    // Readers hinder neither a check nor the next writer.
    let report = Store::check(&path).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    write(&Store::open(&path).unwrap(), seen + 1..seen + 4);
    assert_eq!(newest(&followed), seen);
    assert!(followed.refresh().unwrap());
    assert_eq!(newest(&followed), seen + 3);
}

#[test]
fn whoever_comes_first_mends_what_a_killed_writer_left() {
    let (folder, path) = new_store();
    for round in 0..10 {
        let store = Store::open(&path).unwrap();
        write(&store, round + 3..round + 4);
        // Its index says that a writer has it open, but none has.
        let left = folder.path().join(round.to_string());
        fs::create_dir(&left).unwrap();
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != "holder" {
                fs::copy(entry.path(), left.join(entry.file_name())).unwrap();
            }
        }
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(newest(&open(&left)) >= round + 3));
            }
            scope.spawn(|| write(&Store::open(&left).unwrap(), round + 4..round + 6));
        });
        assert_eq!(newest(&open(&left)), round + 5);
    }
}

/// Ends other threads on drop, even in a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn readers_follow_a_store_that_is_written_rebuilt_and_copied_at_once() {
    const BATCHES: usize = 30;
    let (folder, path) = new_store();
    let (folder, path) = (folder.path(), &*path);
    let store = &Store::open(path).unwrap();
    let ended = &AtomicBool::new(false);
    let goes_on = || !ended.load(Ordering::Acquire);
    thread::scope(|scope| {
        let _end = End(ended);
        for _ in 0..3 {
            scope.spawn(move || {
                let reader = open(path);
                let mut seen = newest(&reader);
                while goes_on() {
                    reader.refresh().unwrap();
                    let now = newest(&reader);
                    assert!(now >= seen, "{now} after {seen}");
                    seen = now;
                }
            });
        }
        scope.spawn(move || {
            for seed in (2..).take_while(|_| goes_on()) {
                let schema = store.schema().to_builder().seed(seed).build().unwrap();
                assert!(store.rebuild(Rebuild::reindex(schema)).unwrap());
                store.rebuild(Rebuild::compact()).unwrap();
            }
        });
        scope.spawn(move || {
            let mut seen = 0;
            for round in (0..).take_while(|_| goes_on()) {
                let copy = folder.join(format!("{round}"));
                store.backup(&copy).unwrap();
                let now = newest(&open(&copy));
                assert!(now >= seen, "{now} after {seen}");
                assert!(Store::check(&copy).unwrap().is_clean());
                seen = now;
            }
        });
        for batch in 3..BATCHES {
            write(store, batch..=batch);
        }
    });
    assert_eq!(newest(&open(path)), BATCHES - 1);
}

#[test]
fn a_reader_stays_where_it_is_until_it_is_refreshed() {
    let (_folder, path) = new_store();
    let store = Store::open(&path).unwrap();
    let reader = open(&path);
    assert!(!reader.refresh().unwrap());
    // Follows small commits, merges, and merges that make another filter.
    for batch in 3..60 {
        write(&store, batch..=batch);
        assert!(batch % 7 > 0 || newest(&reader) == batch - 1);
        assert!(reader.refresh().unwrap());
        assert!(!reader.refresh().unwrap());
        assert!(batch % 7 > 0 || newest(&reader) == batch);
    }
    // A commit that adds no content counts as one, too. Uncommitted changes do not.
    let mut writer = store.writer().unwrap();
    assert!(writer.remove(&key(59, 0)).unwrap());
    assert!(!reader.refresh().unwrap());
    writer.commit().unwrap();
    assert!(reader.get(&key(59, 0)).unwrap().is_some());
    assert!(reader.refresh().unwrap());
    assert!(reader.get(&key(59, 0)).unwrap().is_none());
    drop(writer);
    assert!(!store.refresh().unwrap());
}

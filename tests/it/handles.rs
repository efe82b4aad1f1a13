//! Handles of a store: where they may be used, and what they leave behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dedupdb::{
    Error, Input, Options, Progress, Query, Schema, Store, Writer,
    groups::{ClusterQuery, PairQuery},
    upkeep::Rebuild,
    write::{Change, Intake},
};

const TEXT: &str = "it was the first of many long and cold nights in the old lighthouse";

fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    (folder, store)
}

/// A struct that only an owned writer makes possible.
struct Task {
    writer: Writer,
    store: Store,
}

#[test]
fn a_writer_lives_beside_its_store_and_moves_to_another_thread() {
    fn is_handle<T: Clone + Send + Sync + 'static>(_: &T) {}
    let (_folder, store) = new_store();
    is_handle(&store);
    let task = Task {
        writer: store.writer().unwrap(),
        store: store.clone(),
    };
    let task = thread::spawn(move || {
        let mut task = task;
        task.writer.add("one", TEXT).unwrap();
        task.writer.commit().unwrap();
        task
    });
    let task = task.join().unwrap();
    assert_eq!(task.store.query(&Query::text(TEXT)).unwrap().len(), 1);
    drop(task);
    assert_eq!(store.stats().unwrap().documents, 1);
}

#[test]
fn the_last_handle_closes_the_store() {
    let (_folder, store) = new_store();
    let path = store.folder().to_owned();
    let mut writer = store.writer().unwrap();
    writer.add("one", TEXT).unwrap();
    drop(store);
    assert!(path.join("holder").exists());
    let second = Options::new().wait(Duration::ZERO).open(&path);
    assert!(matches!(second, Err(Error::Locked { .. })));
    writer.commit().unwrap();
    assert!(!path.join("holder").exists());
    drop(writer);
    assert_eq!(Store::open(&path).unwrap().stats().unwrap().documents, 1);
}

#[test]
fn pairs_and_clusters_own_their_store() {
    let (_folder, store) = new_store();
    let path = store.folder().to_owned();
    let mut writer = store.writer().unwrap();
    for key in ["one", "two"] {
        writer.add(key, TEXT).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let pairs = store.pairs(PairQuery::new()).unwrap();
    let clusters = store.clusters(ClusterQuery::new()).unwrap();
    drop(store);
    // They move to another thread, and keep the store open until they are done.
    let counted = thread::spawn(move || (pairs.count(), clusters));
    let (pairs, clusters) = counted.join().unwrap();
    assert_eq!((pairs, clusters.count()), (1, 1));
    assert_eq!(Store::open(&path).unwrap().stats().unwrap().documents, 2);
}

#[test]
fn a_panic_of_the_caller_rolls_back_and_leaves_the_store_usable() {
    let (_folder, store) = new_store();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut writer = store.writer().unwrap();
        writer.add("one", TEXT).unwrap();
        panic!("of the caller");
    }));
    assert!(panicked.is_err());
    let panicked = thread::scope(|scope| {
        let panics = scope.spawn(|| {
            let mut writer = store.writer().unwrap();
            writer.add("two", TEXT).unwrap();
            panic!("of another thread");
        });
        panics.join()
    });
    assert!(panicked.is_err());
    let outcome = store.insert_unless_duplicate("three", TEXT).unwrap();
    assert_eq!(outcome.change, Change::Added);
    let mut writer = store.writer().unwrap();
    writer.add("four", "nobody knows who painted it").unwrap();
    writer.commit().unwrap();
    let keys: Vec<String> = store.documents().unwrap().map(|d| d.unwrap().key).collect();
    assert_eq!(keys, ["four", "three"]);
}

fn is_held<T>(done: &Result<T, Error>) -> bool {
    matches!(done, Err(Error::WriterHeld))
}

/// A store whose writer may be idle only for a moment.
fn impatient() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().idle_writer(Duration::from_millis(5));
    let path = folder.path().join("store");
    let store = options.create(path, &Schema::default()).unwrap();
    (folder, store)
}

#[test]
fn the_thread_that_feeds_a_pipeline_does_not_wait_for_it() {
    const TICK: Duration = Duration::from_millis(10);
    let (_folder, store) = new_store();
    let mut pipeline = store.pipeline(Intake::new()).unwrap();
    assert!(is_held(&store.writer()));
    assert!(is_held(&store.insert_unless_duplicate("one", TEXT)));
    assert!(is_held(&store.rebuild(Rebuild::compact())));
    assert!(is_held(&store.pipeline(Intake::new())));
    // Another thread feeds it from here on, and then this one again.
    let mut pipeline = thread::scope(|scope| {
        let store = &store;
        let other = scope.spawn(move || {
            pipeline.push(vec![Input::new("one", TEXT)]);
            assert!(is_held(&store.writer()));
            pipeline
        });
        other.join().unwrap()
    });
    while pipeline.under_way() > 0 {
        pipeline.wait(TICK).unwrap();
    }
    assert!(is_held(&store.writer()));
    pipeline.close();
    assert!(store.writer().unwrap().remove("one").unwrap());
    while pipeline.under_way() > 0 {
        pipeline.wait(TICK).unwrap();
    }
    assert!(pipeline.wait(TICK).unwrap().is_none());
}

#[test]
fn a_pipeline_that_waits_for_a_writer_of_the_thread_that_asks_says_so() {
    let (_folder, store) = new_store();
    let _writer = store.writer().unwrap();
    let other = store.clone();
    let made = thread::spawn(move || other.pipeline(Intake::new()));
    let mut pipeline = made.join().unwrap().unwrap();
    pipeline.push(vec![Input::new("one", TEXT)]);
    assert!(is_held(&pipeline.wait(Duration::from_millis(10))));
}

#[test]
fn nobody_waits_for_a_writer_that_nobody_uses() {
    let (_folder, store) = impatient();
    let writer = store.writer().unwrap();
    let other = store.clone();
    let asked = thread::spawn(move || {
        // The writer moved here, which nothing shows.
        let writer = writer;
        let asked = is_held(&other.writer()) && is_held(&other.insert_unless_duplicate("1", TEXT));
        drop(writer);
        asked
    });
    assert!(asked.join().unwrap());
    store.insert_unless_duplicate("one", TEXT).unwrap();
}

#[test]
fn a_writer_within_a_long_call_is_waited_for() {
    let (folder, store) = impatient();
    let source = Store::create(folder.path().join("source"), &Schema::default()).unwrap();
    source.insert_unless_duplicate("one", TEXT).unwrap();
    let (begin, begun) = mpsc::channel();
    thread::scope(|scope| {
        let other = &store;
        let waits = scope.spawn(move || {
            begun.recv().unwrap();
            other.writer().map(drop)
        });
        let slowly = Progress::observed(move |_| {
            begin.send(()).unwrap();
            thread::sleep(Duration::from_millis(200));
        });
        store.watched(&slowly).merge(&source, 1 << 20).unwrap();
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn a_rebuild_that_waits_for_a_writer_can_be_stopped() {
    let (_folder, store) = new_store();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    let mut writer = store.writer().unwrap();
    writer.remove("one").unwrap();
    writer.commit().unwrap();
    let mut calls = 0;
    let at_last = Progress::observed(move |progress| {
        calls += 1;
        if calls > 20 {
            progress.stop();
        }
    });
    let hasty = store.watched(&at_last);
    let stopped = thread::spawn(move || hasty.rebuild(Rebuild::compact()));
    let stopped = stopped.join().unwrap();
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    drop(writer);
    assert!(store.rebuild(Rebuild::compact()).unwrap());
}

#[test]
fn documents_keep_their_store_open() {
    let (folder, store) = new_store();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    let documents = store.documents().unwrap();
    drop(store);
    let other = Store::open(folder.path().join("store")).unwrap();
    other
        .insert_unless_duplicate("two", "of another handle")
        .unwrap();
    assert_eq!(documents.count(), 1);
    assert_eq!(other.documents().unwrap().count(), 2);
}

#[test]
fn what_is_to_be_read_only_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let made = Options::new()
        .read_only(true)
        .create(folder.path().join("store"), &Schema::default());
    assert!(matches!(made, Err(Error::ReadOnly)), "{made:?}");
    assert!(!folder.path().join("store").exists());
}

#[test]
fn a_thread_that_holds_the_writer_is_told_so_where_it_would_wait_for_itself() {
    let (folder, store) = new_store();
    let source = Store::create(folder.path().join("source"), &Schema::default()).unwrap();
    let writer = store.writer().unwrap();
    assert!(is_held(&store.writer()));
    assert!(is_held(&store.insert_unless_duplicate("one", TEXT)));
    assert!(is_held(&store.rebuild(Rebuild::compact())));
    assert!(is_held(&store.merge(&source, 1 << 20)));
    drop(writer);
    store.insert_unless_duplicate("one", TEXT).unwrap();
    assert!(store.rebuild(Rebuild::compact()).unwrap());
}

#[test]
fn the_thread_that_used_the_writer_last_holds_it() {
    let (_folder, store) = new_store();
    let mut writer = store.writer().unwrap();
    let (give, take) = mpsc::channel::<Writer>();
    let (tell, told) = mpsc::channel();
    let other = thread::spawn({
        let store = store.clone();
        move || {
            let mut writer = take.recv().unwrap();
            writer.add("one", TEXT).unwrap();
            tell.send(()).unwrap();
            let held = matches!(store.writer(), Err(Error::WriterHeld));
            writer.commit().unwrap();
            held
        }
    });
    writer.remove("none").unwrap();
    give.send(writer).unwrap();
    told.recv().unwrap();
    // This thread made the writer, but may wait for it now.
    assert!(store.writer().unwrap().remove("one").unwrap());
    assert!(other.join().unwrap());
}

#[test]
fn a_document_from_before_a_compaction_is_refused() {
    let (folder, store) = new_store();
    let mut writer = store.writer().unwrap();
    let texts = [
        "one day in spring",
        "two days in spring",
        "three days in spring",
    ];
    let inputs = texts.map(|text| Input::new(&text[..3], text));
    writer.add_all(inputs.to_vec()).unwrap();
    writer.commit().unwrap();
    let old = ["two", "thr"].map(|key| store.get(key).unwrap().unwrap());
    writer.remove("one").unwrap();
    writer.commit().unwrap();
    drop(writer);
    // The removal of a text changes no number, but a compaction does.
    assert_eq!(store.copies(&old[0]).unwrap(), ["two"]);
    store.rebuild(Rebuild::compact()).unwrap();
    let other = Store::create(folder.path().join("other"), &Schema::default()).unwrap();
    let error = other.shingles(&old[0]).unwrap_err().to_string();
    assert!(
        error.starts_with("\"two\": this document is from another store, or"),
        "{error}"
    );
    for old in &old {
        let is_old = |error| matches!(error, Error::OldDocument { key } if key == old.key);
        assert!(is_old(store.shingles(old).unwrap_err()));
        assert!(is_old(store.copies(old).unwrap_err()));
        let new = store.get(&old.key).unwrap().unwrap();
        assert_eq!(store.copies(&new).unwrap(), [old.key.as_str()]);
        assert_eq!(store.shingles(&new).unwrap().len(), old.shingles as usize);
    }
}

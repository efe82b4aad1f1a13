//! The child of a fork does nothing with the handles of its parent.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use dedupdb::{
    Error, Input, Options, Progress, Query, Schema, Store,
    find::Subject,
    groups::{ClusterQuery, PairQuery},
    upkeep::Rebuild,
};

const TEXT: &str = "it was the first of many long and cold nights in the old lighthouse";
const OTHER: &str = "nobody knows who painted the harbour crane in the colours of a parrot";

/// A child of this process.
struct Child(libc::pid_t);

impl Child {
    /// Waits for the child's end. Returns whether no assertion failed in it.
    #[expect(unsafe_code, reason = "only the system knows what became of a fork")]
    fn succeeds(&self) -> bool {
        let mut status = 0;
        // SAFETY: the status is written to a variable that exists.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        waited == self.0 && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

/// Forks this process. Returns `None` in the child, which must [`end`].
#[expect(unsafe_code, reason = "no safe call forks")]
fn fork() -> Option<Child> {
    // SAFETY: the child uses what its one thread owns, and the allocator, which the C library makes
    // usable in it.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "there is no other process to be had");
    (child > 0).then_some(Child(child))
}

/// Does the work of a child and ends it.
#[expect(
    unsafe_code,
    reason = "a child must not run what its parent runs at the end"
)]
fn end(work: impl FnOnce()) -> ! {
    let done = catch_unwind(AssertUnwindSafe(work));
    // SAFETY: nothing comes after it.
    unsafe { libc::_exit(i32::from(done.is_err())) }
}

fn is_other<T>(done: Result<T, Error>) -> bool {
    matches!(done.map(drop), Err(Error::OtherProcess))
}

#[test]
fn a_child_that_drops_what_it_inherited_leaves_the_parent_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    let reader = Options::new().read_only(true).open(&path).unwrap();
    let documents = store.documents().unwrap();
    let batch = store.sketch_all(vec![Input::new("three", "three days in spring")]);
    let mut writer = store.writer().unwrap();
    writer.add("two", OTHER).unwrap();
    let Some(child) = fork() else {
        end(|| {
            drop((writer, batch, documents, reader, store));
            assert!(path.join("holder").exists());
            let locked = Options::new().wait(Duration::ZERO).open(&path);
            assert!(matches!(locked, Err(Error::Locked { .. })), "{locked:?}");
        })
    };
    assert!(child.succeeds());
    assert!(path.join("holder").exists());
    writer.commit().unwrap();
    writer.add_batch(batch).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(store.query(&Query::text(OTHER)).unwrap()[0].key, "two");
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.documents().unwrap().count(), 3);
    drop((documents, reader, store));
    assert!(!path.join("holder").exists());
    assert!(Store::check(&path).unwrap().is_clean());
}

#[test]
fn every_call_of_a_child_on_an_inherited_handle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    let one = store.get("one").unwrap().unwrap();
    let reader = Options::new().read_only(true).open(&path).unwrap();
    let mut documents = reader.documents().unwrap();
    let mut writer = store.writer().unwrap();
    let Some(child) = fork() else {
        end(move || {
            assert!(is_other(store.query(&Query::text(TEXT))));
            assert!(is_other(store.get("one")));
            assert!(is_other(store.shingles(&one)));
            assert!(is_other(store.copies(&one)));
            assert!(is_other(store.documents()));
            assert!(is_other(store.pairs(PairQuery::new())));
            assert!(is_other(store.clusters(ClusterQuery::new())));
            assert!(is_other(
                store.explain(Subject::Key("one"), Subject::Text(TEXT))
            ));
            assert!(is_other(store.sample()));
            assert!(is_other(store.stats()));
            assert!(is_other(store.largest_buckets(3)));
            assert!(is_other(store.backup(path.join("../copy"))));
            assert!(is_other(store.rebuild(Rebuild::compact())));
            assert!(is_other(store.unfinished_rebuild()));
            assert!(is_other(store.cancel_rebuild()));
            assert!(is_other(store.insert_unless_duplicate("two", OTHER)));
            assert!(is_other(store.writer()));
            assert!(is_other(reader.refresh()));
            assert!(is_other(documents.next().unwrap()));
            assert!(documents.next().is_none());
            let batch = store.sketch_all(vec![Input::new("two", OTHER)]);
            assert!(is_other(writer.add_batch(batch)));
            assert!(is_other(writer.add("two", OTHER)));
            assert!(is_other(writer.remove("one")));
            assert!(is_other(writer.commit()));
        })
    };
    assert!(child.succeeds());
}

#[test]
fn a_rebuild_ends_in_a_child_and_goes_on_in_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    store.insert_unless_duplicate("two", OTHER).unwrap();
    let mut writer = store.writer().unwrap();
    writer.remove("one").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let at = path.clone();
    let files = move || {
        let entries = fs::read_dir(&at).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        let files = files.map(|file| (file.clone(), fs::read(file).unwrap()));
        files.collect::<BTreeMap<_, _>>()
    };
    let (is_child, forks) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    let (child_is, counted) = (is_child.clone(), forks.clone());
    let index = path.join("index.redb.next");
    let progress = Progress::observed(move |_| {
        counted.fetch_add(1, Relaxed);
        let before = files();
        assert!(before.contains_key(&index));
        match fork() {
            None => child_is.store(true, Relaxed),
            Some(child) => {
                assert!(child.succeeds());
                let after = files();
                assert!(after.keys().eq(before.keys()), "names");
                for (file, bytes) in &before {
                    assert!(after[file] == *bytes, "{}", file.display());
                }
            }
        }
    });
    let rebuilt = store.watched(&progress).rebuild(Rebuild::compact());
    if is_child.load(Relaxed) {
        end(|| assert!(is_other(rebuilt)));
    }
    assert!(rebuilt.unwrap());
    assert!(forks.load(Relaxed) > 1);
    assert_eq!(store.query(&Query::text(OTHER)).unwrap()[0].key, "two");
    drop(store);
    assert!(Store::check(&path).unwrap().is_clean());
}

//! A store whose folder is moved, replaced or deleted while it is open.
#![cfg(unix)]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use dedupdb::upkeep::Rebuild;
use dedupdb::{Error, Progress, Schema, Store};
use tempfile::tempdir;

const TEXT: &str = "seven swans were swimming on the lake when the snow began to fall at last";

/// All files of a folder with their bytes.
fn files(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn another_store_at_its_path_is_left_alone() {
    let folder = tempdir().unwrap();
    let (path, aside) = (folder.path().join("store"), folder.path().join("aside"));
    let old = Store::create(&path, &Schema::default()).unwrap();
    old.insert_unless_duplicate("old", TEXT).unwrap();
    old.insert_unless_duplicate(
        "gone",
        "nobody had told the ferryman that the bridge would open",
    )
    .unwrap();
    let mut writer = old.writer().unwrap();
    writer.remove("gone").unwrap();
    writer.commit().unwrap();
    drop(writer);
    fs::rename(&path, &aside).unwrap();
    let new = Store::create(&path, &Schema::default()).unwrap();
    new.insert_unless_duplicate("new", "an other text, of an other store")
        .unwrap();
    let before = files(&path);
    let wider = Schema::builder().permutations(256).build().unwrap();
    for rebuild in [Rebuild::compact(), Rebuild::reindex(wider)] {
        let error = old.rebuild(rebuild).unwrap_err();
        assert!(matches!(error, Error::Moved { .. }), "{error}");
    }
    assert!(matches!(old.cancel_rebuild(), Err(Error::Moved { .. })));
    let error = old.insert_unless_duplicate("late", "it came after its store had gone elsewhere");
    assert!(matches!(error, Err(Error::Moved { .. })));
    assert!(files(&path) == before, "the other store was written to");
    assert!(new.get("new").unwrap().is_some());
    drop(old);
    let moved = Store::open(&aside).unwrap();
    assert!(moved.get("old").unwrap().is_some());
    assert!(moved.get("late").unwrap().is_none());
    assert!(moved.rebuild(Rebuild::compact()).unwrap());
}

#[test]
fn what_cannot_be_kept_is_not_acknowledged() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    fs::remove_dir_all(&path).unwrap();
    let inserted = store.insert_unless_duplicate("one", TEXT);
    assert!(matches!(inserted, Err(Error::Moved { .. })));
    let mut writer = store.writer().unwrap();
    assert!(matches!(writer.add("two", TEXT), Err(Error::Moved { .. })));
}

#[test]
fn a_rebuild_in_a_rebuild_is_refused() {
    let folder = tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    let wider = Schema::builder().permutations(256).build().unwrap();
    let inner = store.clone();
    let refused = Arc::new(AtomicU32::new(0));
    let counted = refused.clone();
    let progress = Progress::observed(move |_| {
        assert!(matches!(
            inner.rebuild(Rebuild::compact()),
            Err(Error::WriterHeld)
        ));
        assert!(matches!(inner.cancel_rebuild(), Err(Error::WriterHeld)));
        counted.fetch_add(1, Relaxed);
    });
    let watched = store.watched(&progress);
    assert!(watched.rebuild(Rebuild::reindex(wider)).unwrap());
    assert!(refused.load(Relaxed) > 0);
}

#[test]
fn a_copy_of_the_store_at_its_path_is_another_store() {
    let folder = tempdir().unwrap();
    let (path, copy) = (folder.path().join("store"), folder.path().join("copy"));
    let store = Store::create(&path, &Schema::default()).unwrap();
    store.insert_unless_duplicate("one", TEXT).unwrap();
    store.backup(&copy).unwrap();
    fs::rename(&path, folder.path().join("aside")).unwrap();
    fs::rename(&copy, &path).unwrap();
    let before = files(&path);
    let inserted = store.insert_unless_duplicate("two", "other words for the copy");
    assert!(matches!(inserted, Err(Error::Moved { .. })));
    assert!(files(&path) == before, "the copy was written to");
}

//! Processes that end in the middle of something.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use dedupdb::{Input, Query, Schema, Store};

use crate::numbered;

fn text(number: usize) -> String {
    numbered::text(number, 60)
}

fn add(store: &Store, numbers: std::ops::Range<usize>) {
    numbered::add(store, numbers, 60);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn assert_holds(path: &Path, documents: usize) {
    let report = Store::check(path).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    let store = Store::open(path).unwrap();
    assert_eq!(store.documents().unwrap().count(), documents);
    for number in (0..documents).step_by(documents / 20 + 1) {
        let found = store.query(&Query::text(&text(number))).unwrap();
        assert_eq!(found.len(), 1, "{number}");
    }
    assert_eq!(store.query(&Query::text(&text(documents))).unwrap(), []);
}

/// While a writer has appended rows without committing them, the folder is in the state that a killed process leaves.
#[test]
fn rows_that_were_never_committed_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (live, left) = (folder.path().join("live"), folder.path().join("left"));
    let store = Store::create(&live, &Schema::default()).unwrap();
    for (round, documents) in [40, 1200, 2600].into_iter().enumerate() {
        let start = store.documents().unwrap().count();
        add(&store, start..documents);
        let mut writer = store.writer().unwrap();
        let inputs = (documents..documents + 3000).map(|n| Input::new(format!("{n:05}"), text(n)));
        writer.add_all(inputs.collect()).unwrap();
        copy(&live, &left);
        assert_holds(&left, documents);
        // A store that was left so continues where it was.
        let again = Store::open(&left).unwrap();
        add(&again, documents..documents + 50);
        drop(again);
        assert_holds(&left, documents + 50);
        drop(writer);
        assert_eq!(store.documents().unwrap().count(), documents, "{round}");
    }
}

#[test]
fn a_reader_can_be_the_first_to_open_what_a_killed_process_left() {
    let folder = tempfile::tempdir().unwrap();
    let (live, left) = (folder.path().join("live"), folder.path().join("left"));
    let store = Store::create(&live, &Schema::default()).unwrap();
    add(&store, 0..30);
    copy(&live, &left);
    let reader = dedupdb::Options::new().read_only(true).open(&left).unwrap();
    assert_eq!(reader.documents().unwrap().count(), 30);
}

#[test]
fn bytes_past_the_committed_length_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    add(&store, 0..30);
    drop(store);
    for column in ["contents.1", "shingles.1", "signatures.1"] {
        let mut file = OpenOptions::new()
            .append(true)
            .open(folder.path().join(column))
            .unwrap();
        file.write_all(&[0xa5; 5000]).unwrap();
    }
    assert_holds(folder.path(), 30);
}

/// A process that is killed while it makes a store leaves no store; making it again succeeds.
#[test]
fn a_store_that_was_never_finished_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("contents.1"), b"dedupdb\n half a header").unwrap();
    fs::write(folder.path().join("index.redb.new"), [0; 50]).unwrap();
    assert!(matches!(
        Store::open(folder.path()),
        Err(dedupdb::Error::NotAStore { .. })
    ));
    let store = Store::open_or_create(folder.path(), &Schema::default()).unwrap();
    add(&store, 0..10);
    drop(store);
    assert_holds(folder.path(), 10);
}

#[test]
fn a_new_store_overwrites_no_file_of_someone_else() {
    for name in ["contents.1", "signatures.1", "index.redb.new"] {
        let folder = tempfile::tempdir().unwrap();
        let thesis = folder.path().join(name);
        fs::write(&thesis, b"Chapter one").unwrap();
        let refused = Store::create(folder.path(), &Schema::default()).map(drop);
        assert!(matches!(
            refused,
            Err(dedupdb::Error::Occupied { path }) if path == thesis
        ));
        assert_eq!(fs::read(&thesis).unwrap(), b"Chapter one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
    }
}

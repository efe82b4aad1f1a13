//! Damaged files are named, never a panic or a wrong answer.

use std::fs;
use std::path::Path;

use dedupdb::{Error, Input, Options, Query, Rebuild, Schema, Store};

use crate::numbered;

const COLUMNS: [&str; 3] = ["contents.1", "shingles.1", "signatures.1"];

fn text(number: usize) -> String {
    numbered::text(number, 20)
}

fn make(path: &Path, documents: usize) {
    let schema = Schema::builder()
        .permutations(16)
        .bands(4, 4)
        .build()
        .unwrap();
    let store = Store::create(path, &schema).unwrap();
    numbered::add(&store, 0..documents, 20);
}

/// Opens, queries and checks; says whether any of them named a problem.
fn is_noticed(path: &Path) -> bool {
    if let Ok(store) = Store::open(path) {
        for number in 0..5 {
            // Before a check, an answer may be missing or an error, but not a wrong one.
            if let Ok(found) = store.query(&Query::text(&text(number))) {
                assert!(found.len() <= 1);
            }
        }
    }
    match Store::check(path) {
        Ok(report) => !report.is_clean(),
        Err(
            Error::Damaged { .. }
            | Error::NewerFormat { .. }
            | Error::OlderFormat { .. }
            | Error::Io { .. },
        ) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_flipped_bit_of_a_column_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 12);
    assert!(!is_noticed(folder.path()));
    for column in COLUMNS {
        let path = folder.path().join(column);
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).unwrap();
            assert!(is_noticed(folder.path()), "{column}, byte {at}");
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(!is_noticed(folder.path()));
}

#[test]
fn a_column_cut_short_or_gone_is_named() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 12);
    for column in COLUMNS {
        let path = folder.path().join(column);
        let bytes = fs::read(&path).unwrap();
        for len in [0, 10, 63, 64, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..len]).unwrap();
            match Store::open(folder.path()) {
                Err(Error::Damaged { path: named, .. }) => assert_eq!(named, path),
                other => panic!("{column} of {len} bytes: {other:?}"),
            }
        }
        fs::remove_file(&path).unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Error::Io { .. })));
        fs::write(&path, &bytes).unwrap();
    }
    assert!(Store::open(folder.path()).is_ok());
}

#[test]
fn a_column_of_another_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    make(&one, 12);
    make(&other, 12);
    for column in COLUMNS {
        let mine = fs::read(one.join(column)).unwrap();
        fs::copy(other.join(column), one.join(column)).unwrap();
        assert!(matches!(Store::open(&one), Err(Error::Damaged { .. })));
        fs::write(one.join(column), mine).unwrap();
    }
    assert!(Store::open(&one).is_ok());
}

/// The answers about the first texts.
fn answers(path: &Path) -> Vec<Vec<String>> {
    let store = Store::open(path).unwrap();
    let keys = |number| {
        let found = store.query(&Query::text(&text(number))).unwrap();
        found.into_iter().map(|found| found.key).collect()
    };
    (0..40).map(keys).collect()
}

#[test]
fn a_filter_that_is_gone_or_no_filter_is_not_missed_and_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    // As many as are merged into tables.
    make(folder.path(), 1100);
    let expected = answers(folder.path());
    let filter = folder.path().join("filter.1.1");
    let whole = fs::read(&filter).unwrap();
    let mut foreign = whole.clone();
    foreign[9] ^= 1;
    for bytes in [&[][..], b"no filter", &whole[..100], &foreign] {
        fs::write(&filter, bytes).unwrap();
        assert_eq!(answers(folder.path()), expected);
        assert!(!is_noticed(folder.path()));
    }
    fs::remove_file(&filter).unwrap();
    assert_eq!(answers(folder.path()), expected);
    let store = Store::open(folder.path()).unwrap();
    let mut writer = store.writer().unwrap();
    let more = (2000..3100).map(|n| Input::new(format!("{n:05}"), text(n)));
    writer.add_all(more.collect()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    drop(store);
    assert!(folder.path().join("filter.1.2").exists());
    assert_eq!(answers(folder.path()), expected);
    assert!(!is_noticed(folder.path()));
}

#[test]
fn a_filter_that_lost_a_bit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 1100);
    let filter = folder.path().join("filter.1.1");
    let mut bytes = fs::read(&filter).unwrap();
    let at = (48..bytes.len()).find(|&at| bytes[at] != 0).unwrap();
    bytes[at] &= bytes[at] - 1;
    fs::write(&filter, &bytes).unwrap();
    assert!(is_noticed(folder.path()));
}

#[test]
fn an_index_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 3);
    let index = folder.path().join("index.redb");
    fs::write(&index, b"this is not an index").unwrap();
    assert!(Store::open(folder.path()).is_err());
    fs::remove_file(&index).unwrap();
    assert!(matches!(
        Store::open(folder.path()),
        Err(Error::NotAStore { .. })
    ));
}

/// A column is never mapped beyond its end, wherever that is.
#[test]
fn a_column_of_any_length_is_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 12);
    for column in COLUMNS {
        let path = folder.path().join(column);
        let bytes = fs::read(&path).unwrap();
        for len in (0..bytes.len()).step_by(5) {
            fs::write(&path, &bytes[..len]).unwrap();
            for read_only in [false, true] {
                let opened = Options::new().read_only(read_only).open(folder.path());
                let named =
                    matches!(opened, Err(Error::Damaged { path: named, .. }) if named == path);
                assert!(named, "{column} of {len} bytes");
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(!is_noticed(folder.path()));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Files of the same store at another time, and of another store.
#[test]
fn a_file_of_another_time_or_store_is_named_or_gives_that_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("store"), 1100);
    copy(&path("store"), &path("before"));
    let store = Store::open(path("store")).unwrap();
    numbered::add(&store, 1100..1150, 20);
    drop(store);
    copy(&path("store"), &path("after"));
    let store = Store::open(path("store")).unwrap();
    store.rebuild(Rebuild::compact()).unwrap();
    drop(store);
    make(&path("other"), 1100);
    // An index of another generation or store names files that are not there, or not its own.
    for other in ["before", "other"] {
        copy(&path("store"), &path("mixed"));
        fs::copy(path(other).join("index.redb"), path("mixed/index.redb")).unwrap();
        assert!(Store::open(path("mixed")).is_err(), "{other}");
        fs::remove_dir_all(path("mixed")).unwrap();
    }
    // One of an earlier commit is that commit: later rows do not exist for it.
    copy(&path("after"), &path("mixed"));
    fs::copy(path("before/index.redb"), path("mixed/index.redb")).unwrap();
    assert!(!is_noticed(&path("mixed")));
    assert_eq!(answers(&path("mixed")), answers(&path("before")));
    // Columns of an earlier commit are too short, those of another generation are not its own.
    for column in COLUMNS {
        for (into, from) in [("after", "before"), ("store", "after")] {
            let name = column.replace('1', if into == "store" { "2" } else { "1" });
            let target = path(into).join(name);
            let own = fs::read(&target).unwrap();
            fs::copy(path(from).join(column), &target).unwrap();
            let opened = Store::open(path(into));
            assert!(
                matches!(opened, Err(Error::Damaged { .. })),
                "{column} of {from}"
            );
            fs::write(&target, own).unwrap();
        }
    }
    assert!(!is_noticed(&path("after")) && !is_noticed(&path("store")));
}

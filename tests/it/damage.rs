//! Damage gives an error that names the file, never a panic or a wrong answer.

use std::fs;
use std::path::Path;

use dedupdb::{Error, Input, Match, Options, Query, Schema, Store, upkeep::Rebuild};

use crate::numbered;

/// The size of a column's header, in bytes.
const HEADER: usize = 64;

/// The number of bytes of a filter before its bits.
const FILTER_HEAD: usize = 56;

/// The number of bytes that a checksum covers.
const BLOCK: usize = 64 << 10;

const COLUMNS: [&str; 4] = ["contents.1", "shingles.1", "signatures.1", "fingerprints.1"];

fn text(number: usize) -> String {
    numbered::text(number, 80)
}

fn make(path: &Path, documents: usize) {
    let schema = Schema::builder()
        .permutations(16)
        .bands(4, 4)
        .build()
        .unwrap();
    let store = Store::create(path, &schema).unwrap();
    numbered::add(&store, 0..documents, 80);
}

/// The matches of a near-copy of a document, and the hash of its text.
type Answer = (Vec<Match>, [u8; 32]);

/// Queries for a document.
fn ask_one(store: &Store, number: usize) -> Result<Answer, Error> {
    let near = format!("{} more", text(number));
    let found = store.query(&Query::text(&near))?;
    let document = store.get(&format!("{number:05}"))?;
    Ok((found, document.unwrap().hash))
}

/// The answers of the store in a folder about its documents.
fn all_answers(path: &Path, documents: usize) -> Vec<Answer> {
    let store = Store::open(path).unwrap();
    (0..documents)
        .map(|number| ask_one(&store, number).unwrap())
        .collect()
}

/// Queries for each of the documents. Each answer must be right, or an error that names a file. Returns the number of
/// right answers and of errors.
fn ask(path: &Path, expected: &[Answer], read_only: bool) -> (usize, usize) {
    let opened = Options::new().read_only(read_only).open(path);
    let (mut right, mut errors) = (0, 0);
    for (number, expected) in expected.iter().enumerate() {
        match opened
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|store| ask_one(store, number))
        {
            Ok(answer) => {
                assert_eq!(answer, *expected, "document {number}");
                right += 1;
            }
            Err(Error::Damaged { .. } | Error::NewerFormat { .. } | Error::Io { .. }) => {
                errors += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    (right, errors)
}

/// Opens, queries and checks a store. Returns whether any of these reported a problem.
fn is_noticed(path: &Path) -> bool {
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
    make(folder.path(), 6);
    let expected = all_answers(folder.path(), 6);
    assert!(!is_noticed(folder.path()));
    for column in COLUMNS {
        let path = folder.path().join(column);
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).unwrap();
            for read_only in [false, true] {
                let (_, errors) = ask(folder.path(), &expected, read_only);
                assert!(errors > 0, "{column}, byte {at}");
            }
            assert!(is_noticed(folder.path()), "{column}, byte {at}");
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(!is_noticed(folder.path()));
}

/// The first reader of a damaged block finds the damage. Readers of the other blocks are not affected.
#[test]
fn a_damaged_block_is_named_when_it_is_first_read() {
    let folder = tempfile::tempdir().unwrap();
    let documents = 6000;
    make(folder.path(), documents);
    let expected = all_answers(folder.path(), documents);
    let found = expected.iter().filter(|(found, _)| !found.is_empty());
    assert!(found.count() > documents / 2);
    // The fingerprints of so few documents are in one block.
    for column in &COLUMNS[..3] {
        let path = folder.path().join(column);
        let bytes = fs::read(&path).unwrap();
        assert!(
            bytes.len() > 2 * BLOCK,
            "{column} has {} bytes",
            bytes.len()
        );
        // In the middle, and across the border of two blocks.
        for at in [BLOCK / 2, BLOCK - 8] {
            let mut damaged = bytes.clone();
            damaged[HEADER + at..HEADER + at + 16].fill(0);
            fs::write(&path, &damaged).unwrap();
            for read_only in [true, false] {
                let (right, errors) = ask(folder.path(), &expected, read_only);
                assert!(
                    right > 0 && errors > 0,
                    "{column}: {right} right, {errors} errors"
                );
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(ask(folder.path(), &expected, false), (documents, 0));
}

/// Otherwise, the new checksum would make the damage look right.
#[test]
fn nothing_is_added_to_a_damaged_block() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 12);
    for column in COLUMNS {
        let path = folder.path().join(column);
        let bytes = fs::read(&path).unwrap();
        let mut damaged = bytes.clone();
        damaged[HEADER + 1] ^= 1;
        fs::write(&path, &damaged).unwrap();
        match Store::open(folder.path()) {
            Err(Error::Damaged { path: named, .. }) => assert_eq!(named, path),
            other => panic!("{column}: {other:?}"),
        }
        let report = Store::check(folder.path()).unwrap();
        assert_eq!(report.problems.len(), 1, "{report:?}");
        assert_eq!(report.problems[0].file, path);
        fs::write(&path, &bytes).unwrap();
    }
}

/// Verified data stays verified from commit to commit, but the last block is looked at again.
#[test]
fn a_reader_that_follows_a_writer_sees_damage_to_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 100);
    let writer = Store::open(folder.path()).unwrap();
    let reader = Options::new().read_only(true).open(folder.path()).unwrap();
    let has = |number| {
        let found = reader.query(&Query::text(&text(number)));
        found.map(|found| found.len() == 1)
    };
    assert!(has(5).unwrap());
    numbered::add(&writer, 100..150, 80);
    assert!(reader.refresh().unwrap());
    assert!(has(5).unwrap() && has(149).unwrap());
    numbered::add(&writer, 150..200, 80);
    let path = folder.path().join("contents.1");
    let at = HEADER + 52 * 170;
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(matches!(reader.refresh(), Err(Error::Damaged { path: named, .. }) if named == path));
    assert!(has(5).unwrap() && has(149).unwrap());
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

/// The answers about the first 40 texts.
fn answers(path: &Path) -> Vec<Vec<String>> {
    let store = Store::open(path).unwrap();
    let keys = |number| {
        let found = store.query(&Query::text(&text(number))).unwrap();
        found.into_iter().map(|found| found.key).collect()
    };
    (0..40).map(keys).collect()
}

/// Adds texts from a number on, enough for a merge into tables.
fn grow(path: &Path, first: usize) {
    let store = Store::open(path).unwrap();
    let mut writer = store.writer().unwrap();
    let more = (first..first + 1100).map(|n| Input::new(format!("{n:05}"), text(n)));
    writer.add_all(more.collect()).unwrap();
    writer.commit().unwrap();
}

#[test]
fn a_filter_that_is_gone_or_no_filter_is_not_missed_and_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    // Enough for a merge into tables.
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
    grow(folder.path(), 2000);
    assert!(folder.path().join("filter.1.2").exists());
    assert_eq!(answers(folder.path()), expected);
    assert!(!is_noticed(folder.path()));
}

#[test]
fn a_damaged_filter_is_named_and_answers_stay() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 1100);
    let expected = answers(folder.path());
    let filter = folder.path().join("filter.1.1");
    let whole = fs::read(&filter).unwrap();
    for value in [0, 0xFF] {
        let mut damaged = whole.clone();
        damaged[FILTER_HEAD..].fill(value);
        fs::write(&filter, &damaged).unwrap();
        assert_eq!(answers(folder.path()), expected, "{value}");
        let report = Store::check(folder.path()).unwrap();
        assert_eq!(report.problems.len(), 1, "{report:?}");
        assert_eq!(report.problems[0].file, filter);
    }
}

#[test]
fn the_filter_of_a_copy_that_went_its_own_way_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    make(&one, 1100);
    fs::create_dir(&other).unwrap();
    for entry in fs::read_dir(&one).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
    }
    grow(&one, 2000);
    grow(&other, 4000);
    let expected = answers(&one);
    assert!(!is_noticed(&one));
    // With the same name and the same size.
    fs::copy(other.join("filter.1.1"), one.join("filter.1.1")).unwrap();
    let store = Store::open(&one).unwrap();
    for number in 2000..3100 {
        let found = store.query(&Query::text(&text(number))).unwrap();
        assert_eq!(found[0].key, format!("{number:05}"));
    }
    drop(store);
    assert_eq!(answers(&one), expected);
    assert!(!is_noticed(&one));
}

#[test]
fn a_merge_replaces_a_filter_that_is_damaged_or_cut() {
    for cut in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), 1100);
        let filter = folder.path().join("filter.1.1");
        let mut bytes = fs::read(&filter).unwrap();
        if cut {
            bytes.truncate(10);
        } else {
            bytes[FILTER_HEAD..].fill(0);
        }
        fs::write(&filter, &bytes).unwrap();
        grow(folder.path(), 2000);
        drop(Store::open(folder.path()).unwrap());
        assert!(!filter.exists(), "{cut}");
        assert!(folder.path().join("filter.1.2").exists(), "{cut}");
        assert!(!is_noticed(folder.path()), "{cut}");
    }
}

#[test]
fn a_filter_that_lost_a_bit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), 1100);
    let filter = folder.path().join("filter.1.1");
    let mut bytes = fs::read(&filter).unwrap();
    let at = (FILTER_HEAD..bytes.len())
        .find(|&at| bytes[at] != 0)
        .unwrap();
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

/// Files of the same store at another time, and files of another store.
#[test]
fn a_file_of_another_time_or_store_is_named_or_gives_that_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("store"), 1100);
    copy(&path("store"), &path("before"));
    let store = Store::open(path("store")).unwrap();
    numbered::add(&store, 1100..1150, 80);
    drop(store);
    copy(&path("store"), &path("after"));
    let store = Store::open(path("store")).unwrap();
    store.rebuild(Rebuild::compact()).unwrap();
    drop(store);
    make(&path("other"), 1100);
    // An index of another generation or store names files that do not exist, or that are not its own.
    for other in ["before", "other"] {
        copy(&path("store"), &path("mixed"));
        fs::copy(path(other).join("index.redb"), path("mixed/index.redb")).unwrap();
        assert!(Store::open(path("mixed")).is_err(), "{other}");
        fs::remove_dir_all(path("mixed")).unwrap();
    }
    // An index of an earlier commit gives that commit: later rows do not exist for it.
    copy(&path("after"), &path("mixed"));
    fs::copy(path("before/index.redb"), path("mixed/index.redb")).unwrap();
    assert!(!is_noticed(&path("mixed")));
    assert_eq!(answers(&path("mixed")), answers(&path("before")));
    // Columns of an earlier commit are too short. Those of another generation do not belong to the index.
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

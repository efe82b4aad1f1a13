//! Work on each document of a corpus, and temporary stores.

use std::fs;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use dedupdb::{Progress, Query, Schema, Store};
use dedupdb_corpus::{
    EachEvent, EndReason, Error, ForEach, ForEachSummary, Options, Reason, Source, TemporaryStore,
};

use crate::numbered;

/// A file of `count` lines. Every tenth one is not a record.
fn records(folder: &Path, count: usize) -> std::path::PathBuf {
    let line = |number: usize| match number % 10 {
        9 => "no JSON\n".to_owned(),
        _ => format!(
            "{{\"id\": \"{number}\", \"text\": \"{}\"}}\n",
            numbered::text(number, 40)
        ),
    };
    let path = folder.join("in.jsonl");
    fs::write(&path, (0..count).map(line).collect::<String>()).unwrap();
    path
}

/// What was worked on and what was left out, as the observer saw it, until it had `most` of them.
fn run(each: ForEach, most: usize) -> (Vec<String>, ForEachSummary) {
    let mut met = Vec::new();
    let progress = Progress::new();
    if most == 0 {
        progress.stop();
    }
    let worked = each.progress(&progress).run(
        |document| {
            let text = document.text();
            if text.is_empty() {
                let reason = "nothing".to_owned();
                return Err(dedupdb::Error::InvalidText { reason });
            }
            Ok(text.len())
        },
        |event| {
            match event {
                EachEvent::Document(origin, _) => met.push(origin.key),
                EachEvent::Skipped(skipped) => met.push(format!("-{}", skipped.place)),
                _ => {}
            }
            if met.len() >= most {
                progress.stop();
            }
        },
    );
    (met, worked.unwrap())
}

#[test]
fn results_and_what_is_left_out_come_in_the_order_of_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), 3000);
    let (met, worked) = run(ForEach::new([&path]), usize::MAX);
    let expected = |number: usize| match number % 10 {
        9 => format!("-{}:{}", path.display(), number + 1),
        _ => number.to_string(),
    };
    assert_eq!(met, (0..3000).map(expected).collect::<Vec<_>>());
    assert_eq!((worked.documents, worked.ended), (2700, EndReason::All));
    assert_eq!(worked.reading.by_reason()[&Reason::BadRecord], 300);
}

#[test]
fn nothing_comes_after_a_stop_or_a_first_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), 100);
    let (met, worked) = run(ForEach::new([&path]), 3);
    assert_eq!((met.len(), worked.ended), (3, EndReason::Stopped));
    let (met, worked) = run(ForEach::new([&path]), 0);
    assert_eq!((met.len(), worked.documents), (0, 0));

    let strict = || ForEach::new([&path]).reading(Options::new().strict(true));
    let (met, worked) = run(strict(), usize::MAX);
    assert_eq!(
        (met.len(), worked.documents, worked.ended),
        (10, 9, EndReason::All)
    );
    // A document that the work refuses is a failure, as is one that cannot be read.
    fs::write(
        &path,
        "{\"id\": 1, \"text\": \"\"}\n{\"id\": 2, \"text\": \"a\"}\n",
    )
    .unwrap();
    let (met, worked) = run(strict(), usize::MAX);
    assert_eq!((met.len(), worked.documents), (1, 0));
    assert_eq!(worked.reading.by_reason()[&Reason::BadText], 1);
    let (met, worked) = run(ForEach::new([&path]), usize::MAX);
    assert_eq!((met.len(), worked.documents), (2, 1));
}

#[test]
fn an_error_of_the_work_is_the_end_and_a_panic_the_callers_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), 100);
    let go_on = |_: EachEvent<'_, ()>| {};
    let failed = ForEach::new([&path]).run(|_| Err(dedupdb::Error::Full), go_on);
    assert!(matches!(failed, Err(Error::Store { .. })), "{failed:?}");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        ForEach::new([&path]).run(|_| panic!("the caller's own"), go_on)
    }));
    assert!(panicked.is_err());
}

/// A stream whose reading panics.
struct Panics;

impl Read for Panics {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("the reader's own")
    }
}

#[test]
fn a_stream_that_panics_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), 9);
    let sources = [Source::stream("panics.jsonl", Panics), Source::path(&path)];
    let (met, worked) = run(ForEach::new(sources), usize::MAX);
    assert_eq!((met.len(), worked.documents), (10, 9));
    assert!(met[0].starts_with("-panics.jsonl"), "{met:?}");
}

#[test]
fn a_temporary_store_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("store");
    let store = Store::create(&stored, &Schema::default()).unwrap();
    numbered::add(&store, 0..20, 30);
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let (options, text) = (dedupdb::Options::new(), numbered::text(7, 30));
    let like = |store: &Store| store.query(&Query::text(&text)).unwrap().len();
    // The store is open for writing meanwhile.
    let copy = TemporaryStore::copy(&options, &place, &stored).unwrap();
    assert_eq!((like(&store), like(&copy)), (1, 1));
    copy.insert_unless_duplicate("only here", "seven swans were swimming on the lake")
        .unwrap();
    assert_eq!(store.stats().unwrap().documents, 20);
    drop(copy);
    let empty = TemporaryStore::create(&options, &place, &Schema::default()).unwrap();
    assert_eq!(like(&empty), 0);
    drop(empty);
    let missing = TemporaryStore::copy(&options, &place, &folder.path().join("none"));
    assert!(matches!(missing, Err(dedupdb::Error::NotAStore { .. })));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn the_text_of_a_document_is_read_again_while_it_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "The night tram runs again.").unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    let document = Options::new().document(&path).unwrap();
    let key = document.key.clone();
    writer.add_all(vec![document.into()]).unwrap();
    writer.add("no file", "a text").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let read = |key: &str| {
        let document = store.get(key).unwrap().unwrap();
        let text = Options::new().text_of(&document);
        text.map_err(|skipped| skipped.detail)
    };
    assert_eq!(read(&key).unwrap(), "The night tram runs again.");
    assert_eq!(read("no file").unwrap_err(), "its key names no file here");
    fs::write(&path, "Another one.").unwrap();
    assert!(read(&key).unwrap_err().contains("another text now"));

    let records = records(folder.path(), 2);
    let several = Options::new().document(&records).unwrap_err();
    assert!(
        several
            .to_string()
            .contains("it holds several documents; name one file")
    );
    fs::write(&records, "").unwrap();
    let none = Options::new().document(&records).unwrap_err();
    assert!(none.to_string().ends_with("it holds no document"));
}

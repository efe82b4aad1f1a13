//! Adding a corpus from a program.

use std::fs;
use std::path::Path;

use dedupdb::{Progress, Schema, Store};
use dedupdb_corpus::{Add, AddEvent, AddSummary, EndReason, Hint, Options};
use tempfile::TempDir;

use crate::numbered;

/// `documents` lines with documents of `words` words, of which every ten in a row are copies, and one invalid line.
fn corpus(documents: usize, words: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: usize| {
        let text = numbered::text(id / 10, words);
        format!("{{\"id\": {id}, \"text\": \"{text}\"}}\n")
    };
    let lines: String = (0..documents).map(line).collect();
    let lines = lines + "{\"id\": \"x\", \"body\": \"y\"}\n";
    fs::write(folder.path().join("lines.jsonl"), lines).unwrap();
    folder
}

fn store(folder: &Path) -> Store {
    Store::open_or_create(folder.join("store"), &Schema::default()).unwrap()
}

fn add(folder: &Path) -> Add {
    Add::new([folder.join("lines.jsonl")])
}

fn counts(added: &AddSummary) -> [u64; 6] {
    let kept = [added.added, added.unchanged, added.kept_out];
    let alike = [added.exact_copies, added.near_duplicates];
    let [first, second, third] = kept;
    [first, second, third, alike[0], alike[1], added.documents()]
}

fn goes_on(_: AddEvent<'_>) {}

#[test]
fn what_became_of_each_document_is_counted_and_told() {
    let folder = corpus(30, 20);
    let folder = folder.path();
    let store = store(folder);
    let (mut alike, mut skipped) = (Vec::new(), Vec::new());
    let added = add(folder).evidence(true).run(&store, |event| match event {
        AddEvent::Like { key, earlier, .. } => {
            alike.push((key.to_owned(), earlier.key.clone()));
        }
        AddEvent::Skipped(one) => skipped.push(one.clone()),
        _ => {}
    });
    let added = added.unwrap();
    assert_eq!(counts(&added), [30, 0, 0, 27, 0, 31]);
    assert_eq!(added.ended, EndReason::All);
    assert_eq!(alike.len(), 27);
    assert_eq!(alike[26], ("29".to_owned(), "20".to_owned()));
    assert_eq!(skipped[0].hint, Some(Hint::TextField));
    assert!(skipped[0].place.ends_with("lines.jsonl:31"));
    let said = skipped[0].told(|_| ", said I");
    assert!(
        said.ends_with("no field \"text\"; it has \"id\", \"body\", said I"),
        "{said}"
    );
    let again = add(folder).run(&store, goes_on).unwrap();
    assert_eq!(counts(&again), [0, 30, 0, 0, 0, 31]);
}

#[test]
fn an_add_that_is_stopped_reports_all_that_it_stored() {
    for stops in [
        (|event| matches!(event, AddEvent::Stored { .. })) as fn(&AddEvent<'_>) -> bool,
        |event| matches!(event, AddEvent::Like { .. }),
        |event| matches!(event, AddEvent::Skipped(_)),
    ] {
        let folder = corpus(30, 20);
        let folder = folder.path();
        let store = store(folder);
        let (mut stored, mut alike) = (0, 0);
        let mut observe = |event: AddEvent<'_>| {
            stored += u64::from(matches!(event, AddEvent::Stored { .. }));
            alike += u64::from(matches!(event, AddEvent::Like { .. }));
        };
        let add = || add(folder).evidence(true);
        let progress = Progress::new();
        let first = add().run(&store.watched(&progress), |event| {
            observe(event);
            if stops(&event) {
                progress.stop();
            }
        });
        let first = first.unwrap();
        assert_eq!(first.ended, EndReason::Stopped);
        assert_eq!(first.added, store.stats().unwrap().documents);
        let read: u64 = first.reading.by_encoding().values().sum();
        assert_eq!(read, first.added);
        let rest = add().run(&store, observe).unwrap();
        assert_eq!(first.added + rest.added, 30);
        assert_eq!((stored, alike), (30 + rest.unchanged, 27));
    }
}

#[test]
fn copies_are_kept_out_and_a_pretended_add_stores_nothing() {
    let folder = corpus(30, 20);
    let folder = folder.path();
    let store = store(folder);
    let pretended = add(folder).unique(true).pretend(true).run(&store, goes_on);
    let kept = [3, 0, 27, 27, 0, 31];
    assert_eq!(counts(&pretended.unwrap()), kept);
    assert_eq!(store.stats().unwrap().documents, 0);
    let added = add(folder).unique(true).run(&store, goes_on).unwrap();
    assert_eq!(counts(&added), kept);
    assert_eq!(store.stats().unwrap().documents, 3);
}

#[test]
fn what_was_added_before_a_stop_is_committed() {
    let folder = corpus(8000, 200);
    let folder = folder.path();
    let store = store(folder);
    let options = Options::new().store(store.folder());
    let progress = Progress::observed(|progress| {
        if progress.documents() > 0 {
            progress.stop();
        }
    });
    let stopped = add(folder)
        .reading(options)
        .run(&store.watched(&progress), goes_on);
    let stopped = stopped.unwrap();
    assert_eq!(stopped.ended, EndReason::Stopped);
    let documents = store.stats().unwrap().documents;
    assert!(0 < documents && documents < 8000, "{documents}");
    assert_eq!(stopped.added, documents);
    let rest = add(folder).run(&store, goes_on).unwrap();
    assert_eq!((rest.unchanged, rest.added), (documents, 8000 - documents));
}

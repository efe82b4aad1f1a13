//! Interrupted runs, and what other calls do with their documents.

use std::collections::BTreeMap;

use dedupdb::{Input, Query, Schema, Store, upkeep::Rebuild, write::Change};

fn text(subject: u32) -> String {
    let words: Vec<String> = (0..30).map(|word| format!("w{subject}x{word}")).collect();
    words.join(" ")
}

fn inputs(subjects: std::ops::Range<u32>) -> Vec<Input> {
    let input = |subject| Input::new(format!("k{subject}"), text(subject));
    subjects.map(input).collect()
}

/// Begins a run and commits what it admits. Returns how many documents were forgotten and admitted.
fn run(store: &Store, subjects: std::ops::Range<u32>, publishes: bool) -> (u64, usize) {
    let mut writer = store.writer().unwrap();
    let forgotten = writer.begin_run().unwrap();
    let admissions = writer.admit_batch(store.sketch_all(inputs(subjects)));
    let admissions = admissions.unwrap().into_iter().map(Result::unwrap);
    let new = admissions.filter(|admission| admission.change == Change::Added);
    let new = new.count();
    if publishes {
        writer.publish_run().unwrap();
    } else {
        writer.commit().unwrap();
    }
    (forgotten, new)
}

/// The keys, and whether they are published.
fn stored(store: &Store) -> BTreeMap<String, bool> {
    let documents = store.documents().unwrap().map(Result::unwrap);
    documents
        .map(|document| (document.key, document.is_published))
        .collect()
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    (folder, store)
}

#[test]
fn a_published_run_is_history_and_an_interrupted_one_is_forgotten() {
    let (_folder, store) = store();
    assert_eq!(run(&store, 0..10, true), (0, 10));
    assert!(!store.stats().unwrap().has_open_run);
    assert_eq!(run(&store, 5..20, false), (0, 10));
    assert!(store.stats().unwrap().has_open_run);
    // They are found until they are forgotten.
    assert_eq!(store.query(&Query::text(&text(19))).unwrap().len(), 1);
    // Later documents are judged against what is published.
    assert_eq!(run(&store, 12..30, false), (10, 18));
    assert_eq!(run(&store, 5..20, true), (18, 10));
    assert_eq!(run(&store, 0..30, true), (0, 10));
    assert_eq!(stored(&store).len(), 30);
}

#[test]
fn what_is_added_meanwhile_stays() {
    let (_folder, store) = store();
    run(&store, 0..6, false);
    let mut writer = store.writer().unwrap();
    // The same text, another text, a copy under another key; and one is removed.
    writer.add("k0", text(0)).unwrap();
    writer.add("k1", text(100)).unwrap();
    writer.add("copy", text(2)).unwrap();
    writer.remove("k3").unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(run(&store, 0..0, true), (3, 0));
    let keys: Vec<String> = stored(&store).into_keys().collect();
    assert_eq!(keys, ["copy", "k0", "k1"]);
    assert_eq!(run(&store, 0..6, true), (0, 4));
}

#[test]
fn a_run_is_forgotten_by_its_own_writer_too() {
    let (_folder, store) = store();
    let mut writer = store.writer().unwrap();
    writer.begin_run().unwrap();
    writer.admit_batch(store.sketch_all(inputs(0..3))).unwrap();
    assert_eq!(writer.forget_run(1 << 20).unwrap(), 3);
    // Outside of a run, documents are published with the commit.
    writer.admit_batch(store.sketch_all(inputs(0..3))).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(run(&store, 0..3, true), (0, 0));
    assert!(
        stored(&store)
            .into_values()
            .all(|is_published| is_published)
    );
}

#[test]
fn an_open_run_survives_what_is_done_to_the_store() {
    let (folder, store) = store();
    run(&store, 0..4, true);
    let mut writer = store.writer().unwrap();
    writer.remove("k1").unwrap();
    writer.commit().unwrap();
    drop(writer);
    run(&store, 4..9, false);
    let before = stored(&store);
    assert_eq!(
        before
            .values()
            .filter(|is_published| !**is_published)
            .count(),
        5
    );

    store.rebuild(Rebuild::compact()).unwrap();
    assert_eq!(stored(&store), before);
    let schema = store
        .schema()
        .to_builder()
        .permutations(256)
        .build()
        .unwrap();
    store.rebuild(Rebuild::reindex(schema)).unwrap();
    assert_eq!(stored(&store), before);

    let path = folder.path().join("copy");
    store.backup(&path).unwrap();
    let copy = Store::open(&path).unwrap();
    assert_eq!(stored(&copy), before);
    drop(copy);
    assert!(Store::check(&path).unwrap().is_clean());

    let saved = folder.path().join("saved");
    Store::salvage(&path, &saved, |_| {}).unwrap();
    assert!(Store::check(&saved).unwrap().is_clean());
    let saved = Store::open(&saved).unwrap();
    assert_eq!(stored(&saved), before);
    assert_eq!(run(&saved, 0..9, true), (5, 6));

    let merged = Store::create(folder.path().join("merged"), &store.schema()).unwrap();
    let done = merged.merge(&store, 1).unwrap();
    assert_eq!((done.added, done.unpublished), (3, 5));
    assert_eq!(run(&merged, 0..9, true), (0, 6));
    assert_eq!(run(&store, 0..9, true), (5, 6));
}

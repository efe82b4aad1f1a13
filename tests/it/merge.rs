//! Merging stores.

use std::path::Path;

use dedupdb::{Error, Progress, Query, Schema, Store, write::MergeSummary};
use proptest::prelude::*;

use crate::numbered;

/// A document: its key and the number of its text.
type Step = (u8, u8);

fn text((_, text): Step) -> String {
    if text == 0 {
        return "!".to_owned();
    }
    // Every second text is a near-copy of the one before.
    let end = if text % 2 == 0 { " at last" } else { "" };
    numbered::text(usize::from(text / 2), 30) + end
}

fn store(folder: &Path, steps: &[Step], keep_shingles: bool) -> Store {
    let schema = Schema::builder().keep_shingles(keep_shingles);
    let store = Store::create(folder, &schema.build().unwrap()).unwrap();
    let mut writer = store.writer().unwrap();
    for (index, step) in steps.iter().enumerate() {
        writer.add(step.0.to_string(), text(*step)).unwrap();
        if index % 7 == 0 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

/// The documents in the order in which their texts were added, ties by key.
fn in_order(store: &Store) -> Vec<String> {
    let documents = store.documents().unwrap().map(Result::unwrap);
    let mut keys: Vec<(u32, String)> = documents.map(|d| (d.content, d.key)).collect();
    keys.sort();
    keys.into_iter().map(|(_, key)| key).collect()
}

fn answers(store: &Store) -> Vec<(String, [u8; 32], Vec<String>)> {
    let documents = store.documents().unwrap().map(Result::unwrap);
    documents
        .map(|document| {
            let matches = store.query(&Query::key(&document.key)).unwrap();
            let matches = matches.iter().map(|m| format!("{} {:?}", m.key, m.jaccard));
            (document.key.clone(), document.hash, matches.collect())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn merging_is_adding_the_documents_in_order(
        stores in prop::collection::vec(prop::collection::vec((0..30_u8, 0..24_u8), 1..40), 2..4),
        keep_shingles in any::<bool>(),
        stop in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let merged = store(&path("merged"), &stores[0], keep_shingles);
        let added = store(&path("added"), &stores[0], keep_shingles);
        for (index, steps) in stores.iter().enumerate().skip(1) {
            let other = store(&path(&index.to_string()), steps, keep_shingles);
            let last = |key: &str| {
                let of = |step: &&Step| step.0.to_string() == key;
                *steps.iter().rev().find(of).unwrap()
            };
            let mut writer = added.writer().unwrap();
            for key in in_order(&other) {
                writer.add(key.clone(), text(last(&key))).unwrap();
            }
            writer.commit().unwrap();
            if stop {
                let stopped = merged.watched(&Progress::observed(Progress::stop));
                prop_assert!(matches!(stopped.merge(&other, 1), Err(Error::Stopped)));
            }
            let report = merged.merge(&other, 1).unwrap();
            prop_assert_eq!(report.documents(), other.stats().unwrap().documents);
        }
        prop_assert_eq!(answers(&merged), answers(&added));
        prop_assert_eq!(in_order(&merged).len(), in_order(&added).len());
        let (one, other) = (merged.stats().unwrap(), added.stats().unwrap());
        prop_assert_eq!((one.documents, one.contents), (other.documents, other.contents));
        drop(merged);
        let report = Store::check(path("merged")).unwrap();
        prop_assert!(report.is_clean(), "{:?}", report.problems);
    }
}

#[test]
fn merging_again_changes_nothing_and_times_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let other = store(&path("other"), &[(1, 2), (2, 2), (3, 3)], true);
    let merged = store(&path("merged"), &[(3, 5)], true);
    let report = merged.merge(&other, 1 << 20).unwrap();
    let mut expected = MergeSummary::default();
    (expected.added, expected.updated, expected.copies) = (2, 1, 1);
    expected.updated_keys = vec!["3".to_owned()];
    assert_eq!(report, expected);
    let document = |store: &Store| store.get("2").unwrap().unwrap();
    assert_eq!(document(&merged).added, document(&other).added);
    let report = merged.merge(&other, 1 << 20).unwrap();
    assert_eq!(report.unchanged, 3);
}

#[test]
fn other_parameters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let other = store(&path("other"), &[(1, 2)], false);
    let merged = store(&path("merged"), &[(1, 1)], true);
    let error = merged.merge(&other, 1);
    match error.unwrap_err() {
        Error::SchemaMismatch { parameter, .. } => assert_eq!(parameter, "shingles"),
        error => panic!("{error}"),
    }
}

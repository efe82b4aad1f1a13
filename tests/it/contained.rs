//! Keeping out what a stored text contains, beside a comparison with all of them.

use std::collections::BTreeSet;

use dedupdb::sketching::Shingling;
use dedupdb::write::{Change, Outcome, Relation};
use dedupdb::{Input, Options, Schema, Store};
use proptest::prelude::*;

const K: usize = 3;
const THRESHOLD: f64 = 0.9;
const SHARE: f64 = 0.7;

/// A text of some of eight paragraphs, each of which is always the same.
fn text(paragraphs: &[u32]) -> String {
    let words = |&n: &u32| (0..11).map(move |word| format!("p{n}w{word}"));
    paragraphs
        .iter()
        .flat_map(words)
        .collect::<Vec<_>>()
        .join(" ")
}

fn shingles(text: &str) -> BTreeSet<Vec<&str>> {
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(K).map(<[&str]>::to_vec).collect()
}

/// What is to become of a text after those that are stored.
fn expected(stored: &[String], text: &str) -> (Change, Relation) {
    if stored.iter().any(|stored| stored == text) {
        return (Change::KeptOut, Relation::ExactCopy);
    }
    let own = shingles(text);
    let (mut is_near, mut is_contained, mut contains) = (false, false, false);
    for other in stored {
        let other = shingles(other);
        let common = own.intersection(&other).count() as f64;
        is_near |= common / own.union(&other).count() as f64 >= THRESHOLD;
        is_contained |= common / own.len() as f64 >= SHARE;
        contains |= common / other.len() as f64 >= SHARE;
    }
    match (is_near, is_contained, contains) {
        (true, ..) => (Change::KeptOut, Relation::NearDuplicate),
        (_, true, _) => (Change::KeptOut, Relation::Contained),
        (.., true) => (Change::Added, Relation::Contains),
        _ => (Change::Added, Relation::Novel),
    }
}

/// A store whose every shingle is a fingerprint, and whose bands find all near-duplicates.
fn create(folder: &std::path::Path) -> Store {
    let schema = Schema::builder().shingling(Shingling::Word(3)).passage(3);
    let schema = schema
        .permutations(64)
        .threshold(THRESHOLD)
        .bands(64, 1)
        .build()
        .unwrap();
    Options::new()
        .threads(2)
        .containment(SHARE)
        .create(folder, &schema)
        .unwrap()
}

/// Some paragraphs, in any order. None is repeated, or the distinct shingles would be those of a short text.
fn paragraphs() -> impl Strategy<Value = Vec<u32>> {
    prop::sample::subsequence((0..8).collect::<Vec<u32>>(), 2..6).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_a_stored_text_contains_is_kept_out_and_what_contains_one_is_told(
        given in prop::collection::vec((paragraphs(), 0_u8..6), 1..24),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (one, many) = (create(&folder.path().join("one")), create(&folder.path().join("many")));
        let mut stored = Vec::new();
        let mut batch = Vec::new();
        let mut all = Vec::new();
        for (n, (paragraphs, action)) in given.iter().enumerate() {
            let text = text(paragraphs);
            let expected = expected(&stored, &text);
            let outcome = one.insert_unless_duplicate(n.to_string(), text.as_str()).unwrap();
            prop_assert_eq!((outcome.change, outcome.relation), expected, "{}", n);
            prop_assert_eq!(outcome.earlier.is_some(), expected.1 != Relation::Novel);
            batch.push(Input::new(n.to_string(), text.as_str()));
            all.push(expected);
            if expected.0 == Change::Added {
                stored.push(text);
            }
            if *action == 0 || n + 1 == given.len() {
                let mut writer = many.writer().unwrap();
                writer.unique(true);
                let outcomes = writer.add_all(std::mem::take(&mut batch)).unwrap();
                let told = |outcome: dedupdb::Result<Outcome>| {
                    let outcome = outcome.unwrap();
                    (outcome.change, outcome.relation)
                };
                let told: Vec<_> = outcomes.into_iter().map(told).collect();
                prop_assert_eq!(told, std::mem::take(&mut all));
                writer.commit().unwrap();
            }
        }
    }
}

#[test]
fn a_short_text_and_a_store_without_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(&folder.path().join("store"));
    store
        .insert_unless_duplicate("long", text(&[1, 2, 3]))
        .unwrap();
    let short = store.insert_unless_duplicate("short", text(&[1])).unwrap();
    assert_eq!(
        (short.change, short.relation),
        (Change::Added, Relation::Novel)
    );
    let without = folder.path().join("without");
    let schema = Schema::builder().passage(0).build().unwrap();
    let store = Options::new()
        .containment(SHARE)
        .create(&without, &schema)
        .unwrap();
    let refused = store.insert_unless_duplicate("one", "a text");
    assert!(matches!(
        refused,
        Err(dedupdb::Error::InvalidQuery {
            parameter: "containment",
            ..
        })
    ));
    for share in [0.0, 1.1, f64::NAN] {
        let store = Options::new()
            .containment(share)
            .open(folder.path().join("store"))
            .unwrap();
        let refused = store.insert_unless_duplicate("one", text(&[5, 6]));
        assert!(
            matches!(refused, Err(dedupdb::Error::InvalidQuery { .. })),
            "{refused:?}"
        );
    }
}

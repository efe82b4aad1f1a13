//! The most similar texts, without a threshold, beside all that there are.

use dedupdb::sketching::{ShingleSet, Shingling};
use dedupdb::{Error, Match, Query, Schema, Store};
use proptest::prelude::*;

fn schema(passage: u32) -> Schema {
    let schema = Schema::builder()
        .shingling(Shingling::Word(3))
        .passage(passage);
    schema.permutations(16).bands(4, 4).build().unwrap()
}

/// Texts of runs of few words, some of them without words and some of them copies.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = (0_u32..20, 0_u32..16).prop_map(|(start, words)| {
        let words = (start..start + words).map(|word| format!("w{}", word % 20));
        words.collect::<Vec<_>>().join(" ")
    });
    prop::collection::vec(text, 1..30)
}

/// A store of these texts, some under two keys, from which every fifth is removed.
fn store(texts: &[String], passage: u32) -> (tempfile::TempDir, Store, Vec<(String, String)>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &schema(passage)).unwrap();
    let mut writer = store.writer().unwrap();
    let mut stored = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        for key in [format!("{number:02}"), format!("b{number:02}")] {
            if number % 3 == 0 || !key.starts_with('b') {
                writer.add(key.as_str(), text.as_str()).unwrap();
                stored.push((key, text.clone()));
            }
        }
    }
    writer.commit().unwrap();
    for (number, _) in texts.iter().enumerate().skip(2).step_by(5) {
        let key = format!("{number:02}");
        writer.remove(&key).unwrap();
        stored.retain(|(other, _)| *other != key);
    }
    writer.commit().unwrap();
    drop(writer);
    (folder, store, stored)
}

/// The stored documents that have anything in common with a text: the most similar first, ties by key.
fn by_force(text: &str, stored: &[(String, String)]) -> Vec<(String, f64)> {
    let shingler = schema(0).shingler().unwrap();
    let set = |text: &str| -> ShingleSet { shingler.shingles(text).unwrap() };
    let asked = set(text);
    let likeness = |(key, other): &(String, String)| {
        let jaccard = if other == text {
            1.0
        } else {
            asked.jaccard(&set(other))
        };
        (key.clone(), jaccard)
    };
    let mut all: Vec<(String, f64)> = stored.iter().map(likeness).collect();
    all.retain(|(key, jaccard)| {
        let text_of = stored.iter().find(|(other, _)| other == key);
        let is_copy = text_of.is_some_and(|(_, other)| other == text);
        is_copy || *jaccard > 0.0 && !asked.is_empty()
    });
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

fn found(matches: &[Match]) -> Vec<(String, f64)> {
    let found = matches.iter().map(|it| (it.key.clone(), it.similarity()));
    found.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_texts_are_ranked_by_their_similarity(
        texts in texts(),
        most in 0_usize..12,
        passage in prop_oneof![Just(0_u32), Just(5)],
        threshold in prop_oneof![Just(0.0), Just(0.25), Just(1.0)],
    ) {
        let (_folder, store, stored) = store(&texts, passage);
        for text in texts.iter().chain([&"w1 w2 w3 other".to_owned()]) {
            let mut expected = by_force(text, &stored);
            let all = store.query(&Query::text(text).nearest(usize::MAX).exhaustive(true)).unwrap();
            prop_assert_eq!(&found(&all), &expected);
            let nearest = Query::text(text).nearest(most);
            let best = store.query(&nearest.clone().exhaustive(true).threshold(threshold)).unwrap();
            expected.retain(|(_, jaccard)| *jaccard >= threshold);
            expected.truncate(most);
            prop_assert_eq!(found(&best), expected);
            // Of those that share a band, without fingerprints; a text without words shares none.
            let in_bands = all.iter().filter(|it| it.bands > 0 || it.exact_copy);
            let in_bands: Vec<Match> = in_bands.cloned().collect();
            let every = store.query(&Query::text(text).nearest(usize::MAX)).unwrap();
            if passage == 0 {
                prop_assert_eq!(&every, &in_bands);
            } else {
                prop_assert!(in_bands.iter().all(|it| every.contains(it)));
                prop_assert!(every.iter().all(|it| all.contains(it)));
            }
            let few = store.query(&nearest).unwrap();
            prop_assert_eq!(&few[..], &every[..most.min(every.len())]);
        }
    }

    #[test]
    fn an_exhaustive_search_misses_no_match(texts in texts(), threshold in 0.05..1.0) {
        let (_folder, store, stored) = store(&texts, 0);
        for text in &texts {
            let query = Query::text(text).threshold(threshold).exhaustive(true);
            let mut expected = by_force(text, &stored);
            expected.retain(|(_, jaccard)| *jaccard >= threshold);
            prop_assert_eq!(found(&store.query(&query).unwrap()), expected);
        }
    }
}

#[test]
fn texts_that_share_a_passage_are_near() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().passage(20).build().unwrap();
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let words = |range: std::ops::Range<u32>| {
        let words = range.map(|word| format!("w{word} "));
        words.collect::<Vec<_>>().concat()
    };
    let quote = words(0..24);
    let letter = words(100..180) + &quote + &words(200..280);
    store
        .insert_unless_duplicate("letter", letter.as_str())
        .unwrap();
    store
        .insert_unless_duplicate("other", words(400..460))
        .unwrap();
    let asked = words(500..600) + &quote;
    let nearest = store.query(&Query::text(&asked).nearest(5)).unwrap();
    assert_eq!(nearest.len(), 1);
    assert_eq!((nearest[0].key.as_str(), nearest[0].bands), ("letter", 0));
    assert!(nearest[0].similarity() < 0.2);
    let of_key = store.query(&Query::key("letter").nearest(5).exhaustive(true));
    assert!(of_key.unwrap().is_empty());
}

#[test]
fn what_has_no_meaning_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &schema(5)).unwrap();
    for (query, named) in [
        (Query::text("a").threshold(0.0), "threshold"),
        (Query::text("a").nearest(1).threshold(-0.1), "threshold"),
        (Query::text("a").nearest(1).containment(0.5), "nearest"),
    ] {
        let refused = store.query(&query).unwrap_err();
        assert!(matches!(refused, Error::InvalidQuery { parameter, .. } if parameter == named));
    }
}

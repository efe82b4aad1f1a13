//! All pairs of a store, beside what queries say one by one.

use std::collections::BTreeMap;
use std::path::Path;

use dedupdb::{Input, Options, Pair, PairQuery, Query, Schema, Store};

/// The text of a document: those of a family of ten differ in a few words, and some are copies.
fn text(number: usize) -> String {
    let (family, member) = (number / 10, number % 10);
    let changed = |word| word < member * 2 && member < 8;
    let words = (0..60).map(|word| {
        let variant = if changed(word) { member } else { 0 };
        format!("w{family}x{word}v{variant}")
    });
    words.collect::<Vec<_>>().join(" ")
}

fn key(number: usize) -> String {
    format!("{}/{number:05}", ["new", "old"][number % 2])
}

/// Documents in tables and recent ones, some of both removed.
pub(crate) fn make(folder: &Path, threads: usize) -> Store {
    let options = Options::new().threads(threads);
    let store = options.create(folder, &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    for numbers in [0..1500, 1500..1800] {
        let inputs = numbers.map(|n| Input::new(key(n), text(n)));
        writer.add_all(inputs.collect()).unwrap();
        writer.commit().unwrap();
    }
    for number in (0..1800).step_by(7) {
        assert!(writer.remove(&key(number)).unwrap());
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

fn pairs(store: &Store, query: PairQuery) -> Vec<Pair> {
    store
        .pairs(query)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

type Similarities = BTreeMap<(String, String), f64>;

/// The pairs by their keys; no pair is there twice.
fn by_keys(pairs: &[Pair]) -> Similarities {
    let mut found = Similarities::new();
    for pair in pairs {
        let keys = (pair.key_a.clone(), pair.key_b.clone());
        assert_eq!(found.insert(keys, pair.jaccard.unwrap()), None, "{pair:?}");
    }
    found
}

#[test]
fn pairs_are_what_queries_find_each_once_in_one_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = make(&folder.path().join("one"), 1);
    let all = pairs(&store, PairQuery::new());
    let mut expected = Similarities::new();
    for document in store.documents().unwrap() {
        let key = document.unwrap().key;
        for found in store.query(&Query::key(&key)).unwrap() {
            if key < found.key {
                expected.insert((key.clone(), found.key), found.jaccard.unwrap());
            }
        }
    }
    assert!(expected.len() > 1500, "{}", expected.len());
    assert_eq!(by_keys(&all), expected);
    assert!(all.iter().any(|pair| pair.exact_copy));

    let other = make(&folder.path().join("two"), 2);
    assert_eq!(pairs(&other, PairQuery::new()), all);

    let strict = pairs(&store, PairQuery::new().threshold(0.9));
    expected.retain(|_, jaccard| *jaccard >= 0.9);
    assert_eq!(by_keys(&strict), expected);
    assert!(store.pairs(PairQuery::new().threshold(0.0)).is_err());
}

#[test]
fn pairs_between_prefixes_and_without_copies() {
    let folder = tempfile::tempdir().unwrap();
    let store = make(folder.path(), 2);
    let all = by_keys(&pairs(&store, PairQuery::new()));
    let across = by_keys(&pairs(&store, PairQuery::new().between("old/", "new/")));
    let is_across =
        |keys: &(String, String)| keys.0.starts_with("new") && keys.1.starts_with("old");
    let expected = all.iter().filter(|(keys, _)| is_across(keys));
    let expected = expected.map(|((new, old), &jaccard)| ((old.clone(), new.clone()), jaccard));
    assert_eq!(across, expected.collect());
    assert!(across.len() < all.len());

    let first = |key: &str| {
        let mut keys = vec![key.to_owned()];
        for found in store.query(&Query::key(key)).unwrap() {
            keys.extend(found.exact_copy.then_some(found.key));
        }
        keys.into_iter().min().unwrap()
    };
    let folded = by_keys(&pairs(&store, PairQuery::new().fold_copies(true)));
    let firsts = all
        .iter()
        .filter(|((a, b), _)| first(a) == *a && first(b) == *b);
    assert_eq!(folded, firsts.map(|(keys, &j)| (keys.clone(), j)).collect());
    assert!(folded.len() < all.len());
}

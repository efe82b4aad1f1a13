//! All pairs of a store, compared with what queries find one by one.

use std::collections::BTreeMap;
use std::path::Path;

use dedupdb::{
    Error, Input, Options, Query, Schema, Store,
    groups::{Pair, PairQuery},
    sketching::Shingler,
};

/// The text of a document. Those of a family of ten differ in a few words, and some are copies.
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

/// Documents in tables and recent ones. Some of both are removed.
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

/// The pairs by their keys. No pair may occur twice.
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
    for query in [
        PairQuery::new(),
        PairQuery::new().exhaustive(true).threshold(0.5),
    ] {
        prefixes_and_copies(&store, &query);
    }
}

fn prefixes_and_copies(store: &Store, query: &PairQuery) {
    let all = by_keys(&pairs(store, query.clone()));
    let across = by_keys(&pairs(store, query.clone().between("old/", "new/")));
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
    let folded = by_keys(&pairs(store, query.clone().fold_copies(true)));
    let firsts = all
        .iter()
        .filter(|((a, b), _)| first(a) == *a && first(b) == *b);
    assert_eq!(folded, firsts.map(|(keys, &j)| (keys.clone(), j)).collect());
    assert!(folded.len() < all.len());
}

/// Compares all documents with all others.
fn brute_force(store: &Store, threshold: f64) -> Similarities {
    let schema = store.schema();
    let shingler = Shingler::new(schema.shingling(), schema.lowercase(), schema.nfkc()).unwrap();
    let number = |key: &str| key.split_once('/').unwrap().1.parse::<usize>().unwrap();
    let documents: Vec<_> = store
        .documents()
        .unwrap()
        .map(|document| {
            let document = document.unwrap();
            let shingles = shingler.shingles(&text(number(&document.key))).unwrap();
            (document.key, shingles)
        })
        .collect();
    let mut found = Similarities::new();
    for (index, (key, shingles)) in documents.iter().enumerate() {
        for (other, others) in &documents[index + 1..] {
            let jaccard = shingles.jaccard(others);
            if jaccard >= threshold {
                found.insert((key.clone(), other.clone()), jaccard);
            }
        }
    }
    found
}

#[test]
fn an_exhaustive_search_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = make(&folder.path().join("one"), 1);
    let other = make(&folder.path().join("two"), 2);
    let mut expected = brute_force(&store, 0.2);
    let mut counts = Vec::new();
    for threshold in [0.2, 0.7, 0.8, 0.9, 1.0] {
        expected.retain(|_, jaccard| *jaccard >= threshold);
        counts.push(expected.len());
        let query = PairQuery::new().exhaustive(true).threshold(threshold);
        let all = pairs(&store, query.clone());
        assert_eq!(by_keys(&all), expected, "{threshold}");
        assert_eq!(pairs(&other, query), all);
    }
    assert!(counts.windows(2).all(|two| two[0] > two[1]), "{counts:?}");
    assert!(counts[4] > 0);
    // The same pairs, with the same estimates, as from the buckets.
    let sorted = |query| {
        let mut found = pairs(&store, query);
        found.sort_by(|a, b| (&a.key_a, &a.key_b).cmp(&(&b.key_a, &b.key_b)));
        found
    };
    let exhaustive = sorted(PairQuery::new().exhaustive(true));
    for pair in sorted(PairQuery::new()) {
        assert!(exhaustive.contains(&pair), "{pair:?}");
    }
}

#[test]
fn an_exhaustive_search_of_few_or_no_shingles() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let query = PairQuery::new().exhaustive(true).threshold(0.1);
    assert_eq!(pairs(&store, query.clone()), []);
    let mut writer = store.writer().unwrap();
    let texts = ["", "", "--", "--", "***", "one", "One!", "two"];
    for (key, text) in ('a'..).zip(texts) {
        writer.add(key.to_string(), text).unwrap();
    }
    writer.commit().unwrap();
    let found = pairs(&store, query.clone());
    let keys: Vec<_> = found.iter().map(|p| p.key_a.clone() + &p.key_b).collect();
    assert_eq!(keys, ["ab", "cd", "fg"]);

    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let store = Store::create(folder.path().join("without"), &schema).unwrap();
    assert!(matches!(store.pairs(query), Err(Error::NoShingles)));
}

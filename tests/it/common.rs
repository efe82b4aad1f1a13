//! Passages that many documents have, beside a count of all of them.

use std::collections::BTreeSet;

use dedupdb::overlap::{CommonPassage, SampledText};
use dedupdb::sketching::{Shingler, Shingling};
use dedupdb::{Error, Options, Schema, Store};
use proptest::prelude::*;

fn schema() -> Schema {
    let schema = Schema::builder().shingling(Shingling::Word(3)).passage(8);
    schema.permutations(16).bands(4, 4).build().unwrap()
}

/// A store of these texts, with keys in their order.
fn store(texts: &[String], threads: usize) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().threads(threads);
    let store = options
        .create(folder.path().join("store"), &schema())
        .unwrap();
    let mut writer = store.writer().unwrap();
    for (number, text) in texts.iter().enumerate() {
        writer.add(format!("{number:03}"), text.as_str()).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    (folder, store)
}

fn common(store: &Store, texts: &[String], limit: usize) -> Vec<CommonPassage> {
    let read = |wanted: &[SampledText]| {
        assert!(wanted.len() <= 4 * limit);
        let text = |wanted: &SampledText| {
            let text = &texts[wanted.keys[0].parse::<usize>().unwrap()];
            assert_eq!(blake3::hash(text.as_bytes()).as_bytes(), &wanted.hash);
            Some(text.clone())
        };
        wanted.iter().map(text).collect()
    };
    store.common_passages(limit, None, read).unwrap()
}

/// Words of their own, for a number.
fn words(name: &str, number: usize, count: usize) -> String {
    let words = (0..count).map(|word| format!("{name}{number}x{word}"));
    words.collect::<Vec<_>>().join(" ")
}

/// Forty texts. Of these, 25 have a licence and 15 a footer, each at places of its own, and ten both.
fn planted() -> (Vec<String>, [String; 2]) {
    let (licence, footer) = (words("licence", 0, 30), words("footer", 0, 12));
    let texts = (0..40).map(|number| {
        let mut parts = vec![words("own", number, 5 + number * 7 % 11)];
        if number < 25 {
            parts.extend([licence.clone(), words("more", number, 3 + number % 5)]);
        }
        if (15..30).contains(&number) {
            parts.extend([footer.clone(), words("end", number, 4)]);
        }
        parts.join(" ")
    });
    (texts.collect(), [licence, footer])
}

#[test]
fn what_most_documents_have_comes_first() {
    let (texts, [licence, footer]) = planted();
    for threads in [1, 3] {
        let (_folder, store) = store(&texts, threads);
        let found = common(&store, &texts, 10);
        let rows = found.iter().map(|passage| {
            let key = passage.keys[0].clone();
            (passage.text.clone(), passage.tokens, passage.documents, key)
        });
        let expected = [
            (licence.clone(), 30, 25, "000".to_owned()),
            (footer.clone(), 12, 15, "015".to_owned()),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        assert_eq!(found[0].keys, ["000", "001", "002"]);
        assert_eq!(common(&store, &texts, 1), found[..1]);
    }
}

#[test]
fn removed_documents_do_not_count_and_copies_do() {
    let (mut texts, [licence, _]) = planted();
    texts.push(texts[3].clone());
    let (_folder, store) = store(&texts, 1);
    for number in [0, 1, 7] {
        assert!(store.remove(&format!("{number:03}")).unwrap());
    }
    let found = common(&store, &texts, 1);
    assert_eq!((found[0].documents, &found[0].text), (23, &licence));
    assert_eq!(found[0].keys, ["002", "003", "040"]);
}

#[test]
fn without_texts_nothing_is_known() {
    let (texts, _) = planted();
    let (_folder, store) = store(&texts, 1);
    let nothing = |wanted: &[SampledText]| vec![None; wanted.len()];
    assert_eq!(store.common_passages(10, None, nothing).unwrap(), []);
}

#[test]
fn a_more_common_part_does_not_end_a_passage() {
    let long = words("long", 0, 26);
    let part: Vec<&str> = long.split(' ').skip(11).take(6).collect();
    let texts = (0..60).map(|number| {
        let (before, behind) = (
            words("own", number, 5 + number % 7),
            words("end", number, 9),
        );
        let shared = if number % 2 == 0 {
            long.clone()
        } else {
            part.join(" ")
        };
        format!("{before} {shared} {behind}")
    });
    let texts: Vec<String> = texts.collect();
    let (_folder, store) = store(&texts, 1);
    let found = common(&store, &texts, 10);
    assert_eq!(
        (found.len(), &found[0].text, found[0].documents),
        (1, &long, 30)
    );
}

#[test]
fn a_store_without_fingerprints_knows_none() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().passage(0).build().unwrap();
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let found = store.common_passages(10, None, |_| Vec::new());
    assert!(matches!(found, Err(Error::InvalidQuery { .. })));
}

/// The shingles of a text.
fn shingles(shingler: &Shingler, text: &str) -> BTreeSet<u32> {
    let set = shingler.shingles(text).unwrap();
    set.as_slice().iter().copied().collect()
}

proptest! {
    #[test]
    fn every_count_is_exact(
        parts in prop::collection::vec((0_usize..40, 0_usize..30, 0_usize..40, 0_usize..30), 2..30),
    ) {
        let part = |start: usize, count: usize| {
            let words = (start..start + count).map(|word| format!("w{}", word % 40));
            words.collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = parts
            .iter()
            .map(|&(a, some, b, others)| format!("{} {}", part(a, some), part(b, others)))
            .collect();
        let (_folder, store) = store(&texts, 1);
        let shingler = schema().shingler().unwrap();
        let sets: Vec<BTreeSet<u32>> = texts.iter().map(|text| shingles(&shingler, text)).collect();
        let found = common(&store, &texts, 5);
        prop_assert!(found.len() <= 5);
        prop_assert!(found.is_sorted_by(|a, b| a.documents >= b.documents));
        for passage in found {
            let text = passage.text;
            let own = shingles(&shingler, &text);
            let holders: Vec<String> = (0..texts.len())
                .filter(|&number| own.is_subset(&sets[number]))
                .map(|number| format!("{number:03}"))
                .collect();
            prop_assert_eq!(passage.documents, holders.len() as u64);
            prop_assert!(holders.len() > 1);
            prop_assert!(passage.keys.iter().all(|key| holders.contains(key)));
            prop_assert_eq!(passage.keys.len(), holders.len().min(3));
            let tokens = text.split_whitespace().count();
            prop_assert!(tokens >= 8 && passage.tokens as usize == tokens);
        }
    }
}

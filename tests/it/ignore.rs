//! Shingles that do not count, beside sets from which they are taken out.

use std::collections::BTreeSet;

use dedupdb::groups::PairQuery;
use dedupdb::overlap::PassageQuery;
use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use dedupdb::{Error, Options, Query, Schema, Store};
use proptest::prelude::*;

const K: u8 = 3;

fn schema() -> Schema {
    let schema = Schema::builder().shingling(Shingling::Word(K)).passage(5);
    schema.permutations(16).bands(16, 1).build().unwrap()
}

/// Texts of parts of one long text, each with a template around it, or part of one.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = (0_u32..30, 0_u32..14, 0_u32..20, 0_u32..20);
    let text = text.prop_map(|(start, words, from, template)| {
        let own = (start..start + words).map(|word| format!("w{}", word % 30));
        let shared = (from..from + template).map(|word| format!("t{}", word % 20));
        own.chain(shared).collect::<Vec<_>>().join(" ")
    });
    prop::collection::vec(text, 1..25)
}

/// All of the template, its words in a circle.
fn template(shingler: &Shingler) -> ShingleSet {
    let words: Vec<String> = (0..45).map(|word| format!("t{}", word % 20)).collect();
    shingler.shingles(&words.join(" ")).unwrap()
}

fn store(texts: &[String]) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &schema()).unwrap();
    let mut writer = store.writer().unwrap();
    for (number, text) in texts.iter().enumerate() {
        writer.add(format!("{number:02}"), text.as_str()).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    (folder, store)
}

/// What counts of each text.
fn counted(texts: &[String], ignored: &ShingleSet) -> Vec<BTreeSet<u32>> {
    let shingler = schema().shingler().unwrap();
    let ignored: BTreeSet<u32> = ignored.as_slice().iter().copied().collect();
    let sets = texts.iter().map(|text| {
        let set = shingler.shingles(text).unwrap();
        let set: BTreeSet<u32> = set.as_slice().iter().copied().collect();
        &set - &ignored
    });
    sets.collect()
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The similarity of two sets, and the containment of each in the other.
fn likeness(a: &BTreeSet<u32>, b: &BTreeSet<u32>) -> [f64; 3] {
    let common = a.intersection(b).count();
    let either = a.len() + b.len() - common;
    [
        share(common, either),
        share(common, a.len()),
        share(common, b.len()),
    ]
}

#[test]
fn an_estimate_is_of_whole_texts() {
    let words = |from: u32, to: u32| (from..to).map(|word| format!("w{word} "));
    let [own, other] = [0, 1].map(|n| words(n, 12).chain(words(50, 56)).collect::<String>());
    let (_folder, store) = store(std::slice::from_ref(&own));
    let template: String = words(50, 56).collect();
    let ignored = schema().shingler().unwrap().shingles(&template).unwrap();
    let whole = store.query(&Query::text(&other).threshold(0.5)).unwrap();
    let query = Query::text(&other).threshold(0.5).ignore(&ignored);
    let found = store.query(&query).unwrap();
    assert_ne!(found[0].jaccard, whole[0].jaccard);
    assert_eq!(found[0].estimate, whole[0].estimate);
}

proptest! {
    #[test]
    fn questions_are_answered_as_if_the_template_were_not_there(
        texts in texts(),
        least in prop_oneof![Just(0.3), Just(0.8), Just(1.0)],
        shortest in 0_usize..8,
    ) {
        let ignored = template(&schema().shingler().unwrap());
        let (sets, (_folder, store)) = (counted(&texts, &ignored), store(&texts));
        let fewest = (shortest + 1).saturating_sub(usize::from(K));
        let (mut similar, mut contained) = (BTreeSet::new(), BTreeSet::new());
        for (a, text) in texts.iter().enumerate() {
            let matches = |query: Query<'_>| {
                let found = store.query(&query.ignore(&ignored)).unwrap().into_iter();
                found.map(|found| found.key.parse().unwrap()).collect::<BTreeSet<usize>>()
            };
            let others = 0..texts.len();
            let alike = others.clone().filter(|&b| likeness(&sets[a], &sets[b])[0] >= least);
            let alike: BTreeSet<usize> = alike.collect();
            prop_assert_eq!(&matches(Query::text(text).threshold(least)), &alike);
            similar.extend(alike.into_iter().filter(|&b| a < b).map(|b| (a, b)));
            let inside = others.filter(|&b| {
                let [_, forth, back] = likeness(&sets[a], &sets[b]);
                let shorter = sets[a].len().min(sets[b].len());
                forth.max(back) >= least && shorter >= fewest
            });
            let inside: BTreeSet<usize> = inside.collect();
            let query = Query::text(text).containment(least).shortest(shortest);
            prop_assert_eq!(&matches(query), &inside);
            let pairs = inside.into_iter().filter(|&b| {
                a < b && sets[a].len().min(sets[b].len()) >= fewest.max(1)
            });
            contained.extend(pairs.map(|b| (a, b)));
        }
        let pairs = |query: PairQuery| {
            let found = store.pairs(query.ignore(&ignored)).unwrap().map(|pair| {
                let pair = pair.unwrap();
                let [a, b] = [pair.key_a, pair.key_b].map(|key| key.parse::<usize>().unwrap());
                (a.min(b), a.max(b))
            });
            found.collect::<BTreeSet<(usize, usize)>>()
        };
        prop_assert_eq!(pairs(PairQuery::new().threshold(least)), similar);
        prop_assert_eq!(pairs(PairQuery::new().containment(least).shortest(shortest)), contained);
    }

    #[test]
    fn passages_have_no_shingle_of_the_template(texts in texts()) {
        let shingler = schema().shingler().unwrap();
        let ignored = template(&shingler);
        let (sets, (_folder, store)) = (counted(&texts, &ignored), store(&texts));
        for text in &texts {
            let in_order = shingler.in_order(text).unwrap();
            let tokens = shingler.places(text).len();
            let found = store.passages(&PassageQuery::text(text).all().ignore(&ignored)).unwrap();
            let rows = found.passages.iter().map(|passage| {
                (passage.key.parse().unwrap(), passage.tokens.start as usize, passage.tokens.end as usize)
            });
            let rows: BTreeSet<(usize, usize, usize)> = rows.collect();
            let mut expected = BTreeSet::new();
            for (number, set) in sets.iter().enumerate() {
                let mut start = 0;
                for run in in_order.chunk_by(|a, b| set.contains(a) == set.contains(b)) {
                    let end = tokens.min(start + run.len() + usize::from(K) - 1);
                    if set.contains(&run[0]) && end - start >= 5 {
                        expected.insert((number, start, end));
                    }
                    start += run.len();
                }
            }
            prop_assert_eq!(rows, expected);
            let mut is_ignored = vec![true; tokens];
            for (place, shingle) in in_order.iter().enumerate() {
                if !ignored.as_slice().contains(shingle) {
                    is_ignored[place..tokens.min(place + usize::from(K))].fill(false);
                }
            }
            let count = is_ignored.iter().filter(|is_ignored| **is_ignored).count();
            for passage in &found.passages {
                let (start, end) = (passage.tokens.start as usize, passage.tokens.end as usize);
                prop_assert!(!is_ignored[start..end].contains(&true));
            }
            prop_assert_eq!(found.ignored as usize, count);
        }
    }

    #[test]
    fn texts_are_stored_without_what_is_ignored(texts in texts()) {
        let ignored = template(&schema().shingler().unwrap());
        let sets = counted(&texts, &ignored);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Options::new().ignore(&ignored).create(&path, &schema()).unwrap();
        let mut writer = store.writer().unwrap();
        for (number, text) in texts.iter().enumerate() {
            writer.add(format!("{number:02}"), text.as_str()).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        let pairs = store.pairs(PairQuery::new().exhaustive(true).threshold(0.8)).unwrap();
        let pairs: BTreeSet<(usize, usize)> = pairs.map(|pair| {
            let pair = pair.unwrap();
            (pair.key_a.parse().unwrap(), pair.key_b.parse().unwrap())
        }).collect();
        let mut expected = BTreeSet::new();
        for b in 0..texts.len() {
            let alike = (0..b).filter(|&a| {
                texts[a] == texts[b] || likeness(&sets[a], &sets[b])[0] >= 0.8
            });
            expected.extend(alike.map(|a| (a, b)));
        }
        prop_assert_eq!(pairs, expected);
        drop(store);
        prop_assert!(Options::new().check(&path).unwrap().is_clean());
    }
}

#[test]
fn a_store_without_shingles_cannot_ignore_any() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let ignored = template(&schema.shingler().unwrap());
    let query = Query::text("one two three four five six").ignore(&ignored);
    assert!(matches!(store.query(&query), Err(Error::NoShingles)));
    let pairs = store.pairs(PairQuery::new().ignore(&ignored));
    assert!(matches!(pairs, Err(Error::NoShingles)));
}

#[test]
fn an_exact_copy_and_the_same_shingles_are_told_apart_without_the_template() {
    let text = "w1 w2 w3 w4 w5 w6";
    let (_folder, store) = store(&[text.to_owned(), text.to_uppercase()]);
    let ignored = template(&store.schema().shingler().unwrap());
    let found = store.query(&Query::text(text).ignore(&ignored)).unwrap();
    let told: Vec<(&str, bool, bool)> = found
        .iter()
        .map(|it| (it.key.as_str(), it.exact_copy, it.has_same_shingles()))
        .collect();
    assert_eq!(told, [("00", true, false), ("01", false, true)]);
}

#[test]
fn a_store_without_shingles_knows_no_exact_similarity_of_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let text = "one two three four five six";
    store.insert_unless_duplicate("a", text).unwrap();
    let found = store.query(&Query::text(text)).unwrap();
    assert_eq!((found[0].exact_copy, found[0].jaccard), (true, None));
    assert_eq!(found[0].containment, None);
}

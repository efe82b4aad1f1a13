//! Fingerprints that come with sketches and with the contents of another store, beside those that texts give.

use std::path::Path;

use dedupdb::batch::{KeyWidth, Mark, Sketcher, TextSketch};
use dedupdb::overlap::{PassageQuery, Passages};
use dedupdb::sketching::Shingling;
use dedupdb::{Error, Input, Match, Query, Schema, Store};
use proptest::prelude::*;

const K: u32 = 3;

/// Shingles of three words, of which a store keeps every `step`-th one, or none.
fn schema(step: Option<u32>) -> Schema {
    let schema = Schema::builder().shingling(Shingling::Word(3));
    let schema = schema.permutations(16).bands(4, 4);
    let passage = step.map_or(0, |step| step + K - 1);
    schema.passage(passage).build().unwrap()
}

/// Texts that share runs of words. Some repeat their words, some have few and some none.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = (0_u32..40, 0_u32..30, 1_u32..30).prop_map(|(start, count, of)| {
        let words: Vec<String> = (0..count).map(|n| format!("w{}", start + n % of)).collect();
        words.join(" ")
    });
    prop::collection::vec(text, 1..90)
}

fn add(folder: &Path, schema: &Schema, inputs: Vec<Input>) -> Store {
    let store = Store::create(folder, schema).unwrap();
    let mut writer = store.writer().unwrap();
    for outcome in writer.add_all(inputs).unwrap() {
        outcome.unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

fn inputs(texts: &[String]) -> Vec<Input> {
    let texts = texts.iter().enumerate();
    texts
        .map(|(key, text)| Input::new(key.to_string(), text.as_str()))
        .collect()
}

/// The documents as their sketches, which a machine with `schema` makes.
fn sketched(schema: &Schema, texts: &[String]) -> Vec<Input> {
    let sketcher = Sketcher::new(schema, KeyWidth::Bits64).unwrap();
    let mark: Mark = Mark::new(schema).to_string().parse().unwrap();
    let input = |(row, sketch): (usize, dedupdb::Result<TextSketch>)| {
        let (text, sketch) = (&texts[row], sketch.unwrap());
        let moved = mark.shingles(sketch.size, &sketch.packed, &sketch.fingerprints);
        let set = sketcher.shingles(text).unwrap();
        assert_eq!(moved.as_ref(), Some(&set));
        // One comes from the columns, the next one from the text itself.
        let set = if row % 2 == 0 { moved.unwrap() } else { set };
        let input = Input::new(row.to_string(), set).hashed(sketch.hash);
        input.size(text.len() as u64)
    };
    let sketches = sketcher.sketch_all(texts).into_iter();
    sketches.enumerate().map(input).collect()
}

/// What a store answers to each text. Passages of `K` words are found by chance: by the fingerprints that there are.
fn answers(store: &Store, asked: &[String]) -> (Vec<Passages>, Vec<Vec<Match>>) {
    let passages = |text: &String| {
        let query = PassageQuery::text(text).at_least(K);
        store.passages(&query).unwrap()
    };
    let containers = |text: &String| {
        let query = Query::text(text).containment(0.5);
        store.query(&query).unwrap()
    };
    (
        asked.iter().map(passages).collect(),
        asked.iter().map(containers).collect(),
    )
}

fn files(store: &Store) -> u64 {
    let stats = store.stats().unwrap();
    assert_eq!(stats.unfingerprinted, 0);
    let is_it = |name: &str| name.starts_with("fingerprints");
    let files = stats.files.iter().filter(|(name, _)| is_it(name));
    files.map(|(_, bytes)| bytes).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_store_of_sketches_or_of_another_store_is_that_of_the_texts(
        texts in texts(),
        (step, factor) in (1_u32..7, 1_u32..4),
        asked in texts(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (source, target) = (schema(Some(step)), schema(Some(step * factor)));
        let of_texts = add(&path("texts"), &target, inputs(&texts));
        let of_sketches = add(&path("sketches"), &target, sketched(&source, &texts));
        let other = add(&path("other"), &source, inputs(&texts));
        let merged = Store::create(path("merged"), &target).unwrap();
        merged.merge(&other, 1 << 20).unwrap();
        let asked = [&texts[..texts.len().min(20)], &asked[..asked.len().min(20)]].concat();
        let expected = answers(&of_texts, &asked);
        for store in [of_sketches, merged] {
            prop_assert_eq!(&answers(&store, &asked), &expected);
            prop_assert_eq!(files(&store), files(&of_texts));
            let place = store.folder().to_owned();
            drop(store);
            let report = Store::check(place).unwrap();
            prop_assert!(report.is_clean(), "{:?}", report.problems);
        }
    }
}

#[test]
fn a_store_takes_only_fingerprints_that_serve() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name);
    let texts = vec!["one two three four five six seven eight nine ten eleven".to_owned()];
    let steps = [None, Some(2), Some(3), Some(4)];
    for (n, stored) in steps.into_iter().enumerate() {
        for (m, given) in steps.into_iter().enumerate() {
            let (own, other) = (schema(stored), schema(given));
            let takes = match (stored, given) {
                (None, _) => true,
                (Some(stored), Some(given)) => stored % given == 0,
                (Some(_), None) => false,
            };
            assert_eq!(
                own.check_takes(&other).is_ok(),
                takes,
                "{stored:?} {given:?}"
            );
            let store = Store::create(path(format!("{n} {m}")), &own).unwrap();
            let source = add(&path(format!("source {n} {m}")), &other, inputs(&texts));
            let merged = store.merge(&source, 1 << 20);
            match merged {
                Ok(merged) => assert!(takes && merged.added == 1),
                Err(Error::SchemaMismatch { parameter, .. }) => {
                    assert!(!takes && parameter == "passage");
                }
                Err(error) => panic!("{error}"),
            }
            let store = Store::create(path(format!("of sketches {n} {m}")), &own).unwrap();
            let mut writer = store.writer().unwrap();
            let outcome = writer.add_all(sketched(&other, &texts)).unwrap().remove(0);
            match outcome {
                Ok(_) => assert!(takes),
                Err(Error::InvalidShingles { .. }) => assert!(!takes),
                Err(error) => panic!("{error}"),
            }
            writer.commit().unwrap();
            drop((writer, store));
            let report = Store::check(path(format!("of sketches {n} {m}"))).unwrap();
            assert!(report.is_clean(), "{:?}", report.problems);
        }
    }
}

#[test]
fn bytes_that_are_no_fingerprints_are_refused() {
    let with_passage = schema(Some(2));
    let mark = Mark::new(&with_passage);
    let sketcher = Sketcher::new(&with_passage, KeyWidth::Bits64).unwrap();
    let made = sketcher.sketch("one two three four five six seven");
    let made = made.unwrap();
    let (size, packed, sound) = (made.size, &made.packed, made.fingerprints);
    assert_eq!(sound.len(), 12);
    assert!(mark.shingles(size, packed, &sound).is_some());
    let mut other = sound.clone();
    other[5] ^= 1;
    for wrong in [&[][..], &sound[..11], &other] {
        assert_eq!(mark.shingles(size, packed, wrong), None);
    }
    assert_eq!(mark.shingles(0, &[], &sound), None);
    assert!(mark.shingles(0, &[], &[]).is_some());
    // Sketches without a passage need none.
    let bare = Mark::new(&schema(None));
    assert!(bare.shingles(size, packed, &[]).is_some());
}

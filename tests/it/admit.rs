//! Laws of `Writer::admit_batch`.

use std::collections::BTreeMap;

use dedupdb::{
    Input, Schema, Store,
    sketching::{Shingler, Shingling},
    write::{Change, Outcome},
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A document of a small world, in which keys are repeated and many texts are similar: they are pieces of the same long
/// text, so that one can resemble two that do not resemble each other.
fn document() -> impl Strategy<Value = Input> {
    (0u32..6, 0u32..3, 0u32..14).prop_map(|(key, subject, start)| {
        let words = (start..start + 60).map(|word| format!("w{subject}x{word}"));
        let words: Vec<String> = words.collect();
        Input::new(format!("k{key}"), words.join(" "))
    })
}

fn jaccard(a: &str, b: &str) -> f64 {
    let shingler = Shingler::new(Shingling::default(), true, true).unwrap();
    let shingles = |text: &str| shingler.shingles(text).unwrap();
    shingles(a).jaccard(&shingles(b))
}

/// Offers the documents to a run in batches, and commits now and then. Publishes the run unless `is_killed`.
fn admit(store: &Store, inputs: &[Input], batch: usize, is_killed: bool) -> Vec<Outcome> {
    let mut writer = store.writer().unwrap();
    writer.begin_run().unwrap();
    let mut admissions = Vec::new();
    for (number, inputs) in inputs.chunks(batch).enumerate() {
        let sketched = store.sketch_all(inputs.to_vec());
        for admission in writer.admit_batch(sketched).unwrap() {
            admissions.push(admission.unwrap());
        }
        if number % 2 == 0 {
            writer.commit().unwrap();
        }
    }
    if !is_killed {
        writer.publish_run().unwrap();
    }
    admissions
}

/// The texts of all that is stored, by key, including second keys.
fn stored(store: &Store, inputs: &[Input]) -> BTreeMap<String, String> {
    let texts = inputs.iter().map(|input| {
        let hash = *blake3::hash(input.text().unwrap().as_bytes()).as_bytes();
        (hash, input.text().unwrap().to_owned())
    });
    let texts: BTreeMap<[u8; 32], String> = texts.collect();
    let documents = store.documents().unwrap().map(Result::unwrap);
    documents
        .map(|document| (document.key, texts[&document.hash].clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn what_is_admitted_is_like_nothing_before_it_and_lasts(
        before in vec(document(), 0..6),
        inputs in vec(document(), 1..24),
        batch in 1usize..9,
        killed_after in 0usize..24,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path(), &Schema::default()).unwrap();
        let mut writer = store.writer().unwrap();
        for outcome in writer.add_all(before.clone()).unwrap() {
            outcome.unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        let other = tempfile::tempdir().unwrap();
        store.backup(other.path().join("copy")).unwrap();
        let all = [before, inputs.clone()].concat();

        let first = admit(&store, &inputs, batch, false);
        let texts = stored(&store, &all);
        let mut kept: Vec<&str> = Vec::new();
        for (input, admission) in inputs.iter().zip(&first) {
            if let Some(earlier) = admission.duplicate_of() {
                let exact = jaccard(input.text().unwrap(), &texts[&earlier.key]);
                prop_assert!(exact >= 0.8, "{} is {exact}", earlier.key);
                prop_assert_eq!(earlier.jaccard, Some(exact));
                continue;
            }
            // The bands find practically all pairs that are this similar.
            let like = kept.iter().find(|text| jaccard(text, input.text().unwrap()) >= 0.95);
            prop_assert_eq!(like, None);
            kept.push(input.text().unwrap());
        }
        // Again: each is a duplicate of what is published now.
        for admission in admit(&store, &inputs, batch, false) {
            prop_assert_eq!(admission.change, Change::KeptOut);
            prop_assert!(!admission.earlier_is_of_this_writer);
        }
        prop_assert_eq!(&stored(&store, &all), &texts);
        // Killed half-way, and repeated: the same.
        let store = Store::open(other.path().join("copy")).unwrap();
        let part = &inputs[..killed_after.min(inputs.len())];
        admit(&store, part, batch, true);
        prop_assert_eq!(admit(&store, &inputs, 3, false), first);
        prop_assert_eq!(stored(&store, &all), texts);
    }
}

#[test]
fn what_was_added_is_a_duplicate_under_its_own_key_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    // Enough documents that all of them are in tables.
    crate::numbered::add(&store, 0..1100, 7);
    let text = "the tide clock on the harbour wall has been wrong since the flood of last year";
    let inputs = [Input::new("a", text), Input::new("b", "!")];
    let mut writer = store.writer().unwrap();
    writer.add_all(inputs.to_vec()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    crate::numbered::add(&store, 1100..2200, 7);
    let offered = [inputs[0].clone(), Input::new("c", text), inputs[1].clone()];
    let again = admit(&store, &offered, 1, false);
    let earlier = again.iter().map(|admission| {
        let earlier = admission.duplicate_of();
        earlier.map(|earlier| (earlier.key.clone(), earlier.exact_copy))
    });
    let copy_of = |key: &str| Some((key.to_owned(), true));
    // A text without words is nobody's copy.
    let expected = [copy_of("a"), copy_of("a"), None];
    assert_eq!(earlier.collect::<Vec<_>>(), expected);
}

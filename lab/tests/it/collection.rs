//! A collection in memory, against its definition.

use dedupdb::sketching::{Shingler, Shingling, Signer};
use dedupdb::{Error, Schema};
use dedupdb_lab::Collection;
use proptest::collection::vec;
use proptest::prelude::*;

fn schema() -> Schema {
    let builder = Schema::builder().shingling(Shingling::Word(1));
    builder.permutations(64).threshold(0.5).build().unwrap()
}

fn collection(schema: &Schema, texts: &[String]) -> Collection {
    let named = texts.iter().enumerate();
    Collection::new(
        schema,
        named.map(|(number, text)| (number.to_string(), text)),
    )
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn answers_are_those_of_the_definition(
        words in vec(vec(0_u8..12, 0..8), 1..20),
        threshold in 0.05_f64..=1.0,
    ) {
        let texts: Vec<String> = words
            .iter()
            .map(|words| {
                let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
                words.join(" ")
            })
            .collect();
        let schema = schema();
        let collection = collection(&schema, &texts);
        let shingler = Shingler::new(schema.shingling(), true, true).unwrap();
        let signer = Signer::new(schema.family(), schema.seed(), 64, schema.slot_width()).unwrap();
        let sets: Vec<_> = texts.iter().map(|text| shingler.shingles(text).unwrap()).collect();
        let distinct: std::collections::BTreeSet<u8> = words.concat().into_iter().collect();
        prop_assert_eq!(collection.distinct_shingles(), distinct.len());
        prop_assert_eq!(collection.len(), texts.len());
        let mut matrix = Vec::new();
        for (a, set) in sets.iter().enumerate() {
            prop_assert_eq!(collection.shingles(a), Some(set));
            let row = signer.sign(set.as_slice());
            prop_assert_eq!(collection.signature(a), Some(row.as_bytes()));
            matrix.extend_from_slice(row.as_bytes());
            let mut expected = Vec::new();
            for (b, other) in sets.iter().enumerate() {
                let jaccard = set.jaccard(other);
                prop_assert_eq!(collection.jaccard(a, b), Some(jaccard));
                let filled = !set.is_empty() && !other.is_empty();
                let other = signer.sign(other.as_slice());
                let equal = (0..64).filter(|&i| row.slot(i) == other.slot(i)).count();
                let agreeing = u32::try_from(equal).unwrap() * u32::from(filled);
                prop_assert_eq!(collection.agreeing(a, b), Some(agreeing));
                let (x, y) = (row.as_bytes(), other.as_bytes());
                let shared = schema.bands().shared(x, y, schema.slot_width()) > Some(0);
                if a != b && shared && filled && jaccard >= threshold {
                    expected.push((b, jaccard));
                }
            }
            expected.sort_by(|a, b| b.1.total_cmp(&a.1));
            prop_assert_eq!(collection.near_duplicates(a, threshold), Some(expected));
        }
        prop_assert_eq!(collection.signatures(), matrix);
    }
}

#[test]
fn documents_that_are_not_there_are_none() {
    let schema = schema();
    let collection = collection(&schema, &["a b".to_owned()]);
    assert_eq!(collection.names(), ["0"]);
    for document in [1, usize::MAX] {
        assert_eq!(collection.shingles(document), None);
        assert_eq!(collection.signature(document), None);
        assert_eq!(collection.jaccard(0, document), None);
        assert_eq!(collection.estimate(document, 0), None);
        assert_eq!(collection.near_duplicates(document, 0.5), None);
    }
    assert!(
        Collection::new(&schema, Vec::<(String, String)>::new())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_text_that_cannot_be_read_is_named() {
    let schema = Schema::builder().shingling(Shingling::Ids).build().unwrap();
    let error = Collection::new(&schema, [("good", "1 2"), ("bad", "1 x")]).unwrap_err();
    let Error::InvalidText { reason } = error else {
        panic!("{error:?}")
    };
    assert!(reason.starts_with("bad: token 2: "), "{reason}");
}

/// Their only shingles have the same 32-bit hash.
#[test]
fn texts_of_one_shingle_that_collide_are_unlike() {
    let texts = ["red dog house blue stone", "red sun red blue dog"];
    let collection = Collection::new(&Schema::default(), texts.map(|text| (text, text))).unwrap();
    assert_eq!(collection.jaccard(0, 1), Some(0.0));
    assert_eq!(collection.near_duplicates(0, 0.1), Some(Vec::new()));
}

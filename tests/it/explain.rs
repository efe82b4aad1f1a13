//! Explanations, compared with the results of queries.

use dedupdb::{
    Error, Query, Schema, Store,
    find::{Explanation, Subject},
};

const TEXTS: [(&str, &str); 6] = [
    (
        "a",
        "it was the first of many long and cold nights in the old lighthouse by the sea",
    ),
    (
        "b",
        "It was the first of many long and cold nights in the old lighthouse by the SEA!",
    ),
    (
        "c",
        "it was the first of many long and cold nights in the old lighthouse by the river",
    ),
    (
        "d",
        "nothing of this has been said before by anyone in town",
    ),
    ("e", "--"),
    ("f", "***"),
];

fn store(folder: &std::path::Path, schema: &Schema) -> Store {
    let store = Store::create(folder, schema).unwrap();
    let mut writer = store.writer().unwrap();
    for (key, text) in TEXTS {
        writer.add(key, text).unwrap();
    }
    writer.add("copy of a", TEXTS[0].1).unwrap();
    writer.add("copy of e", "--").unwrap();
    writer.commit().unwrap();
    drop(writer);
    store
}

#[test]
fn an_explanation_agrees_with_queries() {
    let folder = tempfile::tempdir().unwrap();
    for keeps in [true, false] {
        let schema = Schema::builder()
            .keep_shingles(keeps)
            .threshold(0.5)
            .build()
            .unwrap();
        let store = store(&folder.path().join(keeps.to_string()), &schema);
        let keys: Vec<String> = store.documents().unwrap().map(|d| d.unwrap().key).collect();
        let mut matches = 0;
        for a in &keys {
            let found = store.query(&Query::key(a)).unwrap();
            for b in keys.iter().filter(|b| *b != a) {
                let explanation = store.explain(Subject::Key(a), Subject::Key(b)).unwrap();
                let one = found.iter().find(|found| found.key == *b);
                assert_eq!(explanation.is_found(), one.is_some(), "{a} {b}");
                let Some(one) = one else { continue };
                matches += 1;
                assert_eq!(explanation.exact_copy, one.exact_copy);
                assert_eq!(explanation.bands.len(), one.bands as usize, "{a} {b}");
                if explanation.shingles != [0, 0] {
                    assert_eq!(explanation.estimate, Some(one.estimate), "{a} {b}");
                }
                if let Some(jaccard) = one.jaccard {
                    let common = explanation.common.unwrap();
                    assert_eq!(common.jaccard.to_bits(), jaccard.to_bits());
                    assert_eq!(Some(common.containment_of_a), one.containment);
                    assert_eq!(Some(common.containment_of_b), one.containment_of_match);
                }
            }
        }
        assert!(matches >= 14, "{matches}");
    }
}

#[test]
fn a_given_text_is_explained_like_a_stored_one() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::default();
    let store = store(folder.path(), &schema);
    for (a, text_a) in TEXTS {
        for (b, text_b) in TEXTS {
            let stored = store.explain(Subject::Key(a), Subject::Key(b)).unwrap();
            let given = store.explain(Subject::Text(text_a), Subject::Text(text_b));
            let mixed = store.explain(Subject::Text(text_a), Subject::Key(b));
            let without = Explanation::of_texts(&schema, text_a, text_b);
            for other in [given, mixed, without] {
                assert_eq!(other.unwrap(), stored, "{a} {b}");
            }
        }
    }
    let missing = store.explain(Subject::Key("a"), Subject::Key("z"));
    assert!(matches!(missing, Err(Error::NoSuchDocument { key }) if key == "z"));
}

#[test]
fn what_is_counted_and_what_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let kept = store(&folder.path().join("kept"), &Schema::default());
    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let bare = store(&folder.path().join("bare"), &schema);
    let explain = |store: &Store, a, b| store.explain(Subject::Key(a), Subject::Key(b)).unwrap();

    let near = explain(&kept, "a", "c");
    let common = near.common.unwrap();
    assert_eq!(
        (near.shingles, common.both, common.either),
        ([13, 13], 12, 14)
    );
    assert!(near.is_match && !near.exact_copy && near.recall > 0.99);
    let permutations = f64::from(kept.schema().permutations());
    let agreement = f64::from(near.agreeing.unwrap()) / permutations;
    assert!((agreement - near.estimate.unwrap().jaccard).abs() < 0.01);
    let unlike = explain(&kept, "a", "d");
    assert_eq!((unlike.is_match, unlike.common.unwrap().both), (false, 0));
    assert_eq!((unlike.bands.len(), unlike.similarity()), (0, Some(0.0)));

    let empty = explain(&kept, "e", "f");
    assert_eq!(
        (empty.is_match, empty.estimate, empty.recall),
        (false, None, 0.0)
    );
    assert_eq!(empty.similarity(), Some(0.0));
    let copies = explain(&kept, "e", "copy of e");
    assert!(copies.is_match && copies.is_found() && copies.bands.is_empty());

    let near = explain(&bare, "a", "c");
    assert_eq!((near.shingles, near.common), ([13, 13], None));
    assert_eq!(near.similarity(), near.estimate.map(|e| e.jaccard));
    let copy = explain(&bare, "a", "copy of a");
    assert_eq!(copy.common.unwrap().both, 13);
    let texts = bare.explain(Subject::Text(TEXTS[0].1), Subject::Text(TEXTS[2].1));
    assert_eq!(texts.unwrap().common.unwrap().both, 12);
}

//! Batches that are sketched ahead of the writer.

use dedupdb::batch::{KeyWidth, Sketcher};
use dedupdb::{Input, Query, Schema, Store};

/// A distinct text for each number.
fn words(number: u32, count: u32) -> String {
    let words = (0..count).map(|word| format!("w{}", number * 1000 + word));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_sketcher_says_its_parameters() {
    let schema = Schema::builder().seed(7).build().unwrap();
    let sketcher = Sketcher::new(&schema, KeyWidth::Bits32).unwrap();
    assert_eq!(*sketcher.schema(), schema);
}

#[test]
fn batches_sketched_ahead_give_what_adding_in_turn_gives() {
    let text = |n: u32, tail: &str| format!("{} {tail}", words(n, 40));
    let batches: Vec<Vec<Input>> = vec![
        vec![
            Input::new("a", text(1, "")),
            Input::new("b", text(2, "")),
            Input::new("", text(2, "")),
        ],
        // Copies, near-copies and new texts of documents in the previous batch.
        vec![
            Input::new("c", text(1, "")),
            Input::new("d", text(2, "at the end")),
            Input::new("a", text(3, "")),
        ],
        vec![
            Input::new("b", text(2, "")),
            Input::new("e", text(3, "")),
            Input::new("a", text(1, "")),
        ],
    ];
    let other_schema = Schema::builder().seed(7).build().unwrap();
    for commits in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let ahead = Store::create(folder.path().join("ahead"), &Schema::default()).unwrap();
        let turn = Store::create(folder.path().join("turn"), &Schema::default()).unwrap();
        let other = Store::create(folder.path().join("other"), &other_schema).unwrap();
        let sketched: Vec<_> = batches
            .iter()
            .zip([&ahead, &other, &ahead])
            .map(|(batch, store)| store.sketch_all(batch.clone()))
            .collect();
        let mut from_ahead = ahead.writer().unwrap();
        let mut in_turn = turn.writer().unwrap();
        for (sketched, inputs) in sketched.into_iter().zip(&batches) {
            let one = from_ahead.add_batch(sketched).unwrap();
            let other = in_turn.add_all(inputs.clone()).unwrap();
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            if commits {
                from_ahead.commit().unwrap();
                in_turn.commit().unwrap();
            }
        }
        from_ahead.commit().unwrap();
        in_turn.commit().unwrap();
        let keys = |store: &Store| -> Vec<_> {
            let documents = store.documents().unwrap();
            documents.map(|document| document.unwrap().key).collect()
        };
        assert_eq!(keys(&ahead), keys(&turn));
        for key in keys(&turn) {
            let query = Query::key(&key);
            assert_eq!(ahead.query(&query).unwrap(), turn.query(&query).unwrap());
        }
    }
}

#[test]
fn a_batch_of_a_copy_with_other_parameters_is_sketched_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let one = Store::create(path("one"), &Schema::default()).unwrap();
    one.insert_unless_duplicate("0", words(0, 30)).unwrap();
    one.backup(path("other")).unwrap();
    let other = Store::open(path("other")).unwrap();
    // Both have the same origin and are in their second generation.
    for (store, permutations) in [(&one, 256), (&other, 192)] {
        let builder = store.schema().to_builder().permutations(permutations);
        let schema = builder.build().unwrap();
        assert!(
            store
                .rebuild(dedupdb::upkeep::Rebuild::reindex(schema))
                .unwrap()
        );
    }
    let batch = one.sketch_all(vec![Input::new("1", words(1, 30))]);
    let mut writer = other.writer().unwrap();
    writer.add_batch(batch).unwrap();
    writer.add("2", words(1, 30) + " more").unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(other.query(&Query::key("2")).unwrap().len(), 1);
    drop((one, other));
    let report = Store::check(path("other")).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

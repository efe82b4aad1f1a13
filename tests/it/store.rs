//! The store's verbs, one after another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use dedupdb::{
    Error, Input, Options, Query, Schema, Store,
    sketching::{Estimate, SchemaBuilder, Shingling},
    upkeep::Reindex,
    write::{Change, IdScope, MAX_KEY_BYTES, Relation, SourceFile},
};

const TEXT: &str = "it was the first of many long and cold nights in the old lighthouse, and the \
                    keeper counted the ships that passed without a light until the morning came";

fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    (folder, store)
}

fn add(store: &Store, key: &str, text: &str) -> (Change, Relation) {
    let mut writer = store.writer().unwrap();
    let outcome = writer.add(key, text).unwrap();
    writer.commit().unwrap();
    (outcome.change, outcome.relation)
}

fn keys(store: &Store, query: &Query<'_>) -> Vec<String> {
    let matches = store.query(query).unwrap();
    matches.into_iter().map(|m| m.key).collect()
}

#[test]
fn a_store_answers_after_it_was_closed_and_opened() {
    let (folder, store) = new_store();
    assert_eq!(add(&store, "one", TEXT), (Change::Added, Relation::Novel));
    assert_eq!(
        add(&store, "two", TEXT),
        (Change::Added, Relation::ExactCopy)
    );
    let upper = TEXT.to_uppercase();
    assert_eq!(
        add(&store, "three", &upper),
        (Change::Added, Relation::NearDuplicate)
    );
    drop(store);
    let store = Store::open(folder.path().join("store")).unwrap();
    let matches = store.query(&Query::key("one")).unwrap();
    assert_eq!(matches.len(), 2);
    assert_eq!(
        (matches[0].key.as_str(), matches[0].exact_copy),
        ("three", false)
    );
    assert_eq!(
        (matches[1].key.as_str(), matches[1].exact_copy),
        ("two", true)
    );
    for found in matches {
        assert_eq!(found.jaccard, Some(1.0));
        assert_eq!(found.containment, Some(1.0));
        assert_eq!(found.containment_of_match, Some(1.0));
        assert_eq!(found.bands, store.schema().bands().bands());
        assert!((found.estimate.jaccard - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_same_text_changes_nothing_and_another_one_replaces() {
    let (_folder, store) = new_store();
    add(&store, "one", TEXT);
    assert_eq!(add(&store, "one", TEXT).0, Change::Unchanged);
    assert_eq!(store.stats().unwrap().contents, 1);
    let other = "nothing at all to do with any lighthouse or with any keeper of one";
    assert_eq!(
        add(&store, "one", other),
        (Change::Updated, Relation::Novel)
    );
    assert_eq!(store.query(&Query::text(TEXT)).unwrap(), []);
    assert_eq!(keys(&store, &Query::text(other)), ["one"]);
    let stats = store.stats().unwrap();
    assert_eq!((stats.documents, stats.contents, stats.removed), (1, 1, 1));
}

#[test]
fn a_text_is_found_until_its_last_name_is_removed() {
    let (_folder, store) = new_store();
    add(&store, "one", TEXT);
    add(&store, "two", TEXT);
    for (key, left) in [("one", 1), ("two", 0)] {
        let mut writer = store.writer().unwrap();
        assert!(writer.remove(key).unwrap());
        assert!(!writer.remove(key).unwrap());
        writer.commit().unwrap();
        drop(writer);
        assert_eq!(keys(&store, &Query::text(TEXT)).len(), left);
    }
    assert_eq!(add(&store, "three", TEXT), (Change::Added, Relation::Novel));
}

#[test]
fn what_is_not_committed_is_neither_seen_nor_kept() {
    let (folder, store) = new_store();
    add(&store, "one", TEXT);
    let mut writer = store.writer().unwrap();
    writer.add("two", format!("{TEXT} at last")).unwrap();
    writer.remove("one").unwrap();
    assert_eq!(keys(&store, &Query::text(TEXT)), ["one"]);
    drop(writer);
    assert_eq!(keys(&store, &Query::text(TEXT)), ["one"]);
    drop(store);
    let store = Store::open(folder.path().join("store")).unwrap();
    assert_eq!(keys(&store, &Query::text(TEXT)), ["one"]);
}

#[test]
fn texts_without_tokens_match_only_their_exact_copies() {
    let (_folder, store) = new_store();
    add(&store, "empty", "");
    add(&store, "dots", "...");
    assert_eq!(
        add(&store, "more dots", "..."),
        (Change::Added, Relation::ExactCopy)
    );
    assert_eq!(keys(&store, &Query::key("dots")), ["more dots"]);
    assert_eq!(keys(&store, &Query::key("empty")), Vec::<String>::new());
    assert_eq!(keys(&store, &Query::text("")), ["empty"]);
}

#[test]
fn a_bad_input_has_an_error_of_its_own() {
    let (_folder, store) = new_store();
    let mut writer = store.writer().unwrap();
    let outcomes = writer
        .add_all(vec![
            Input::new("", "no key"),
            Input::new("k".repeat(MAX_KEY_BYTES + 1), "too long a key"),
            Input::new("k".repeat(MAX_KEY_BYTES), "the longest key"),
            Input::new("good", TEXT),
        ])
        .unwrap();
    assert!(matches!(outcomes[0], Err(Error::InvalidKey { bytes: 0 })));
    assert!(matches!(outcomes[1], Err(Error::InvalidKey { .. })));
    assert!(outcomes[2].is_ok() && outcomes[3].is_ok());
    writer.commit().unwrap();
    assert_eq!(store.stats().unwrap().documents, 2);
    let missing = store.query(&Query::key("missing"));
    assert!(matches!(missing, Err(Error::NoSuchDocument { .. })));
    let threshold = store.query(&Query::text(TEXT).threshold(f64::NAN));
    assert!(matches!(threshold, Err(Error::InvalidQuery { .. })));
}

#[test]
fn a_schema_is_stored_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder()
        .shingling(Shingling::Char(9))
        .lowercase(false)
        .seed(u64::MAX)
        .permutations(100)
        .threshold(0.65)
        .keep_shingles(false)
        .build()
        .unwrap();
    drop(Store::create(folder.path(), &schema).unwrap());
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(*store.schema(), schema);
    drop(store);
    let again = Store::create(folder.path(), &schema);
    assert!(matches!(again, Err(Error::AlreadyAStore { .. })));
    let opened = Store::open_or_create(folder.path(), &Schema::default()).unwrap();
    assert_eq!(*opened.schema(), schema);
    drop(opened);
    let expecting = Options::new().expect(Schema::default().to_builder());
    match expecting.open(folder.path()) {
        Err(Error::SchemaMismatch {
            parameter,
            stored,
            given,
        }) => {
            let named = (parameter, stored.as_str(), given.as_str());
            assert_eq!(named, ("shingling", "char:9", "word:5"));
        }
        other => panic!("{other:?}"),
    }
    let expecting = Options::new().expect(schema.to_builder());
    assert!(expecting.open_or_create(folder.path(), &schema).is_ok());
}

#[test]
fn only_parameters_that_were_set_are_expected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let schema = Schema::builder().threshold(0.7).permutations(64);
    let schema = schema.bands(16, 4).build().unwrap();
    let refused = |expected: SchemaBuilder| {
        let options = Options::new().expect(expected);
        match options.open_or_create(&path, &schema) {
            Ok(_) => None,
            Err(Error::SchemaMismatch { parameter, .. }) => Some(parameter),
            Err(error) => panic!("{error}"),
        }
    };
    let with = Schema::builder;
    // What does not fit is not made.
    assert_eq!(refused(with().threshold(0.8)), Some("threshold"));
    assert!(!path.exists());
    for (expected, parameter) in [
        (with(), None),
        (with().threshold(0.7), None),
        (with().target_recall(0.9), None),
        (schema.to_builder(), None),
        (with().permutations(8), Some("permutations")),
        (with().bands(40, 8), Some("bands")),
        (with().target_recall(0.999_999), Some("recall")),
        (with().seed(2).threshold(0.5), Some("seed")),
    ] {
        assert_eq!(refused(expected.clone()), parameter, "{expected:?}");
    }
    let store = Store::open(&path).unwrap();
    let reindex = Reindex::new().threshold(0.9).rebuild(&store).unwrap();
    assert!(store.rebuild(reindex).unwrap());
    drop(store);
    assert_eq!(refused(with().threshold(0.9)), None);
    assert_eq!(refused(with().threshold(0.7)), Some("threshold"));
    assert_eq!(refused(with()), None);
}

#[test]
fn without_shingles_answers_are_estimates() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let store = Store::create(folder.path(), &schema).unwrap();
    add(&store, "one", TEXT);
    let found = store.query(&Query::text(&TEXT.to_uppercase())).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].jaccard, found[0].containment), (None, None));
    assert!(found[0].estimate.jaccard > 0.99);
}

#[test]
fn without_shingles_what_may_reach_the_threshold_matches() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().keep_shingles(false).passage(0);
    let schema = schema.build().unwrap();
    let (shingler, signer) = (schema.shingler().unwrap(), schema.signer().unwrap());
    let store = Store::create(folder.path(), &schema).unwrap();
    let text_with = |others: u32| {
        let words =
            (0..200).map(|word| format!("word{}", if word < others { word + 1000 } else { word }));
        words.collect::<Vec<_>>().join(" ")
    };
    let slots = |text: &str| {
        let set = shingler.shingles(text).unwrap();
        let signature = signer.sign(set.as_slice());
        let slots = signature
            .as_bytes()
            .chunks_exact(schema.slot_width().bytes());
        slots.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let asked = slots(&text_with(0));
    let (mut expected, mut likely) = (Vec::new(), 0);
    for others in 0..80 {
        let (key, text) = (format!("{others:02}"), text_with(others));
        add(&store, &key, &text);
        let agreeing = slots(&text)
            .iter()
            .zip(&asked)
            .filter(|(a, b)| a == b)
            .count();
        let agreeing = u32::try_from(agreeing).unwrap();
        let estimate = Estimate::new(agreeing, schema.permutations(), schema.slot_width());
        likely += usize::from(estimate.jaccard >= schema.threshold());
        if estimate.jaccard + 2.0 * estimate.error >= schema.threshold() {
            expected.push(key);
        }
    }
    let mut found: Vec<String> = store
        .query(&Query::text(&text_with(0)).exhaustive(true))
        .unwrap()
        .into_iter()
        .map(|found| found.key)
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert!(
        likely < found.len() && found.len() < 80,
        "{likely} {found:?}"
    );
}

#[test]
fn a_text_of_another_file_replaces_none_but_where_ids_hold_in_all_files() {
    use Change::{Refused, Updated};
    for (scope, record) in [
        (IdScope::Unset, Refused),
        (IdScope::File, Refused),
        (IdScope::All, Updated),
    ] {
        for (is_file, expected) in [(true, Refused), (false, record)] {
            let place = |name: &str| {
                if is_file {
                    SourceFile::folder(name)
                } else {
                    SourceFile::new(name)
                }
            };
            let input = |text: &str, source: &str| {
                let input = Input::new("a", text).source(place(source));
                if is_file {
                    input.modified(UNIX_EPOCH)
                } else {
                    input
                }
            };
            let (_folder, store) = new_store();
            let mut writer = store.writer().unwrap();
            writer.set_id_scope(scope);
            let inputs = vec![
                input("one", "/x"),
                input("two", "/x"),
                input("three", "/y").instead_of(&place("/x")),
                input("four", "/z").instead_of(&place("/x")),
                Input::new("a", "five"),
            ];
            let changes = writer.add_all(inputs).unwrap().into_iter();
            let changes: Vec<Change> = changes.map(|outcome| outcome.unwrap().change).collect();
            let wanted = [Change::Added, Updated, Updated, expected, Updated];
            assert_eq!(changes, wanted, "{scope:?}, {is_file}");
        }
    }
}

#[test]
fn a_second_writer_is_told_who_is_in_the_way() {
    let (folder, store) = new_store();
    let path = folder.path().join("store");
    let mut writer = store.writer().unwrap();
    writer.add("one", TEXT).unwrap();
    let second = Options::new().wait(Duration::ZERO).open(&path);
    let Err(Error::Locked { holder, .. }) = second else {
        panic!("two write to the store");
    };
    let holder = holder.unwrap();
    assert_eq!(holder.process, std::process::id());
    assert!(holder.since.is_some());
    writer.commit().unwrap();
    // It is open, and nobody writes.
    assert_eq!(Store::open(&path).unwrap().stats().unwrap().documents, 1);
    drop((writer, store));
    // A reader locks nobody out.
    let reader = Options::new().read_only(true).open(&path).unwrap();
    assert!(matches!(reader.writer(), Err(Error::ReadOnly)));
    assert!(matches!(
        reader.insert_unless_duplicate("a", "b"),
        Err(Error::ReadOnly)
    ));
    Store::open(&path).unwrap();
    assert!(matches!(
        Store::open(folder.path().join("elsewhere")),
        Err(Error::NotAStore { .. })
    ));
}

#[test]
fn a_second_writer_that_waits_gets_the_store() {
    let (folder, store) = new_store();
    let path = folder.path().join("store");
    let is_done = AtomicBool::new(false);
    let mut writer = store.writer().unwrap();
    writer.add("one", TEXT).unwrap();
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            let waiting = Options::new().wait(Duration::from_secs(600));
            let second = waiting.open_or_create(&path, &Schema::default()).unwrap();
            assert!(is_done.load(Ordering::Acquire), "the first one was at it");
            add(&second, "two", TEXT);
        });
        is_done.store(true, Ordering::Release);
        writer.commit().unwrap();
        second.join().unwrap();
    });
    // The first takes over what the second committed.
    assert_eq!(store.documents().unwrap().count(), 1);
    writer.add("three", TEXT).unwrap();
    assert_eq!(store.documents().unwrap().count(), 2);
    writer.commit().unwrap();
    assert_eq!(store.documents().unwrap().count(), 3);
}

#[test]
fn documents_come_in_order_and_by_prefix() {
    let (_folder, store) = new_store();
    let mut writer = store.writer().unwrap();
    for key in ["b/2", "a", "b/1", "c", "b"] {
        writer.add(key, format!("text of {key}")).unwrap();
    }
    writer.commit().unwrap();
    let list = |prefix| -> Vec<String> {
        let documents = store.documents_with_prefix(prefix).unwrap();
        documents.map(|document| document.unwrap().key).collect()
    };
    assert_eq!(list(""), ["a", "b", "b/1", "b/2", "c"]);
    assert_eq!(list("b/"), ["b/1", "b/2"]);
    assert_eq!(list("z"), Vec::<String>::new());
    let document = store.get("b/1").unwrap().unwrap();
    assert_eq!((document.size, document.modified), (11, None));
    assert_eq!(document.hash, *blake3::hash(b"text of b/1").as_bytes());
    assert_eq!(store.copies(&document).unwrap(), ["b/1"]);
    assert_eq!(store.get("nothing").unwrap(), None);
}

#[test]
fn thousands_of_documents_pass_through_the_tables_and_out_again() {
    let (folder, store) = new_store();
    let own = |i: u32| {
        let words = (0..40).map(|word| format!("w{}", i * 1000 + word));
        words.collect::<Vec<_>>().join(" ")
    };
    let mut writer = store.writer().unwrap();
    let inputs = (0..3000).map(|i| Input::new(format!("{i:05}"), own(i)));
    for outcome in writer.add_all(inputs.collect()).unwrap() {
        assert_eq!(outcome.unwrap().relation, Relation::Novel);
    }
    writer.commit().unwrap();
    for i in (0..3000).step_by(3) {
        writer.remove(&format!("{i:05}")).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    for i in 0..3000 {
        let found = keys(&store, &Query::text(&own(i)));
        assert_eq!(found.len(), usize::from(i % 3 != 0), "{i}");
    }
    for (key, text) in [("as is", TEXT), ("spaced", &TEXT.replace(' ', "  "))] {
        add(&store, key, text);
    }
    add(&store, "loud", &TEXT.to_uppercase());
    let largest = store.largest_buckets(3).unwrap();
    assert!(largest.len() == 3 && largest.iter().all(|bucket| bucket.contents == 3));
    let path = folder.path().join("store");
    drop(store);
    let report = Store::check(&path).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!((report.documents, report.contents), (2003, 3003));
}

#[test]
fn a_novel_text_is_inserted_and_a_similar_one_is_not() {
    let (_folder, store) = new_store();
    let insert = |key, text: &str| store.insert_unless_duplicate(key, text).unwrap();
    assert_eq!(insert("one", TEXT).change, Change::Added);
    assert_eq!(insert("one", TEXT).change, Change::Unchanged);
    let relations = [Relation::ExactCopy, Relation::NearDuplicate];
    for (text, relation) in [TEXT.to_owned(), TEXT.to_uppercase()].iter().zip(relations) {
        let outcome = insert("two", text);
        assert_eq!(outcome.relation, relation);
        let earlier = outcome.duplicate_of().unwrap();
        assert_eq!((earlier.key.as_str(), earlier.jaccard), ("one", Some(1.0)));
        assert_eq!(earlier.exact_copy, text == TEXT);
    }
    // A document is not a duplicate of its own earlier text.
    assert_eq!(insert("one", &TEXT.to_uppercase()).change, Change::Updated);
    assert_eq!(store.stats().unwrap().documents, 1);
}

#[test]
fn an_insert_is_kept_out_for_its_copy_before_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let text = "seven swans were swimming on the lake when the snow began to fall";
    let mut writer = store.writer().unwrap();
    // As similar, and first by key.
    writer.add("a", text.to_uppercase()).unwrap();
    writer.add("b", text).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let outcome = store.insert_unless_duplicate("c", text).unwrap();
    assert_eq!(outcome.relation, Relation::ExactCopy);
    assert_eq!(outcome.duplicate_of().unwrap().key, "b");
}

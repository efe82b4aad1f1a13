//! Documents that are given as shingles get the answers that their texts get.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use dedupdb::find::{Explanation, Subject};
use dedupdb::groups::{ClusterQuery, Linkage, PairQuery};
use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use dedupdb::upkeep::Rebuild;
use dedupdb::write::{Body, Change, Outcome, Relation};
use dedupdb::{Error, Input, Match, Options, Query, Schema, Store};

const TEXT: &str = "seven swans were swimming on the lake when the snow began to fall at last";

fn schema(shingling: Shingling, keeps_shingles: bool) -> Schema {
    let schema = Schema::builder().shingling(shingling).permutations(64);
    let schema = schema.threshold(0.5).keep_shingles(keeps_shingles);
    schema.build().unwrap()
}

/// How documents are offered.
#[derive(Clone, Copy, Debug)]
enum Way {
    Add,
    AddUnique,
    Insert,
    Admit,
}

/// Offers documents in some way, each a number for its key and a body. Commits in the end.
fn offer(store: &Store, way: Way, documents: &[(u8, Body)], evidence: bool) -> Vec<Outcome> {
    // An admitted document gets a unique key: a second key would reveal its hash.
    let key = |number: u8, fresh: usize| match way {
        Way::Admit => format!("{:?}/{fresh}", store.stats().unwrap().documents),
        _ => format!("key{:02}", number % 9),
    };
    let inputs = documents.iter().enumerate();
    let inputs =
        inputs.map(|(fresh, (number, body))| Input::new(key(*number, fresh), body.clone()));
    let inputs: Vec<Input> = inputs.map(|input| input.size(10)).collect();
    if let Way::Insert = way {
        let insert = |(number, body): &(u8, Body)| {
            let outcome = store.insert_unless_duplicate(key(*number, 0), body.clone());
            outcome.unwrap()
        };
        return documents.iter().map(insert).collect();
    }
    let batch = store.sketch_all(inputs);
    let mut writer = store.writer().unwrap();
    writer.evidence(evidence);
    writer.unique(matches!(way, Way::AddUnique));
    let outcomes = match way {
        Way::Admit => writer.admit_batch(batch),
        _ => writer.add_batch(batch),
    };
    writer.commit().unwrap();
    let outcomes = outcomes.unwrap().into_iter();
    outcomes.map(|outcome| outcome.unwrap()).collect()
}

/// All answers about documents against documents.
fn groups(store: &Store) -> String {
    let pairs = store.pairs(PairQuery::new()).unwrap();
    let pairs: Vec<_> = pairs.map(|pair| pair.unwrap()).collect();
    let clusters = |linkage| {
        let clusters = store.clusters(ClusterQuery::new().linkage(linkage));
        let clusters = clusters.unwrap().map(|cluster| cluster.unwrap());
        clusters.collect::<Vec<_>>()
    };
    let clusters = [Linkage::Connected, Linkage::Representative].map(clusters);
    format!("{pairs:?} {clusters:?}")
}

/// Words of a few families, so that texts are similar. There are 0 to 30 words, so that some sets are small.
fn text() -> impl Strategy<Value = String> {
    (0..4_u32, 0..30_u32, prop::collection::vec(0..30_u32, 0..3)).prop_map(
        |(family, count, changed)| {
            let words = (0..count).map(|word| {
                let change = if changed.contains(&word) { "9" } else { "" };
                format!("{family}{word}{change}")
            });
            words.collect::<Vec<_>>().join(" ")
        },
    )
}

fn shingling() -> impl Strategy<Value = Shingling> {
    prop::sample::select(vec![
        Shingling::Word(1),
        Shingling::Word(3),
        Shingling::Char(4),
        Shingling::Term,
        Shingling::Ids,
    ])
}

fn way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Add, Way::AddUnique, Way::Insert, Way::Admit])
}

/// Marks no match as an exact copy, which a text never is for a document that was given as its shingles.
fn not_the_same(matches: Vec<Match>) -> Vec<Match> {
    let unlike = |mut found: Match| {
        found.exact_copy = false;
        found
    };
    matches.into_iter().map(unlike).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn shingles_are_answered_as_their_text_is(
        texts in prop::collection::vec(text(), 1..12),
        rounds in prop::collection::vec(
            (way(), prop::collection::vec((any::<u8>(), any::<prop::sample::Index>()), 1..8), any::<bool>()),
            1..6,
        ),
        shingling in shingling(),
        keeps_shingles in any::<bool>(),
    ) {
        let schema = schema(shingling, keeps_shingles);
        let shingler = schema.shingler().unwrap();
        let mut all: Vec<(String, ShingleSet)> = Vec::new();
        for text in texts {
            // Texts with the same shingles are near-duplicates, but sets are copies.
            let set = shingler.shingles(&text).unwrap();
            if all.iter().all(|(_, known)| *known != set) {
                all.push((text, set));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let by_text = Store::create(folder.path().join("texts"), &schema).unwrap();
        let by_set = Store::create(folder.path().join("sets"), &schema).unwrap();
        for (way, picks, evidence) in rounds {
            let picked = |body: &dyn Fn(&(String, ShingleSet)) -> Body| -> Vec<(u8, Body)> {
                picks.iter().map(|(key, index)| (*key, body(index.get(&all)))).collect()
            };
            let texts = offer(&by_text, way, &picked(&|(text, _)| text.into()), evidence);
            let sets = offer(&by_set, way, &picked(&|(_, set)| set.clone().into()), evidence);
            prop_assert_eq!(texts, sets);
        }
        prop_assert_eq!(groups(&by_text), groups(&by_set));
        for (text, set) in &all {
            let (of_text, of_set) = (Query::text(text), Query::shingles(set));
            let expected = by_text.query(&of_text).unwrap();
            prop_assert_eq!(&by_set.query(&of_set).unwrap(), &expected);
            if !set.is_empty() && keeps_shingles {
                let expected = not_the_same(expected);
                prop_assert_eq!(&not_the_same(by_text.query(&of_set).unwrap()), &expected);
                prop_assert_eq!(&by_set.query(&of_text).unwrap(), &expected);
            }
            let (text_a, set_a) = &all[0];
            let texts = by_text.explain(Subject::Text(text_a), Subject::Text(text)).unwrap();
            let sets = by_set.explain(Subject::Shingles(set_a), Subject::Shingles(set)).unwrap();
            prop_assert_eq!(texts, sets);
        }
    }

    #[test]
    fn a_set_of_integers_is_that_of_a_text_that_lists_them(
        ids in prop::collection::vec(prop_oneof![any::<u64>(), 0_u64..20], 0..40),
    ) {
        let shingler = Shingler::new(Shingling::Ids, false, false).unwrap();
        let text: Vec<String> = ids.iter().map(u64::to_string).collect();
        let of_text = shingler.shingles(&text.join(" ")).unwrap();
        let set = ShingleSet::from_ids(&ids);
        prop_assert_eq!(&set, &of_text);
        prop_assert_eq!(set.to_packed(), of_text.to_packed());
        prop_assert_eq!(set.content_hash(), of_text.content_hash());
    }
}

#[test]
fn two_runs_of_the_same_32_bits_are_told_apart() {
    // Integers whose mixed values differ only in the lower half.
    let unmixed = |value: u64| {
        let unshift = |x: u64| x ^ (x >> 33);
        let x = unshift(value).wrapping_mul(0x9CB4_B2F8_1293_37DB);
        unshift(unshift(x).wrapping_mul(0x4F74_430C_22A5_4005))
    };
    let ids: Vec<u64> = (1..4).map(|low| unmixed(77 << 32 | low)).collect();
    let sets: Vec<ShingleSet> = ids.iter().map(|id| ShingleSet::from_ids(&[*id])).collect();
    assert_eq!(sets[0].as_slice(), sets[1].as_slice());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &schema(Shingling::Ids, true)).unwrap();
    for (key, set) in ["a", "b", "c"].into_iter().zip(&sets) {
        let outcome = store.insert_unless_duplicate(key, set.clone()).unwrap();
        assert_eq!(outcome.relation, Relation::Novel);
    }
    let found = store.query(&Query::shingles(&sets[1])).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].key.as_str(), found[0].exact_copy), ("b", true));
    let text = ids[2].to_string();
    let found = store.query(&Query::text(&text)).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].key.as_str(), found[0].jaccard), ("c", Some(1.0)));
}

#[test]
fn a_set_is_one_content_and_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(Shingling::Word(2), true);
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let set = schema.shingler().unwrap().shingles(TEXT).unwrap();
    let mut writer = store.writer().unwrap();
    writer.evidence(true);
    assert_eq!(
        writer.add("set", set.clone()).unwrap().relation,
        Relation::Novel
    );
    let same = writer.add("same", set.clone()).unwrap();
    assert_eq!(same.relation, Relation::ExactCopy);
    assert_eq!(same.earlier.unwrap().key, "set");
    let text = writer.add("text", TEXT).unwrap();
    assert_eq!(text.relation, Relation::NearDuplicate);
    let earlier = text.earlier.unwrap();
    assert_eq!((earlier.jaccard, earlier.exact_copy), (Some(1.0), false));
    let again = writer.add("set", set.clone()).unwrap();
    assert_eq!(again.change, Change::Unchanged);
    let as_text = writer.add("same", TEXT).unwrap();
    assert_eq!(
        (as_text.change, as_text.relation),
        (Change::Updated, Relation::ExactCopy)
    );
    let sized = Input::new("sized", set.clone()).size(1234);
    writer.add_all(vec![sized]).unwrap();
    writer.commit().unwrap();
    let get = |key| store.get(key).unwrap().unwrap();
    assert_eq!(get("set").hash, set.content_hash());
    assert_eq!(get("text").hash, *blake3::hash(TEXT.as_bytes()).as_bytes());
    assert_eq!(get("same").content, get("text").content);
    assert_eq!(
        ["set", "text", "sized"].map(|key| get(key).size),
        [0, TEXT.len() as u64, 1234]
    );
    assert_eq!(store.shingles(&get("set")).unwrap(), set);
    let explained = store.explain(Subject::Key("set"), Subject::Shingles(&set));
    assert!(explained.unwrap().exact_copy);
    let explained: Explanation = store
        .explain(Subject::Text(TEXT), Subject::Shingles(&set))
        .unwrap();
    assert!(!explained.exact_copy && explained.is_found());
}

#[test]
fn the_hash_of_a_set_is_frozen() {
    let hash = |set: &ShingleSet| blake3::Hash::from_bytes(set.content_hash()).to_string();
    let empty = ShingleSet::default();
    assert_eq!(hash(&empty), hash(&ShingleSet::from_ids(&[])));
    let shingler = Shingler::new(Shingling::Word(5), true, true).unwrap();
    let small = shingler.shingles("the quick brown fox jumps over").unwrap();
    let large = ShingleSet::from_hashes((0..17).collect());
    assert_eq!(
        [&empty, &small, &large].map(hash),
        [
            "ba81cbc9e2272bc0ce6ba99e67a402f9c27b56500b5142ac64aa4287f9eedb3e",
            "6e95737ccb30432e3b25ba4e7a7cd1497660232a94ed0084793fd66ec0d45ffa",
            "5b4dd6e8c828ebca081f58a3014fb94a50ea395316acccc602258073e7d420b4",
        ]
    );
    // One is not the other's parts in another order.
    let [one, two] = [vec![7, 8], vec![7]].map(ShingleSet::from_hashes);
    assert_ne!(hash(&one), hash(&two));
}

#[test]
fn sets_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(Shingling::Word(2), true);
    let store = Store::create(folder.path().join("store"), &schema).unwrap();
    let by = |shingling, lowercase| {
        let shingler = Shingler::new(shingling, lowercase, true).unwrap();
        shingler.shingles(TEXT).unwrap()
    };
    let right = by(Shingling::Word(2), true);
    let cases = [
        (by(Shingling::Word(3), true), "shingling word:3"),
        (by(Shingling::Word(2), false), "lowercase false"),
        (ShingleSet::from_ids(&[1, 2, 3]), "shingling ids"),
        (
            ShingleSet::from_ids(&(0..30).collect::<Vec<_>>()),
            "shingling ids",
        ),
        (ShingleSet::from_hashes(vec![1, 2, 3]), "64 bits"),
        (
            ShingleSet::from_hashes(right.as_slice().to_vec()),
            "64 bits",
        ),
    ];
    let is_told = |error: Error, reason: &str| match error {
        Error::InvalidShingles { reason: found } => {
            assert!(found.contains(reason), "{found}");
        }
        other => panic!("{other}"),
    };
    for (set, reason) in cases {
        let inputs = vec![
            Input::new("wrong", set.clone()),
            Input::new("right", right.clone()),
        ];
        let mut writer = store.writer().unwrap();
        let mut outcomes = writer.add_all(inputs.clone()).unwrap();
        assert_eq!(outcomes.pop().unwrap().unwrap().change, Change::Added);
        is_told(outcomes.pop().unwrap().unwrap_err(), reason);
        let mut outcomes = writer.admit_batch(store.sketch_all(inputs)).unwrap();
        is_told(outcomes.remove(0).unwrap_err(), reason);
        is_told(writer.add("wrong", set.clone()).unwrap_err(), reason);
        drop(writer);
        is_told(
            store
                .insert_unless_duplicate("wrong", set.clone())
                .unwrap_err(),
            reason,
        );
        is_told(store.query(&Query::shingles(&set)).unwrap_err(), reason);
        let explained = store.explain(Subject::Shingles(&set), Subject::Text(TEXT));
        is_told(explained.unwrap_err(), reason);
    }
    // If the set does not know what made it, the caller is responsible.
    let large = ShingleSet::from_hashes((0..17).collect());
    store.insert_unless_duplicate("hashes", large).unwrap();
    let packed = ShingleSet::from_packed(&right.to_packed(), right.len()).unwrap();
    store.insert_unless_duplicate("packed", packed).unwrap();
    store
        .insert_unless_duplicate("empty", ShingleSet::default())
        .unwrap();
    assert_eq!(store.stats().unwrap().documents, 3);
}

#[test]
fn a_set_of_another_store_is_refused_even_if_it_has_the_same_shingles() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, k| {
        let schema = schema(Shingling::Word(k), true);
        Store::create(folder.path().join(name), &schema).unwrap()
    };
    let (twos, threes) = (make("twos", 2), make("threes", 3));
    // A shingle of either store has more words.
    twos.insert_unless_duplicate("one", "lake").unwrap();
    let document = twos.get("one").unwrap().unwrap();
    let set = twos.shingles(&document).unwrap();
    let own = threes
        .schema()
        .shingler()
        .unwrap()
        .shingles("lake")
        .unwrap();
    assert_eq!(set, own);
    threes.insert_unless_duplicate("own", own).unwrap();
    let refused = threes.insert_unless_duplicate("other", set.clone());
    assert!(matches!(refused, Err(Error::InvalidShingles { .. })));
    // A batch that was sketched for another store is checked again.
    let batch = twos.sketch_all(vec![Input::new("other", set)]);
    let mut writer = threes.writer().unwrap();
    let outcomes = writer.add_batch(batch).unwrap();
    assert!(matches!(outcomes[0], Err(Error::InvalidShingles { .. })));
}

/// Texts of many words and of few, each with its shingles.
fn documents(schema: &Schema) -> Vec<(String, String, ShingleSet)> {
    let shingler = schema.shingler().unwrap();
    let text = |number: usize| {
        let words = (0..number % 40).map(|word| format!("{}x{word}", number / 3));
        words.collect::<Vec<_>>().join(" ")
    };
    let texts = (1..200).map(text);
    texts
        .enumerate()
        .map(|(number, text)| {
            let set = shingler.shingles(&text).unwrap();
            (format!("{number:03}"), text, set)
        })
        .collect()
}

fn store_of(path: &Path, schema: &Schema) -> Store {
    let store = Store::create(path, schema).unwrap();
    let mut writer = store.writer().unwrap();
    for part in documents(schema).chunks(50) {
        let inputs = part.iter();
        let inputs = inputs.map(|(key, _, set)| Input::new(key.as_str(), set.clone()));
        for outcome in writer.add_all(inputs.collect()).unwrap() {
            outcome.unwrap();
        }
        writer.commit().unwrap();
    }
    drop(writer);
    store
}

/// The answers to all texts.
fn answers(store: &Store, schema: &Schema) -> Vec<Vec<(String, Option<f64>)>> {
    let documents = documents(schema);
    let answer = |set: &ShingleSet| {
        let found = store.query(&Query::shingles(set)).unwrap();
        let found = found.into_iter().map(|found| (found.key, found.jaccard));
        found.collect()
    };
    documents.iter().map(|(_, _, set)| answer(set)).collect()
}

#[test]
fn a_store_of_sets_is_kept_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let schema = schema(Shingling::Word(2), true);
    let store = store_of(&path, &schema);
    let expected = answers(&store, &schema);
    let clean = |path: &Path| {
        let report = Store::check(path).unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
    };
    let other = Store::create(folder.path().join("other"), &schema).unwrap();
    let merged = other.merge(&store, 1 << 20);
    assert_eq!(merged.unwrap().added, 199);
    assert_eq!(answers(&other, &schema), expected);
    let more = schema.to_builder().permutations(96).seed(5).choose_bands();
    let more = more.build().unwrap();
    assert!(store.rebuild(Rebuild::reindex(more.clone())).unwrap());
    let found = answers(&store, &more);
    let own = |answers: &[Vec<(String, Option<f64>)>]| answers.iter().map(Vec::len).sum::<usize>();
    assert!(own(&found) >= 199);
    // A new store with these parameters gives the same answers.
    let anew = store_of(&folder.path().join("anew"), &more);
    assert_eq!(found, answers(&anew, &more));
    assert!(!store.rebuild(Rebuild::compact()).unwrap());
    let mut writer = store.writer().unwrap();
    writer.add("passing", "a text that goes again").unwrap();
    writer.commit().unwrap();
    writer.remove("passing").unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert!(store.rebuild(Rebuild::compact()).unwrap());
    assert_eq!(answers(&store, &more), found);
    let copy = folder.path().join("copy");
    store.backup(&copy).unwrap();
    drop(store);
    clean(&path);
    clean(&copy);
    fs::write(copy.join("index.redb"), "gone").unwrap();
    let saved_path = folder.path().join("saved");
    let told = |_: &_| {};
    let saved = Options::new().salvage(&copy, &saved_path, Some(&more), told);
    // The empty set existed before and after: it is one content of several documents.
    assert_eq!(saved.unwrap().lost, 0);
    clean(&saved_path);
    let saved = Store::open(&saved_path).unwrap();
    for (_, _, set) in documents(&more) {
        let found = saved.query(&Query::shingles(&set)).unwrap();
        assert!(found.iter().any(|found| found.exact_copy));
    }
}

#[test]
fn a_store_without_shingles_is_signed_anew_from_sets() {
    let folder = tempfile::tempdir().unwrap();
    let schema = schema(Shingling::Word(2), false);
    let path = folder.path().join("store");
    let store = store_of(&path, &schema);
    let documents = documents(&schema);
    let set = |key: &str| {
        let of_key = |(other, _, _): &&(String, String, ShingleSet)| other == key;
        documents.iter().find(of_key).map(|(_, _, set)| set.clone())
    };
    let text = |key: &str| {
        let of_key = |(other, _, _): &&(String, String, ShingleSet)| other == key;
        documents
            .iter()
            .find(of_key)
            .map(|(_, text, _)| text.clone())
    };
    let other = schema.to_builder().seed(9).build().unwrap();
    // A text is not what was stored, even if it has the same shingles.
    let refused = store.rebuild(Rebuild::reindex(other.clone()).source(text));
    assert!(matches!(refused, Err(Error::MissingSources { .. })));
    assert!(
        store
            .rebuild(Rebuild::reindex(other.clone()).source(set))
            .unwrap()
    );
    let anew = store_of(&folder.path().join("anew"), &other);
    assert_eq!(answers(&store, &other), answers(&anew, &other));
}

//! Texts of few shingles whose 32-bit hashes collide are distinguished everywhere.

use std::collections::BTreeSet;

use dedupdb::groups::{ClusterQuery, PairQuery};
use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use dedupdb::write::{Change, Relation};
use dedupdb::{Query, Schema, Store};
use proptest::prelude::*;

/// Unlike texts of one shingle of five words each, whose 32-bit hashes are equal.
const COLLISIONS: [[&str; 2]; 4] = [
    ["141176", "44790"],
    ["red dog house blue stone", "red sun red blue dog"],
    ["red house sea road house", "green cat stone river moon"],
    ["green sea cat old new", "blue red tree wind stone"],
];

fn shingles(k: u8, text: &str) -> ShingleSet {
    let shingler = Shingler::new(Shingling::Word(k), true, true).unwrap();
    shingler.shingles(text).unwrap()
}

#[test]
fn texts_of_one_shingle_that_collide_are_unlike() {
    for [one, other] in COLLISIONS {
        let (a, b) = (shingles(5, one), shingles(5, other));
        assert_eq!(a.as_slice(), b.as_slice(), "{one}");
        assert_eq!(a.intersection_len(&b), 0, "{one}");
        assert_eq!(a, shingles(5, &one.to_uppercase()), "{one}");
    }
}

#[test]
fn what_collides_within_a_text_is_one_shingle_of_its_own() {
    let [one, other] = COLLISIONS[0];
    let both = shingles(1, &format!("{one} {other}"));
    assert_eq!(both.len(), 1);
    assert_eq!(both.intersection_len(&shingles(1, one)), 0);
    assert_eq!(both.intersection_len(&shingles(1, other)), 0);
    let again = shingles(1, &format!("{other} {one} {other} {other}"));
    assert_eq!(both, again);
    let beside = |word: &str| shingles(1, &format!("{word} beside"));
    assert_eq!(beside(one).intersection_len(&beside(other)), 1);
}

/// Sets of seventeen shingles have no tails any more.
#[test]
fn large_sets_are_compared_by_32_bits() {
    let [one, other] = COLLISIONS[0];
    let text = |word: &str, others: u32| -> ShingleSet {
        let words = (0..others).map(|i| format!(" w{i}"));
        shingles(1, &(word.to_owned() + &words.collect::<String>()))
    };
    assert_eq!(text(one, 15).intersection_len(&text(other, 15)), 15);
    assert_eq!(text(one, 16).intersection_len(&text(other, 16)), 17);
    assert_eq!(text(one, 15).intersection_len(&text(other, 16)), 16);
    let long = "w0 w1 w2 ".repeat(9000);
    assert_eq!(shingles(1, &long), shingles(1, "w2 w0 w1"));
}

#[test]
fn stores_and_collections_find_no_pair() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let texts: Vec<&str> = COLLISIONS.into_iter().flatten().collect();
    let mut writer = store.writer().unwrap();
    for text in &texts {
        let outcome = writer.add(*text, *text).unwrap();
        assert_eq!(outcome.relation, Relation::Novel, "{text}");
    }
    writer.commit().unwrap();
    drop(writer);
    for query in [PairQuery::new(), PairQuery::new().exhaustive(true)] {
        assert_eq!(store.pairs(query).unwrap().count(), 0);
    }
    assert_eq!(store.clusters(ClusterQuery::new()).unwrap().count(), 0);
    let other = Store::create(folder.path().join("other"), &Schema::default()).unwrap();
    for text in &texts {
        let found = store.query(&Query::text(text)).unwrap();
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let inserted = other.insert_unless_duplicate(*text, *text).unwrap();
        assert_eq!(inserted.change, Change::Added, "{text}: {inserted:?}");
    }
    drop((store, other));
    assert!(
        Store::check(folder.path().join("store"))
            .unwrap()
            .is_clean()
    );
}

/// The runs of `k` words of a text, or one run of all words if there are fewer.
fn runs(k: usize, words: &[usize]) -> BTreeSet<Vec<usize>> {
    let all = (!words.is_empty()).then(|| words.to_vec());
    match words
        .windows(k)
        .map(<[usize]>::to_vec)
        .collect::<BTreeSet<_>>()
    {
        runs if runs.is_empty() => all.into_iter().collect(),
        runs => runs,
    }
}

proptest! {
    #[test]
    fn small_sets_are_as_alike_as_their_runs_of_words(
        a in prop::collection::vec(0_usize..4, 0..20),
        b in prop::collection::vec(0_usize..4, 0..20),
        k in 1_u8..6,
    ) {
        const WORDS: [&str; 4] = ["141176", "44790", "beside", "me"];
        // On their own, the words that collide are the same shingle in 32 bits.
        let k = k.max(2);
        let text = |words: &[usize]| words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ");
        let (x, y) = (shingles(k, &text(&a)), shingles(k, &text(&b)));
        let (runs_a, runs_b) = (runs(k.into(), &a), runs(k.into(), &b));
        let both = runs_a.intersection(&runs_b).count();
        let either = runs_a.union(&runs_b).count();
        prop_assert_eq!(x.len(), runs_a.len());
        prop_assert_eq!(x.intersection_len(&y), both);
        prop_assert_eq!(x.jaccard(&y).to_bits(), (both as f64 / either.max(1) as f64).to_bits());
    }
}

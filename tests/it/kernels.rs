//! The steps on plain slices, compared with a store and with brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dedupdb::batch::{
    BandKeys, CandidateQuery, Candidates, KeyWidth, PackedSets, Sketcher, Sketches, Verifier,
    components, texts, verify,
};
use dedupdb::{
    Error, Input, Schema, Store,
    groups::PairQuery,
    sketching::{ShingleSet, Shingling},
};
use proptest::prelude::*;

type Pairs = BTreeMap<(usize, usize), f64>;

fn schema() -> Schema {
    let builder = Schema::builder().shingling(Shingling::Ids);
    let builder = builder.permutations(24).bands(8, 3).threshold(0.5);
    builder.build().unwrap()
}

fn sketches(schema: &Schema, width: KeyWidth, texts: &[impl AsRef<str> + Sync]) -> Sketches {
    Sketcher::new(schema, width).unwrap().sketch_all(texts)
}

fn query<'a>(sketches: &'a Sketches, schema: &Schema) -> CandidateQuery<'a> {
    let query = CandidateQuery::new(sketches.keys(), sketches.sizes(), schema.threshold());
    query.unwrap().most(usize::MAX)
}

/// The candidates that match.
fn matching(sketches: &Sketches, found: &Candidates, threshold: f64) -> Pairs {
    let jaccards = sketches.sets().jaccards(&found.pairs).unwrap();
    let pairs = found.pairs.iter().copied().zip(jaccards);
    pairs.filter(|(_, jaccard)| *jaccard >= threshold).collect()
}

/// The pairs of distinct texts that a store finds, by their places.
fn stored(schema: &Schema, texts: &[String]) -> Pairs {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema).unwrap();
    let mut writer = store.writer().unwrap();
    let inputs = texts.iter().enumerate();
    let inputs = inputs.map(|(place, text)| Input::new(place.to_string(), text.clone()));
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let pairs = store.pairs(PairQuery::new()).unwrap();
    let pairs = pairs.map(|pair| {
        let pair = pair.unwrap();
        let (a, b): (usize, usize) = (pair.key_a.parse().unwrap(), pair.key_b.parse().unwrap());
        ((a.min(b), a.max(b)), pair.jaccard.unwrap())
    });
    pairs.collect()
}

/// The texts of `testdata`, and short ones that are left with 16 shingles or fewer.
fn planted() -> Vec<String> {
    let paths = crate::planted::paths();
    let mut texts: Vec<String> = paths
        .iter()
        .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
        .collect();
    let few: Vec<String> = texts
        .iter()
        .flat_map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            [words.iter().take(9), words.iter().take(18)].map(|words| {
                let words: Vec<&str> = words.copied().collect();
                words.join(" ")
            })
        })
        .collect();
    texts.extend(few);
    let distinct: BTreeSet<String> = texts.into_iter().collect();
    distinct.into_iter().collect()
}

#[test]
fn pairs_are_those_of_a_store() {
    let texts = planted();
    for threshold in [0.8, 0.3] {
        let schema = Schema::builder().threshold(threshold).build().unwrap();
        let expected = stored(&schema, &texts);
        assert!(expected.len() > 20, "{}", expected.len());
        for width in [KeyWidth::Bits32, KeyWidth::Bits64] {
            let sketches = sketches(&schema, width, &texts);
            let found = query(&sketches, &schema).all();
            assert_eq!(found.passed_over, 0);
            assert_eq!(matching(&sketches, &found, threshold), expected);
        }
    }
}

#[test]
fn clusters_are_those_of_a_store() {
    let (schema, texts) = (Schema::default(), planted());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &schema).unwrap();
    let mut writer = store.writer().unwrap();
    let inputs = texts.iter().enumerate();
    let inputs = inputs.map(|(place, text)| Input::new(place.to_string(), text.clone()));
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut expected = BTreeMap::new();
    for cluster in store
        .clusters(dedupdb::groups::ClusterQuery::new())
        .unwrap()
    {
        let cluster = cluster.unwrap();
        let representative: u64 = cluster.representative.parse().unwrap();
        for member in cluster.members {
            expected.insert(member.key.parse::<u64>().unwrap(), representative);
        }
    }
    let sketches = sketches(&schema, KeyWidth::Bits64, &texts);
    let found = query(&sketches, &schema).all();
    let pairs = matching(&sketches, &found, schema.threshold());
    let pairs: Vec<(u64, u64)> = pairs.keys().map(|&(a, b)| (a as u64, b as u64)).collect();
    let found: BTreeMap<u64, u64> = components(&pairs).unwrap().into_iter().collect();
    assert_eq!(found, expected);
}

#[test]
fn keys_and_columns_are_frozen() {
    let texts = ["the night tram runs again from Friday on", ""];
    let schema = Schema::default();
    let wide = sketches(&schema, KeyWidth::Bits64, &texts);
    assert_eq!(wide.keys().row(0).unwrap()[0], 0x89FF_6FB3_8A83_780C);
    assert_eq!(
        wide.keys().row(1).unwrap()[..2],
        [0xFF53_7CA3_CE5C_D93A, 0xC23C_A25F_5B29_7FD2]
    );
    let narrow = sketches(&schema, KeyWidth::Bits32, &texts);
    let upper: Vec<u64> = wide.keys().as_slice().iter().map(|key| key >> 32).collect();
    assert_eq!(narrow.keys().as_slice(), upper);
    let signer = schema.signer().unwrap();
    let set = schema.shingler().unwrap().shingles(texts[0]).unwrap();
    let signature = signer.sign(set.as_slice());
    let mut hashes = Vec::new();
    let bands = schema.bands();
    bands
        .hashes(signature.as_bytes(), schema.slot_width(), &mut hashes)
        .unwrap();
    let hashes: Vec<u64> = hashes.into_iter().map(u64::from).collect();
    assert_eq!(narrow.keys().row(0).unwrap(), hashes);
    assert_eq!(
        &wide.signatures()[..schema.signature_bytes()],
        signature.as_bytes()
    );
    assert_eq!(
        wide.hashes()[0],
        *blake3::hash(texts[0].as_bytes()).as_bytes()
    );
    let columns = wide.into_columns();
    assert_eq!(columns.packed, set.to_packed());
    assert_eq!(
        columns.offsets,
        [0, columns.packed.len() as u64, columns.packed.len() as u64]
    );
}

#[test]
fn texts_that_cannot_be_read_are_named() {
    let many: Vec<&str> = (0..200)
        .map(|at| if at % 67 == 66 { "x" } else { "1 2 3" })
        .collect();
    let sketches = sketches(&schema(), KeyWidth::Bits64, &many);
    let failed: Vec<usize> = sketches.failed().iter().map(|(row, _)| *row).collect();
    assert_eq!(failed, [66, 133]);
    assert!(matches!(sketches.failed()[1].1, Error::InvalidText { .. }));
    assert_eq!(
        (sketches.len(), sketches.sizes()[66], sketches.sizes()[67]),
        (200, 0, 3)
    );
}

#[test]
fn large_buckets_are_bounded_and_what_is_left_out_counts() {
    let texts: Vec<String> = (0..100)
        .map(|last| format!("1 2 3 4 5 6 7 8 {}", 100 + last))
        .collect();
    let schema = schema();
    let sketches = sketches(&schema, KeyWidth::Bits64, &texts);
    let all = query(&sketches, &schema).all();
    assert!(all.pairs.len() > 4900, "{}", all.pairs.len());
    let few = query(&sketches, &schema).most(5).all();
    assert!(few.passed_over > 0 && few.pairs.len() < all.pairs.len());
    let some: BTreeSet<_> = all.pairs.iter().collect();
    assert!(few.pairs.iter().all(|pair| some.contains(pair)));
    let none = query(&sketches, &schema).most(0).all();
    assert!(none.pairs.is_empty() && none.passed_over >= all.pairs.len() as u64);
}

#[test]
fn sizes_may_come_in_any_order() {
    // Each text is the beginning of the longer ones. Short and long ones alternate.
    let sizes = (0..40).map(|at| if at % 2 == 0 { 10 + at } else { 90 - at });
    let text = |size: u32| {
        (0..size)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let texts: Vec<String> = sizes.map(text).collect();
    let schema = schema();
    let sketches = sketches(&schema, KeyWidth::Bits64, &texts);
    let found = query(&sketches, &schema).all();
    let expected = brute_force(&sets(&texts));
    assert!(expected.len() > 200, "{}", expected.len());
    assert_eq!(matching(&sketches, &found, schema.threshold()), expected);
}

#[test]
fn columns_that_cannot_be_are_refused() {
    let is_of = |error: Error, at: usize| match error {
        Error::InvalidColumn { row, .. } => assert_eq!(row, at, "{error}"),
        error => panic!("{error}"),
    };
    is_of(texts(&[0, 2, 1], b"abc").unwrap_err(), 1);
    is_of(texts(&[-1, 2], b"abc").unwrap_err(), 0);
    is_of(texts(&[0, 1, 4], b"abc").unwrap_err(), 1);
    is_of(texts(&[0, 1, 2], b"a\xff").unwrap_err(), 1);
    assert!(texts::<i32>(&[], b"abc").unwrap().is_empty());
    is_of(BandKeys::new(&[1, 2, 3], 2).unwrap_err(), 1);
    is_of(BandKeys::new(&[], 0).unwrap_err(), 0);
    let keys = BandKeys::new(&[1, 2], 1).unwrap();
    is_of(CandidateQuery::new(keys, &[1], 0.5).unwrap_err(), 1);
    for threshold in [0.0, 1.1, f64::NAN] {
        let refused = CandidateQuery::new(keys, &[1, 1], threshold);
        assert!(matches!(refused, Err(Error::InvalidQuery { .. })));
    }
    let query = CandidateQuery::new(keys, &[1, 1], 0.5).unwrap();
    is_of(query.bucket(1, &[0, 2]).unwrap_err(), 2);
    assert!(query.band(1).pairs.is_empty());
    is_of(PackedSets::new(&[1, 2], &[0, 1], b"a").unwrap_err(), 1);
    let sets = PackedSets::new(&[1, u32::MAX], &[0, 1, 3], b"abc").unwrap();
    is_of(sets.jaccards(&[(1, 0)]).unwrap_err(), 1);
    is_of(sets.jaccards(&[(7, 0)]).unwrap_err(), 7);
    assert_eq!(verify((1, b"abc"), (0, b"")), None);
    assert_eq!(verify((0, b""), (0, b"")), Some(0.0));
    assert!(Verifier::new(&schema(), KeyWidth::Bits64, 8).is_err());
}

fn integers() -> impl Strategy<Value = Vec<String>> {
    let set = prop::collection::btree_set(0_u32..24, 0..20);
    let text = set.prop_map(|set| {
        let integers: Vec<String> = set.iter().map(u32::to_string).collect();
        integers.join(" ")
    });
    prop::collection::vec(text, 0..24)
}

/// The shingles of each text.
fn sets(texts: &[String]) -> Vec<ShingleSet> {
    let shingler = schema().shingler().unwrap();
    texts
        .iter()
        .map(|text| shingler.shingles(text).unwrap())
        .collect()
}

/// Compares each set with each. Returns the pairs that share a band and reach the threshold.
fn brute_force(sets: &[ShingleSet]) -> Pairs {
    let schema = schema();
    let (signer, bands) = (schema.signer().unwrap(), schema.bands());
    let mut pairs = Pairs::new();
    for (a, one) in sets.iter().enumerate() {
        for (b, other) in sets.iter().enumerate().skip(a + 1) {
            let (x, y) = (signer.sign(one.as_slice()), signer.sign(other.as_slice()));
            let shared = bands.shared(x.as_bytes(), y.as_bytes(), schema.slot_width()) > Some(0);
            let jaccard = one.jaccard(other);
            if shared && jaccard >= schema.threshold() {
                pairs.insert((a, b), jaccard);
            }
        }
    }
    pairs
}

proptest! {
    #[test]
    fn candidates_hold_all_that_match_and_each_once(texts in integers()) {
        let schema = schema();
        let sketches = sketches(&schema, KeyWidth::Bits64, &texts);
        let query = query(&sketches, &schema);
        let all = query.all();
        prop_assert!(all.pairs.is_sorted_by(|a, b| a < b));
        prop_assert!(all.pairs.iter().all(|(a, b)| a < b));
        prop_assert_eq!(matching(&sketches, &all, 0.5), brute_force(&sets(&texts)));

        // Band by band, and bucket by bucket, with rows in another order and twice.
        let mut by_band = Vec::new();
        let mut by_bucket = Vec::new();
        let keys = sketches.keys();
        for band in 0..keys.bands() {
            by_band.extend(query.band(band).pairs);
            let mut buckets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for row in (0..keys.len()).rev().chain(0..keys.len()) {
                buckets.entry(keys.row(row).unwrap()[band]).or_default().push(row);
            }
            for (key, rows) in buckets {
                by_bucket.extend(query.bucket(key, &rows).unwrap().pairs);
            }
        }
        by_band.sort_unstable();
        by_bucket.sort_unstable();
        prop_assert_eq!(&by_band, &all.pairs);
        prop_assert_eq!(&by_bucket, &all.pairs);
    }

    #[test]
    fn keys_that_came_together_give_the_same_pairs(texts in integers()) {
        let schema = schema();
        let sketches = sketches(&schema, KeyWidth::Bits64, &texts);
        let expected = query(&sketches, &schema).all();

        // A row for each key of each text, in the order of the keys.
        let (keys, bands) = (sketches.keys(), sketches.keys().bands());
        let mut postings: Vec<(u64, usize)> = keys.as_slice().iter().copied().zip(0..).collect();
        postings.sort_unstable();
        let column: Vec<u64> = postings.iter().map(|&(key, _)| key).collect();
        let text = |row: usize| postings[row].1 / bands;
        let sizes: Vec<u32> = (0..column.len()).map(|row| sketches.sizes()[text(row)]).collect();
        let found = CandidateQuery::new(BandKeys::new(&column, 1).unwrap(), &sizes, 0.5).unwrap();
        let found = found.most(usize::MAX).all().pairs;
        let pairs = found.iter().map(|&(a, b)| (text(a).min(text(b)), text(a).max(text(b))));
        let pairs: BTreeSet<(usize, usize)> = pairs.collect();
        prop_assert_eq!(pairs.into_iter().collect::<Vec<_>>(), expected.pairs);
    }

    #[test]
    fn sketches_do_not_depend_on_how_texts_are_divided(texts in integers(), cut in 0_usize..24) {
        let schema = schema();
        let whole = sketches(&schema, KeyWidth::Bits64, &texts).into_columns();
        let (one, other) = texts.split_at(cut.min(texts.len()));
        let one = sketches(&schema, KeyWidth::Bits64, one).into_columns();
        let other = sketches(&schema, KeyWidth::Bits64, other).into_columns();
        prop_assert_eq!(whole.hashes, [one.hashes, other.hashes].concat());
        prop_assert_eq!(whole.sizes, [one.sizes, other.sizes].concat());
        prop_assert_eq!(whole.signatures, [one.signatures, other.signatures].concat());
        prop_assert_eq!(whole.keys, [one.keys, other.keys].concat());
        prop_assert_eq!(whole.packed, [one.packed, other.packed].concat());
    }

    #[test]
    fn packed_sets_compare_as_sets_do(texts in integers()) {
        let sets = sets(&texts);
        let sketches = sketches(&schema(), KeyWidth::Bits64, &texts);
        let packed = sketches.sets();
        let places = 0..sets.len();
        let pairs: Vec<(usize, usize)> =
            places.clone().flat_map(|a| places.clone().map(move |b| (a, b))).collect();
        let expected: Vec<f64> = pairs.iter().map(|&(a, b)| sets[a].jaccard(&sets[b])).collect();
        prop_assert_eq!(packed.jaccards(&pairs).unwrap(), expected);
        for (row, set) in sets.iter().enumerate() {
            prop_assert_eq!(&packed.shingles(row).unwrap(), set);
        }
    }

    #[test]
    fn buckets_of_shingles_give_each_pair_once(texts in integers()) {
        let schema = schema();
        let mut found = Pairs::new();
        for band in 0..schema.bands().bands() {
            let verifier = Verifier::new(&schema, KeyWidth::Bits64, band).unwrap();
            let sets = sets(&texts).into_iter();
            let members: Vec<_> = sets.map(|set| verifier.member(set)).collect();
            for (a, one) in members.iter().enumerate() {
                for (b, other) in members.iter().enumerate().skip(a + 1) {
                    if let Some(jaccard) = verifier.verify(one, other) {
                        prop_assert_eq!(found.insert((a, b), jaccard), None);
                    }
                }
            }
        }
        prop_assert_eq!(found, brute_force(&sets(&texts)));
    }

    #[test]
    fn components_are_those_of_all_pairs(
        pairs in prop::collection::vec((0_u64..40, 0_u64..40), 0..60),
        shift in any::<u64>(),
        cut in 0_usize..60,
    ) {
        // Ids that are far apart, in another order.
        let pairs: Vec<(u64, u64)> =
            pairs.iter().map(|&(a, b)| (a.wrapping_mul(shift | 1), b.wrapping_mul(shift | 1))).collect();
        let mut names: BTreeMap<u64, u64> = pairs.iter().flat_map(|&(a, b)| [(a, a), (b, b)]).collect();
        for _ in 0..names.len() {
            for (a, b) in &pairs {
                let low = names[a].min(names[b]);
                names.insert(*a, low);
                names.insert(*b, low);
            }
        }
        let expected: Vec<(u64, u64)> = names.into_iter().collect();
        prop_assert_eq!(&components(&pairs).unwrap(), &expected);
        let (one, other) = pairs.split_at(cut.min(pairs.len()));
        let parts = [components(one).unwrap(), components(other).unwrap()].concat();
        prop_assert_eq!(&components(&parts).unwrap(), &expected);
    }
}

//! The steps on plain slices, compared with a store and with brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dedupdb::batch::{KeyWidth, Sketcher, TextSketch, components, verify};
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

fn sketches(schema: &Schema, width: KeyWidth, texts: &[impl AsRef<str> + Sync]) -> Vec<TextSketch> {
    let sketches = Sketcher::new(schema, width).unwrap().sketch_all(texts);
    sketches.into_iter().map(Result::unwrap).collect()
}

/// The pairs that share the key of a band and match.
fn matching(sketches: &[TextSketch], threshold: f64) -> Pairs {
    let mut pairs = Pairs::new();
    for (b, other) in sketches.iter().enumerate() {
        for (a, one) in sketches[..b].iter().enumerate() {
            let mut keys = one.keys.iter().zip(&other.keys);
            let jaccard = verify((one.size, &one.packed), (other.size, &other.packed)).unwrap();
            if keys.any(|(a, b)| a == b) && jaccard >= threshold {
                pairs.insert((a, b), jaccard);
            }
        }
    }
    pairs
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
            assert_eq!(matching(&sketches, threshold), expected);
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
    let pairs = matching(&sketches, schema.threshold());
    let pairs: Vec<(u64, u64)> = pairs.keys().map(|&(a, b)| (a as u64, b as u64)).collect();
    let found: BTreeMap<u64, u64> = components(&pairs).unwrap().into_iter().collect();
    assert_eq!(found, expected);
}

#[test]
fn keys_and_columns_are_frozen() {
    let texts = ["the night tram runs again from Friday on", ""];
    let schema = Schema::default();
    let wide = sketches(&schema, KeyWidth::Bits64, &texts);
    assert_eq!(wide[0].keys[0], 0x89FF_6FB3_8A83_780C);
    assert_eq!(
        wide[1].keys[..2],
        [0xFF53_7CA3_CE5C_D93A, 0xC23C_A25F_5B29_7FD2]
    );
    let narrow = sketches(&schema, KeyWidth::Bits32, &texts);
    for (wide, narrow) in wide.iter().zip(&narrow) {
        let upper: Vec<u64> = wide.keys.iter().map(|key| key >> 32).collect();
        assert_eq!(narrow.keys, upper);
    }
    let signer = schema.signer().unwrap();
    let set = schema.shingler().unwrap().shingles(texts[0]).unwrap();
    let signature = signer.sign(set.as_slice());
    let mut hashes = Vec::new();
    let bands = schema.bands();
    bands
        .hashes(signature.as_bytes(), schema.slot_width(), &mut hashes)
        .unwrap();
    let hashes: Vec<u64> = hashes.into_iter().map(u64::from).collect();
    assert_eq!(narrow[0].keys, hashes);
    assert_eq!(wide[0].hash, *blake3::hash(texts[0].as_bytes()).as_bytes());
    assert_eq!((wide[0].size, &wide[0].packed), (4, &set.to_packed()));
    assert_eq!((wide[1].size, &*wide[1].packed), (0, &[][..]));
}

#[test]
fn texts_that_cannot_be_read_are_errors_in_their_places() {
    let many: Vec<&str> = (0..200)
        .map(|at| if at % 67 == 66 { "x" } else { "1 2 3" })
        .collect();
    let sketcher = Sketcher::new(&schema(), KeyWidth::Bits64).unwrap();
    let sketches = sketcher.sketch_all(&many);
    let failed = (0..200).filter(|&row| sketches[row].is_err());
    assert_eq!(failed.collect::<Vec<_>>(), [66, 133]);
    assert!(matches!(sketches[133], Err(Error::InvalidText { .. })));
    assert_eq!(sketches[67].as_ref().unwrap().size, 3);
}

#[test]
fn what_cannot_be_is_refused() {
    assert_eq!(verify((1, b"abc"), (0, b"")), None);
    assert_eq!(verify((0, b""), (0, b"")), Some(0.0));
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
    fn sketches_have_the_pairs_that_their_sets_have(texts in integers()) {
        let sketches = sketches(&schema(), KeyWidth::Bits64, &texts);
        prop_assert_eq!(matching(&sketches, 0.5), brute_force(&sets(&texts)));
        for (sketch, set) in sketches.iter().zip(sets(&texts)) {
            let unpacked = ShingleSet::from_packed(&sketch.packed, sketch.size as usize);
            prop_assert_eq!(unpacked, Some(set));
        }
    }

    #[test]
    fn sketches_do_not_depend_on_how_texts_are_divided(texts in integers(), cut in 0_usize..24) {
        let schema = schema();
        let whole = sketches(&schema, KeyWidth::Bits64, &texts);
        let (one, other) = texts.split_at(cut.min(texts.len()));
        let one = sketches(&schema, KeyWidth::Bits64, one);
        let other = sketches(&schema, KeyWidth::Bits64, other);
        prop_assert_eq!(whole, [one, other].concat());
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

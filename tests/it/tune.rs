//! What a sample of a store says about shapes of bands.

use std::collections::BTreeSet;

use dedupdb::{
    Input, Schema, Store,
    sketching::{Bands, Shingling, SlotWidth},
    upkeep::{Expected, Sample, Shape, Tuning},
};

const THRESHOLD: f64 = 0.6;

/// Some of the integers below `limit` counted from `first`, each with a probability of
/// `share` / 16.
fn some(state: &mut u64, first: u64, limit: u64, share: u64) -> Vec<u64> {
    let drawn = (first..first + limit).filter(|_| {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        (*state >> 60) < share
    });
    drawn.collect()
}

/// Sets of integers. All of them are a little similar, and those of one of twelve topics much more so.
fn sets(count: u64) -> Vec<BTreeSet<u64>> {
    let mut state = 5;
    let set = |number: u64| {
        let mut set = some(&mut state, 0, 150, 3);
        set.extend(some(&mut state, 1000 * (1 + number % 12), 60, 11));
        set.push(1_000_000 + number);
        set.into_iter().collect()
    };
    (0..count).map(set).collect()
}

fn store(folder: &std::path::Path, sets: &[BTreeSet<u64>], seed: u64, keep: bool) -> Store {
    let schema = Schema::builder()
        .shingling(Shingling::Ids)
        .seed(seed)
        .keep_shingles(keep)
        .build()
        .unwrap();
    let store = Store::create(folder.join(format!("{seed} {keep}")), &schema).unwrap();
    let mut writer = store.writer().unwrap();
    let input = |(number, set): (usize, &BTreeSet<u64>)| {
        let ids: Vec<String> = set.iter().map(u64::to_string).collect();
        Input::new(number.to_string(), ids.join(" "))
    };
    writer
        .add_all(sets.iter().enumerate().map(input).collect())
        .unwrap();
    writer.commit().unwrap();
    drop(writer);
    store
}

/// The matches of an average query, those that are found, and its false candidates, from every pair.
fn truth(sets: &[BTreeSet<u64>], bands: Bands) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (index, one) in sets.iter().enumerate() {
        for other in &sets[..index] {
            let common = one.intersection(other).count();
            let jaccard = common as f64 / (one.len() + other.len() - common) as f64;
            let chance = bands.probability(jaccard, SlotWidth::Bits16);
            if jaccard >= THRESHOLD {
                sums[0] += 1.0;
                sums[1] += chance;
            } else {
                sums[2] += chance;
            }
        }
    }
    sums.map(|sum| 2.0 * sum / sets.len() as f64)
}

fn close(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected
}

fn shapes() -> [Bands; 4] {
    [(30, 1), (20, 2), (30, 4), (17, 7)].map(|(b, r)| Bands::new(b, r, 128).unwrap())
}

#[test]
fn a_sample_of_all_contents_gives_what_all_pairs_give() {
    let folder = tempfile::tempdir().unwrap();
    let sets = sets(150);
    let samples: Vec<Sample> = (0..6)
        .map(|seed| store(folder.path(), &sets, seed, true).sample().unwrap())
        .collect();
    for sample in &samples {
        assert_eq!((sample.contents(), sample.queries()), (150, 150));
        assert_eq!(sample.pairs(), 150 * 149);
        assert_eq!(sample.at_least(0.0), sample.pairs());
        assert!(sample.exact() < sample.pairs() / 2);
    }
    for bands in shapes() {
        let expected: Vec<Expected> = samples
            .iter()
            .map(|s| s.expected(bands, THRESHOLD))
            .collect();
        let mean = |of: fn(&Expected) -> f64| expected.iter().map(of).sum::<f64>() / 6.0;
        let [matches, found, wrong] = truth(&sets, bands);
        assert!(close(mean(|e| e.matches), matches, 1e-9), "{bands}");
        assert!(close(mean(|e| e.found), found, 1e-9), "{bands}");
        let measured = mean(|e| e.false_candidates);
        assert!(
            close(measured, wrong, 0.1),
            "{bands}: {measured}, not {wrong}"
        );
        assert!(expected.iter().all(|e| e.error == 0.0));
    }
}

/// If hardly any pair is compared exactly, the power of an estimated similarity would be half as large again as the
/// figure.
#[test]
fn pairs_that_have_little_in_common_are_not_overrated() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 7;
    let sets: Vec<BTreeSet<u64>> = (0..120)
        .map(|_| some(&mut state, 0, 400, 2).into_iter().collect())
        .collect();
    let bands = shapes()[2];
    let wrong = truth(&sets, bands)[2];
    let measured = (0..8).map(|seed| {
        let sample = store(folder.path(), &sets, seed, true).sample().unwrap();
        assert!(sample.exact() < sample.pairs() / 100);
        sample.expected(bands, THRESHOLD).false_candidates
    });
    let measured = measured.sum::<f64>() / 8.0;
    assert!(close(measured, wrong, 0.1), "{measured}, not {wrong}");
}

#[test]
fn a_sample_of_some_contents_is_within_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let sets = sets(900);
    let sample = store(folder.path(), &sets, 1, true).sample().unwrap();
    assert_eq!((sample.contents(), sample.queries()), (900, 256));
    for bands in shapes() {
        let wrong = truth(&sets, bands)[2];
        let expected = sample.expected(bands, THRESHOLD);
        let away = (expected.false_candidates - wrong).abs();
        // One draw of the permutations has its own error.
        assert!(
            away < 4.0 * expected.error + 0.1 * wrong,
            "{bands}: {expected:?}, not {wrong}"
        );
        let grown = sample.clone().grown_to(8991).expected(bands, THRESHOLD);
        assert!(close(
            grown.false_candidates,
            expected.false_candidates * 10.0,
            1e-9
        ));
    }
}

#[test]
fn without_shingles_the_signatures_must_do() {
    let folder = tempfile::tempdir().unwrap();
    let sets = sets(200);
    let sample = store(folder.path(), &sets, 3, false).sample().unwrap();
    assert_eq!(sample.exact(), 0);
    let bands = shapes()[2];
    let expected = sample.expected(bands, THRESHOLD);
    let [matches, _, wrong] = truth(&sets, bands);
    let (all, expected) = (
        wrong + matches,
        expected.false_candidates + expected.matches,
    );
    assert!(close(expected, all, 0.15), "{expected}, not {all}");
}

#[test]
fn a_sample_does_not_depend_on_order_and_knows_what_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let sets = sets(60);
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    let backwards: Vec<_> = sets.iter().rev().cloned().collect();
    let one = store(&one, &sets, 2, true);
    let other = store(&other, &backwards, 2, true);
    let mut writer = other.writer().unwrap();
    writer.add("no token", "").unwrap();
    writer.add("gone", "1 2 3").unwrap();
    writer.commit().unwrap();
    writer.remove("gone").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let (one, other) = (one.sample().unwrap(), other.sample().unwrap());
    assert_eq!(one.contents(), other.contents());
    for bands in shapes() {
        let expected = [&one, &other].map(|s| s.expected(bands, THRESHOLD).false_candidates);
        assert!(close(expected[0], expected[1], 1e-9));
    }
}

#[test]
fn a_store_of_one_text_or_none_has_no_false_candidates() {
    let folder = tempfile::tempdir().unwrap();
    for count in [0, 1] {
        let sample = store(folder.path(), &sets(count), count, true)
            .sample()
            .unwrap();
        assert_eq!(sample.pairs(), 0);
        let expected = sample.expected(shapes()[0], THRESHOLD);
        assert_eq!((expected.matches, expected.found), (0.0, 0.0));
        assert_eq!((expected.false_candidates, expected.error), (0.0, 0.0));
    }
}

#[test]
fn without_a_sample_the_best_shape_is_the_one_that_would_be_chosen() {
    for (permutations, threshold, recall) in [(128, 0.8, 0.98), (256, 0.5, 0.9), (64, 0.9, 0.999)] {
        let mut tuning = Tuning::of(&Schema::default());
        (tuning.threshold, tuning.recall) = (threshold, recall);
        tuning.permutations = permutations;
        let shapes = tuning.shapes(None).unwrap();
        let best = Shape::best(&shapes).unwrap();
        let chosen = Bands::choose(permutations, SlotWidth::Bits16, threshold, recall).unwrap();
        assert_eq!(best.bands, chosen);
        assert!(shapes.iter().all(|shape| shape.recall >= recall));
    }
}

//! Laws of band shapes, their hashes and their choice.

use std::collections::HashSet;

use dedupdb::{
    Error,
    sketching::{Bands, SlotWidth},
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::sketch::{Shingles, signer};

const WIDTHS: [SlotWidth; 3] = [SlotWidth::Bits8, SlotWidth::Bits16, SlotWidth::Bits32];

fn hashes(shape: Bands, row: &[u8], width: SlotWidth) -> Vec<u32> {
    let mut hashes = Vec::new();
    shape.hashes(row, width, &mut hashes).unwrap();
    hashes
}

/// Two rows of at most 60 slots, most of which agree.
fn rows(width: SlotWidth) -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    vec(
        (any::<u8>(), prop::bool::weighted(0.05)),
        60 * width.bytes(),
    )
    .prop_map(|bytes| {
        let other = bytes
            .iter()
            .map(|(byte, changed)| byte ^ u8::from(*changed))
            .collect();
        (bytes.into_iter().map(|(byte, _)| byte).collect(), other)
    })
}

fn any_rows() -> impl Strategy<Value = (SlotWidth, (Vec<u8>, Vec<u8>))> {
    prop::sample::select(WIDTHS.to_vec()).prop_flat_map(|width| (Just(width), rows(width)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bands_hash_alike_exactly_where_their_slots_agree(
        (width, (a, b)) in any_rows(),
        rows in 1_u32..=12,
    ) {
        let shape = Bands::new(60 / rows, rows, 60).unwrap();
        let band = rows as usize * width.bytes();
        let (a_hashes, b_hashes) = (hashes(shape, &a, width), hashes(shape, &b, width));
        prop_assert_eq!(a_hashes.len(), shape.bands() as usize);
        let (a_row, mut shared) = (a.clone(), 0);
        for (i, (a, b)) in a.chunks_exact(band).zip(b.chunks_exact(band)).enumerate() {
            prop_assert_eq!(a_hashes[i] == b_hashes[i], a == b);
            let number = u32::try_from(i).unwrap();
            prop_assert_eq!(Some(a_hashes[i]), shape.hash(&a_row, width, number));
            shared += u32::from(a == b);
        }
        prop_assert_eq!(shape.shared(&a, &b, width), Some(shared));
        let used = shape.used() as usize * width.bytes();
        prop_assert_eq!(shape.shared(&a[..used - 1], &b, width), None);
        prop_assert_eq!(shape.hash(&a[..used - 1], width, shape.bands() - 1), None);
        prop_assert_eq!(shape.hash(&a, width, u32::MAX), None);
        prop_assert_eq!(shape.hashes(&a[..used - 1], width, &mut Vec::new()), None);
        prop_assert_eq!(shape.keys(&[], width, &mut Vec::new()), None);
    }

    #[test]
    fn more_bands_of_the_same_rows_lose_no_candidate(
        (width, (a, b)) in any_rows(),
        (fewer, more, rows) in (1_u32..=12)
            .prop_flat_map(|rows| (1..=60 / rows, 1..=60 / rows, Just(rows)))
            .prop_map(|(one, other, rows)| (one.min(other), one.max(other), rows)),
        jaccard in 0.0..=1.0,
    ) {
        let (few, many) =
            (Bands::new(fewer, rows, 60).unwrap(), Bands::new(more, rows, 60).unwrap());
        let (short, long) = (hashes(few, &a, width), hashes(many, &a, width));
        prop_assert_eq!(&short[..], &long[..short.len()]);
        prop_assert!(few.shared(&a, &b, width) <= many.shared(&a, &b, width));
        let slack = 1e-12;
        prop_assert!(few.probability(jaccard, width) <= many.probability(jaccard, width) + slack);
    }

    #[test]
    fn a_hash_depends_on_its_own_band_alone(
        (width, (mut row, other)) in any_rows(),
        rows in 1_u32..=12,
    ) {
        let shape = Bands::new(60 / rows, rows, 60).unwrap();
        let band = rows as usize * width.bytes();
        let before = shape.hash(&row, width, 1);
        // The band may be the last thing in the row, or be followed by anything.
        prop_assert_eq!(shape.hash(&row[..2 * band], width, 1), before);
        row[2 * band..].copy_from_slice(&other[2 * band..]);
        row[..band].copy_from_slice(&other[..band]);
        prop_assert_eq!(shape.hash(&row, width, 1), before);
    }

    #[test]
    fn shapes_read_as_they_are_shown(bands in 1_u32..=64, rows in 1_u32..=64) {
        let shape = Bands::new(bands, rows, 4096).unwrap();
        prop_assert_eq!(shape.to_string().parse::<Bands>().unwrap(), shape);
        prop_assert_eq!(shape.used(), bands * rows);
    }
}

#[test]
fn band_hashes_are_frozen() {
    let row: Vec<u8> = (0..28).collect();
    let published = |bands, rows, width| hashes(Bands::new(bands, rows, 28).unwrap(), &row, width);
    assert_eq!(
        published(2, 7, SlotWidth::Bits16),
        [0xC79F_5820, 0x00F5_6573]
    );
    let short = [0x9169_EBCF, 0xFA4E_E667, 0x460A_4776, 0xB7EC_DAA2];
    assert_eq!(published(4, 3, SlotWidth::Bits8), short);
    let words = [0x1581_6EB6, 0x24C8_A361, 0xE5C7_0B0E];
    assert_eq!(published(3, 2, SlotWidth::Bits32), words);
}

#[test]
fn band_hashes_spread_over_all_bits() {
    let shape = Bands::new(1, 7, 7).unwrap();
    // Rows that differ little: counters in the first and in the last slot.
    let hashes: Vec<u32> = (0_u16..20_000)
        .flat_map(|i| {
            let [low, high] = i.to_le_bytes();
            let mut rows = [[0; 14], [1; 14]];
            [rows[0][0], rows[0][1], rows[1][12], rows[1][13]] = [low, high, low, high];
            rows.map(|row| shape.hash(&row, SlotWidth::Bits16, 0).unwrap())
        })
        .collect();
    // 40 000 draws of 2^32 collide 0.19 times in expectation.
    let distinct: HashSet<u32> = hashes.iter().copied().collect();
    assert!(distinct.len() >= hashes.len() - 3);
    for bit in 0..32 {
        let ones = hashes.iter().filter(|&hash| hash >> bit & 1 == 1).count();
        // Five standard deviations of a fair coin: sqrt(40 000) / 2 = 100.
        assert!(ones.abs_diff(20_000) < 500, "bit {bit} is set {ones} times");
    }
}

#[test]
fn pairs_meet_as_often_as_the_curve_says() {
    let (shape, mut shingles) = (Bands::new(17, 7, 128).unwrap(), Shingles(17));
    for (shared, own) in [(20, 10), (20, 5), (20, 3), (18, 1)] {
        let jaccard = f64::from(shared) / f64::from(shared + 2 * own);
        let (mut met, mut trials) = (0_u32, 0_u32);
        for seed in 0..40 {
            let signer = signer(seed, 4096, SlotWidth::Bits16);
            let pair = shingles.pair(shared, own);
            let [a, b] = pair.map(|set| signer.sign(&set));
            for (a, b) in a.as_bytes().chunks(256).zip(b.as_bytes().chunks(256)) {
                met += u32::from(shape.shared(a, b, SlotWidth::Bits16) > Some(0));
                trials += 1;
            }
        }
        let expected = shape.probability(jaccard, SlotWidth::Bits16);
        let rate = f64::from(met) / f64::from(trials);
        let deviation = (expected * (1.0 - expected) / f64::from(trials)).sqrt();
        assert!(
            (rate - expected).abs() < 3.5 * deviation,
            "J = {jaccard}: {rate} of pairs met, {expected} expected"
        );
    }
}

#[test]
fn chance_agreement_raises_the_curve() {
    let shape = Bands::new(128, 1, 128).unwrap();
    assert!(shape.probability(0.0, SlotWidth::Bits32) < 1e-6);
    let chance = 1.0 - (255.0_f64 / 256.0).powi(128);
    assert!((shape.probability(0.0, SlotWidth::Bits8) - chance).abs() < 1e-12);
    for width in WIDTHS {
        assert!((shape.probability(1.0, width) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_published_recalls() {
    for (bands, rows, recall) in [(16, 8, 0.947), (18, 7, 0.9855), (9, 13, 0.399)] {
        let shape = Bands::new(bands, rows, 128).unwrap();
        let found = shape.probability(0.8, SlotWidth::Bits16);
        assert!((found - recall).abs() < 5e-4, "{shape}: {found}");
    }
}

#[test]
fn the_choice_is_the_least_work_of_all_shapes_that_reach_the_recall() {
    for (permutations, threshold, recall) in [
        (128, 0.8, 0.98),
        (128, 0.5, 0.9),
        (64, 0.9, 0.999),
        (20, 0.7, 0.5),
        (100, 1.0, 0.9),
    ] {
        let width = SlotWidth::Bits16;
        let chosen = Bands::choose(permutations, width, threshold, recall).unwrap();
        assert!(chosen.used() <= permutations);
        assert!(chosen.probability(threshold, width) >= recall);
        let least = chosen.false_work(threshold, width);
        for rows in 1..=permutations {
            for bands in 1..=permutations / rows {
                let shape = Bands::new(bands, rows, permutations).unwrap();
                let reaches = shape.probability(threshold, width) >= recall;
                assert!(
                    !reaches || shape.false_work(threshold, width) >= least,
                    "{shape}"
                );
            }
        }
    }
}

#[test]
fn shapes_worth_weighing_reach_the_recall_with_no_band_to_spare() {
    let width = SlotWidth::Bits16;
    for (permutations, threshold, recall) in [(128, 0.8, 0.98), (77, 0.5, 0.9), (20, 0.7, 0.5)] {
        let shapes = Bands::reaching(permutations, width, threshold, recall).unwrap();
        assert!(shapes.is_sorted_by_key(Bands::rows));
        for shape in &shapes {
            assert!(shape.used() <= permutations);
            assert!(shape.probability(threshold, width) >= recall);
            if shape.bands() > 1 {
                let fewer = Bands::new(shape.bands() - 1, shape.rows(), permutations).unwrap();
                assert!(fewer.probability(threshold, width) < recall, "{shape}");
            }
        }
        let chosen = Bands::choose(permutations, width, threshold, recall).unwrap();
        assert!(shapes.contains(&chosen));
    }
}

#[test]
fn the_textbook_shape_is_steepest_next_to_the_threshold() {
    for (permutations, threshold) in [(128, 0.8), (100, 0.5), (256, 0.95), (1, 0.3), (64, 1.0)] {
        let shape = Bands::textbook(permutations, threshold).unwrap();
        assert!(shape.used() <= permutations);
        for rows in 1..=permutations {
            let other = Bands::new(permutations / rows, rows, permutations).unwrap();
            let away = |shape: Bands| (shape.midpoint() - threshold).abs();
            assert!(away(other) >= away(shape), "{other}");
        }
    }
    assert!(Bands::textbook(0, 0.8).is_err() && Bands::textbook(128, 0.0).is_err());
}

#[test]
fn chosen_shapes_are_frozen() {
    for (permutations, threshold, recall, expected) in [
        (64, 0.8, 0.98, "10x5"),
        (128, 0.8, 0.98, "17x7"),
        (256, 0.8, 0.98, "28x9"),
        (512, 0.8, 0.98, "44x11"),
        (4096, 0.8, 0.98, "44x11"),
        (128, 0.5, 0.98, "30x3"),
        (128, 0.9, 0.98, "11x11"),
        (128, 0.8, 0.999, "18x5"),
        (128, 1.0, 0.98, "1x128"),
        (1, 0.9, 0.5, "1x1"),
    ] {
        let shape = Bands::choose(permutations, SlotWidth::Bits16, threshold, recall).unwrap();
        assert_eq!(
            shape.to_string(),
            expected,
            "{permutations} at {threshold} and {recall}"
        );
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> (&'static str, String) {
    match result.unwrap_err() {
        Error::InvalidSchema { parameter, reason } => (parameter, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shapes_that_do_not_fit_say_what_would() {
    let reason = |bands, rows, permutations| {
        let (parameter, reason) = refusal(Bands::new(bands, rows, permutations));
        assert_eq!(parameter, "bands");
        reason
    };
    assert_eq!(
        reason(20, 7, 128),
        "20 bands of 7 rows need 140 permutations and there are 128: \
         at most 18 bands of 7 rows, or 20 bands of 6 rows, fit"
    );
    assert_eq!(
        reason(1, 200, 128),
        "1 band of 200 rows need 200 permutations and there are 128: 1 band of 128 rows fit"
    );
    assert_eq!(
        reason(200, 200, 128),
        "200 bands of 200 rows need 40000 permutations and there are 128: \
         bands times rows may be at most 128"
    );
    assert_eq!(
        reason(0, 7, 128),
        "0 bands of 7 rows hold no slot: both must be at least 1"
    );
    assert!(reason(u32::MAX, u32::MAX, 128).contains("18446744065119617025"));
    for text in [
        "", "18", "18x", "x7", "18x7x2", "18X7", "-1x7", "0x7", "16385x1",
    ] {
        assert_eq!(refusal(text.parse::<Bands>()).0, "bands", "{text:?}");
    }
}

#[test]
fn choices_out_of_range_are_named() {
    let refused = |permutations, threshold, recall| {
        refusal(Bands::choose(
            permutations,
            SlotWidth::Bits16,
            threshold,
            recall,
        ))
        .0
    };
    assert_eq!(
        [refused(0, 0.8, 0.9), refused(16_385, 0.8, 0.9)],
        ["permutations"; 2]
    );
    assert_eq!(
        [0.0, -0.1, 1.1, f64::NAN].map(|t| refused(128, t, 0.9)),
        ["threshold"; 4]
    );
    assert_eq!(
        [0.0, 1.0, -0.1, f64::NAN].map(|r| refused(128, 0.8, r)),
        ["recall"; 4]
    );
}

#[test]
fn a_recall_out_of_reach_says_what_is_in_reach() {
    let (parameter, reason) = refusal(Bands::choose(16, SlotWidth::Bits32, 0.1, 0.9));
    assert_eq!(parameter, "recall");
    // 1 - 0.9^16 = 0.81469..., and 1 - 0.9^22 is the first above 0.9.
    assert_eq!(
        reason,
        "0.9 at threshold 0.1 is out of reach: with 16 permutations, at most 0.814697 is found; \
         22 permutations would do"
    );
    assert!(Bands::choose(22, SlotWidth::Bits32, 0.1, 0.9).is_ok());
    let (_, reason) = refusal(Bands::choose(128, SlotWidth::Bits32, 0.0001, 0.9));
    assert!(
        reason.ends_with("nor would 16384 permutations do"),
        "{reason}"
    );
}

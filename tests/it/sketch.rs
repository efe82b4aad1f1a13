//! Laws of signatures and of the estimates from them.

use dedupdb::{
    Error,
    sketching::{Estimate, Family, Signature, Signer, SlotWidth, agreeing},
};
use proptest::collection::vec;
use proptest::prelude::*;

const WIDTHS: [SlotWidth; 3] = [SlotWidth::Bits8, SlotWidth::Bits16, SlotWidth::Bits32];

pub(crate) fn signer(seed: u64, permutations: u32, width: SlotWidth) -> Signer {
    signer_of(Family::Affine32, seed, permutations, width)
}

fn signer_of(family: Family, seed: u64, permutations: u32, width: SlotWidth) -> Signer {
    Signer::new(family, seed, permutations, width).unwrap()
}

/// A stream of well-mixed shingle hashes: the output of `SplitMix64`.
pub(crate) struct Shingles(pub(crate) u64);

impl Shingles {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap()
    }

    /// Two sets with `shared` shingles in both and `own` in each alone.
    pub(crate) fn pair(&mut self, shared: u32, own: u32) -> [Vec<u32>; 2] {
        let common: Vec<u32> = (0..shared).map(|_| self.next()).collect();
        [0, 1].map(|_| {
            let mut set = common.clone();
            set.extend((0..own).map(|_| self.next()));
            set
        })
    }
}

/// The minimum of a slot, mixed as it is before bits are cut from it.
fn mixed(slot: u32, minimum: u32) -> u32 {
    let x = minimum ^ 0x9E37_79B9_u32.wrapping_mul(slot + 1);
    let x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

fn width() -> impl Strategy<Value = SlotWidth> {
    prop::sample::select(WIDTHS.to_vec())
}

fn family() -> impl Strategy<Value = Family> {
    prop::sample::select(Family::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn order_and_repetition_do_not_matter(
        (set, shuffled) in vec(any::<u32>(), 0..60)
            .prop_flat_map(|set| (Just(set.clone()), Just(set).prop_shuffle())),
        family in family(),
        seed: u64,
        permutations in 1_u32..150,
        width in width(),
    ) {
        let signer = signer_of(family, seed, permutations, width);
        let mut repeated = shuffled.clone();
        repeated.extend(&shuffled[..shuffled.len() / 2]);
        prop_assert_eq!(signer.sign(&set), signer.sign(&repeated));
    }

    #[test]
    fn a_slot_is_the_minimum_or_the_low_bits_of_its_mixture(
        set in vec(any::<u32>(), 0..60),
        family in family(),
        seed: u64,
        permutations in 1_u32..150,
        width in width(),
    ) {
        let signer = signer_of(family, seed, permutations, width);
        let (signature, minima) = (signer.sign(&set), signer.minima(&set));
        prop_assert_eq!(signature.len(), minima.len());
        prop_assert_eq!(signature.as_bytes().len(), signer.signature_bytes());
        let mask = u32::MAX >> (32 - 8 * width.bytes());
        for (i, minimum) in minima.iter().enumerate() {
            let expected = match width {
                SlotWidth::Bits32 => *minimum,
                _ => mixed(u32::try_from(i).unwrap(), *minimum) & mask,
            };
            prop_assert_eq!(signature.slot(i), Some(expected));
        }
        let bytes = signature.as_bytes().to_vec();
        prop_assert_eq!(Signature::from_bytes(width, bytes), Some(signature));
    }

    #[test]
    fn the_minima_of_a_union_are_the_slotwise_minima(
        a in vec(any::<u32>(), 0..60),
        b in vec(any::<u32>(), 0..60),
        family in family(),
        seed: u64,
    ) {
        let signer = signer_of(family, seed, 130, SlotWidth::Bits16);
        let both: Vec<u32> = a.iter().chain(&b).copied().collect();
        let (a, b) = (signer.minima(&a), signer.minima(&b));
        let least: Vec<u32> = a.iter().zip(&b).map(|(a, b)| *a.min(b)).collect();
        prop_assert_eq!(signer.minima(&both), least);
    }

    #[test]
    fn a_prefix_is_the_shorter_signature_and_extends_to_the_longer(
        set in vec(any::<u32>(), 0..60),
        family in family(),
        seed: u64,
        few in 1_u32..200,
        more in 0_u32..200,
        width in width(),
    ) {
        let short = signer_of(family, seed, few, width);
        let long = signer_of(family, seed, few + more, width);
        let (prefix, whole) = (short.sign(&set), long.sign(&set));
        prop_assert_eq!(&whole.prefix(few as usize), &prefix);
        let mut grown = prefix.as_bytes().to_vec();
        long.extend(few, &set, &mut vec![7; 3], &mut grown);
        prop_assert_eq!(&grown[..], whole.as_bytes());
    }

    #[test]
    fn agreement_counts_equal_slots(
        rows in vec((any::<u32>(), 0_u32..3), 0..300),
        width in width(),
        odd in 0_usize..4,
    ) {
        let bytes = |flip: u32| -> Vec<u8> {
            let slots = rows.iter().map(|(slot, kind)| slot ^ (flip & (kind / 2)));
            let mut bytes: Vec<u8> =
                slots.flat_map(|slot| slot.to_le_bytes()[..width.bytes()].to_vec()).collect();
            bytes.extend(vec![0; odd.min(width.bytes() - 1)]);
            bytes
        };
        let expected = rows.iter().filter(|(_, kind)| *kind < 2).count();
        prop_assert_eq!(agreeing(&bytes(0), &bytes(1), width) as usize, expected);
    }
}

#[test]
fn the_empty_set_has_every_minimum_at_its_maximum() {
    let signer_of = |width| signer(5, 77, width);
    let whole = signer_of(SlotWidth::Bits32);
    assert_eq!(whole.minima(&[]), vec![u32::MAX; 77]);
    assert_eq!(whole.sign(&[]).as_bytes(), vec![0xFF; 77 * 4]);
    let narrow = signer_of(SlotWidth::Bits16).sign(&[]);
    assert_eq!(narrow.slot(76), Some(mixed(76, u32::MAX) & 0xFFFF));
}

/// Another program computed the slots of all families from their definitions.
#[test]
fn signatures_are_frozen() {
    let set = [1, 2, 3, 0xDEAD_BEEF];
    for (family, expected) in [
        (
            Family::Affine32,
            [0x62C5_A617, 0x154B_8418, 0x1155_5005, 0x28C2_E4DB],
        ),
        (
            Family::LinearPrime,
            [0x0BE0_9BD8, 0x3A1C_DDF0, 0x264D_176F, 0x64E9_7DC8],
        ),
        (
            Family::Xor,
            [0x37CA_F595, 0x5AA8_4B74, 0x5E63_5454, 0x7E34_62A3],
        ),
        (
            Family::Modular,
            [0x1065_F1FA, 0x33EF_B328, 0x1CB6_7713, 0x762D_9F6D],
        ),
        (
            Family::Jenkins,
            [0x1290_6FC5, 0x4501_84E9, 0x030F_5433, 0x1C05_015E],
        ),
        (
            Family::Murmur,
            [0x02B8_E47F, 0x03FF_7F34, 0x089D_2D8F, 0x6BBE_7E4F],
        ),
    ] {
        let signature = signer_of(family, 0, 130, SlotWidth::Bits32).sign(&set);
        let slots = [0, 1, 63, 129].map(|i| signature.slot(i).unwrap());
        assert_eq!(slots, expected, "{family}");
        let other = signer_of(family, 1, 130, SlotWidth::Bits32).sign(&set);
        assert_ne!(signature, other, "{family}");
    }
    let narrow = signer(0, 130, SlotWidth::Bits16).sign(&set);
    assert_eq!(narrow.as_bytes()[..4], [136, 220, 19, 133]);
}

#[test]
fn a_warm_signer_reuses_its_scratch() {
    let signer = signer(5, 100, SlotWidth::Bits16);
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    signer.sign_into(&[1, 2, 3], &mut scratch, &mut out);
    signer.sign_into(&[4, 5], &mut scratch, &mut out);
    assert_eq!(out[..200], *signer.sign(&[1, 2, 3]).as_bytes());
    assert_eq!(out[200..], *signer.sign(&[4, 5]).as_bytes());
}

#[test]
fn extending_past_the_end_appends_nothing() {
    let mut out = Vec::new();
    signer(5, 100, SlotWidth::Bits16).extend(100, &[1], &mut Vec::new(), &mut out);
    signer(5, 100, SlotWidth::Bits16).extend(u32::MAX, &[1], &mut Vec::new(), &mut out);
    assert!(out.is_empty());
}

#[test]
fn parts_of_slots_are_no_signature() {
    assert_eq!(Signature::from_bytes(SlotWidth::Bits16, vec![0; 3]), None);
    assert_eq!(Signature::from_bytes(SlotWidth::Bits32, vec![0; 6]), None);
    assert!(
        Signature::from_bytes(SlotWidth::Bits32, Vec::new())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn parameters_out_of_range_are_named() {
    for permutations in [0, 16_385] {
        let error = Signer::new(Family::Affine32, 0, permutations, SlotWidth::Bits16).unwrap_err();
        let Error::InvalidSchema { parameter, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(*parameter, "permutations");
        assert!(
            error.to_string().contains(&permutations.to_string()),
            "{error}"
        );
    }
    let error = "12".parse::<SlotWidth>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "slot-bits: a slot is 8, 16 or 32 bits wide, not \"12\""
    );
    let error = "md5".parse::<Family>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "family: \"md5\" is no permutation family; there are affine32, linear-prime, xor, modular, \
         jenkins, murmur"
    );
    for width in WIDTHS {
        assert_eq!(width.to_string().parse::<SlotWidth>().unwrap(), width);
    }
    for family in Family::ALL {
        assert_eq!(family.to_string().parse::<Family>().unwrap(), family);
    }
    assert_eq!(Family::default(), Family::Affine32);
}

#[test]
fn an_estimate_is_corrected_for_chance_and_clamped() {
    let all = Estimate::new(128, 128, SlotWidth::Bits8);
    assert!(
        (all.jaccard - 1.0).abs() < 1e-12 && all.error.abs() < 1e-12,
        "{all:?}"
    );
    let none = Estimate::new(0, 128, SlotWidth::Bits8);
    assert!(
        none.jaccard.abs() < 1e-12 && none.error.abs() < 1e-12,
        "{none:?}"
    );
    // Agreement by chance is no similarity.
    assert!(Estimate::new(16, 4096, SlotWidth::Bits8).jaccard.abs() < 1e-12);
    let half = Estimate::new(2048, 4096, SlotWidth::Bits8);
    assert!((half.jaccard - (0.5 - 1.0 / 256.0) / (255.0 / 256.0)).abs() < 1e-12);
    assert!((half.error - 0.5 / 64.0 * 256.0 / 255.0).abs() < 1e-12);
    assert!((Estimate::new(3, 2, SlotWidth::Bits32).jaccard - 1.0).abs() < 1e-12);
    assert!(Estimate::new(0, 0, SlotWidth::Bits32).jaccard.abs() < 1e-12);
}

/// The estimates that the minima of one pair give at a width, from `permutations` slots each.
fn estimates(a: &[u32], b: &[u32], permutations: u32, width: SlotWidth) -> Vec<Estimate> {
    let row = |minima: &[u32]| -> Vec<u8> {
        let slots = (0..).zip(minima).map(|(slot, &minimum)| match width {
            SlotWidth::Bits32 => minimum,
            _ => mixed(slot, minimum),
        });
        slots
            .flat_map(|slot| slot.to_le_bytes()[..width.bytes()].to_vec())
            .collect()
    };
    let length = permutations as usize;
    let groups = a.chunks_exact(length).zip(b.chunks_exact(length));
    groups
        .map(|(a, b)| Estimate::new(agreeing(&row(a), &row(b), width), permutations, width))
        .collect()
}

/// The estimates of one similarity from 128 slots each, compared with those of an ideal family.
struct Measured {
    /// The distance between the mean of the estimates and the similarity, in standard errors.
    deviations: f64,
    /// The variance of the estimates, and the one that they state, relative to the binomial variance.
    variance: f64,
    stated: f64,
    estimates: f64,
}

impl Measured {
    fn of(found: &[Estimate], jaccard: f64, width: SlotWidth) -> Measured {
        let count = found.len() as f64;
        let mean = |value: &dyn Fn(&Estimate) -> f64| found.iter().map(value).sum::<f64>() / count;
        let agreement = jaccard + (1.0 - jaccard) * width.chance();
        let variance = agreement * (1.0 - agreement) / 128.0 / (1.0 - width.chance()).powi(2);
        let middle = mean(&|estimate| estimate.jaccard);
        Measured {
            deviations: (middle - jaccard) / (variance / count).sqrt(),
            variance: mean(&|estimate| (estimate.jaccard - jaccard).powi(2)) / variance,
            stated: mean(&|estimate| estimate.error.powi(2)) / variance,
            estimates: count,
        }
    }
}

/// Measures estimates of pairs with `shared` shingles in both sets and `own` in each alone.
///
/// Every 128 slots of a signature of 4096 give an estimate with its own permutations.
fn measured(family: Family, pairs: u64, shared: u32, own: u32) -> [Measured; 3] {
    let jaccard = f64::from(shared) / f64::from(shared + 2 * own);
    let mut shingles = Shingles(u64::from(shared));
    let mut found = WIDTHS.map(|_| Vec::new());
    for seed in 0..pairs {
        let signer = signer_of(family, seed, 4096, SlotWidth::Bits32);
        let pair = shingles.pair(shared, own);
        let [a, b] = pair.map(|set| signer.minima(&set));
        for (found, width) in found.iter_mut().zip(WIDTHS) {
            found.extend(estimates(&a, &b, 128, width));
        }
    }
    std::array::from_fn(|i| Measured::of(&found[i], jaccard, WIDTHS[i]))
}

#[test]
fn estimates_are_unbiased_with_binomial_variance() {
    for family in Family::ALL {
        if family == Family::Xor {
            continue;
        }
        for (pairs, shared, own) in [
            (90, 20, 5),
            (90, 18, 1),
            (40, 40, 20),
            (12, 160, 20),
            (2, 1800, 200),
        ] {
            for (measured, width) in measured(family, pairs, shared, own).iter().zip(WIDTHS) {
                let of = format!("{family}, {shared} shared at {width} bits");
                let deviations = measured.deviations;
                assert!(deviations.abs() < 3.5, "{of}: {deviations} off");
                // With too few estimates to notice 10%, allow 3.5 standard errors of a variance.
                let allowed = (3.5 * (2.0 / measured.estimates).sqrt()).max(0.1);
                let ratio = measured.variance;
                assert!((ratio - 1.0).abs() < allowed, "{of}: {ratio}");
                assert!(
                    (measured.stated - 1.0).abs() < 0.05,
                    "{of}: {}",
                    measured.stated
                );
            }
        }
    }
}

#[test]
fn masks_vary_several_times_as_much_as_they_should_on_small_sets() {
    let [.., small] = measured(Family::Xor, 300, 18, 1);
    assert!((3.0..6.0).contains(&small.variance), "{}", small.variance);
    let [.., large] = measured(Family::Xor, 12, 1800, 200);
    assert!(large.variance < 2.0, "{}", large.variance);
}

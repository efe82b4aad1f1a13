//! Laws of the kernels that hold for any shingles, which tests and fuzzers choose.

use super::family::{Affine32, Jenkins, LinearPrime, Modular, Murmur, Xor};
use super::kernel::{BLOCK, PermutationBlock};
use super::mixing;
use super::simd::SimdLevel;
use super::{SlotWidth, agreeing};

/// Every instruction set gives the minima that the definition gives, for at least `permutations` permutations of each
/// family.
pub(crate) fn minima(shingles: &[u32], seed: u64, permutations: u32) {
    let blocks = (permutations as usize).div_ceil(BLOCK);
    check::<Affine32>(shingles, seed, blocks);
    check::<LinearPrime>(shingles, seed, blocks);
    check::<Xor>(shingles, seed, blocks);
    check::<Modular>(shingles, seed, blocks);
    check::<Jenkins>(shingles, seed, blocks);
    check::<Murmur>(shingles, seed, blocks);
}

/// The same law for the first blocks of a family.
fn check<B: PermutationBlock>(shingles: &[u32], seed: u64, blocks: usize) {
    let blocks: Vec<B> = B::draw(seed).take(blocks).collect();
    let expected = by_definition(shingles, &blocks);
    for level in SimdLevel::all() {
        let mut minima = vec![[u32::MAX; BLOCK]; blocks.len()];
        level.lower(shingles, &blocks, &mut minima);
        let family = std::any::type_name::<B>();
        assert_eq!(minima, expected, "{family} {level:?}");
        let (first, minima) = (
            u32::try_from(blocks.len()).unwrap_or_default(),
            minima.as_flattened_mut(),
        );
        let mut mixed = minima.to_vec();
        level.mix(first, &mut mixed);
        mixing::mix(first, minima);
        assert_eq!(mixed, minima, "{level:?}");
    }
}

/// The minima according to the definition, one by one.
fn by_definition<B: PermutationBlock>(shingles: &[u32], blocks: &[B]) -> Vec<[u32; BLOCK]> {
    let least = |block: &B, lane: usize| {
        let values = shingles.iter().map(|&x| block.permuted(lane, x));
        values.min().unwrap_or(u32::MAX)
    };
    blocks
        .iter()
        .map(|block| std::array::from_fn(|lane| least(block, lane)))
        .collect()
}

/// The number of slots that two rows share is that found by comparing them one by one.
pub(crate) fn agreement(a: &[u8], b: &[u8]) {
    for width in [SlotWidth::Bits8, SlotWidth::Bits16, SlotWidth::Bits32] {
        let slots = |row: &'_ [u8]| -> Vec<Vec<u8>> {
            let slots = row.chunks_exact(width.bytes());
            slots.map(<[u8]>::to_vec).collect()
        };
        let (a_slots, b_slots) = (slots(a), slots(b));
        let same = a_slots.iter().zip(&b_slots).filter(|(a, b)| a == b);
        assert_eq!(agreeing(a, b, width) as usize, same.count(), "{width:?}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_level_gives_the_defined_minima(
            shingles in vec(any::<u32>(), 0..70),
            seed: u64,
            permutations in 1_u32..=300,
        ) {
            super::minima(&shingles, seed, permutations);
        }

        #[test]
        fn rows_agree_where_their_slots_do(
            a in vec(0_u8..3, 0..600),
            b in vec(0_u8..3, 0..600),
        ) {
            super::agreement(&a, &b);
        }
    }

    #[test]
    fn the_largest_signature_and_several_tiles_of_shingles() {
        let shingles: Vec<u32> = (0..10_001_u32)
            .map(|i| i.wrapping_mul(0x9E37_79B1))
            .collect();
        super::minima(&shingles, 3, 32);
        super::minima(&shingles[..9], 3, 4096);
    }
}

//! Laws of the kernels for any shingles, which tests and fuzzers choose.

use super::family::Family;
use super::kernel::{BLOCK, Block};
use super::simd::Level;
use super::{SlotWidth, agreeing};

/// Every instruction set gives the minima that are defined.
pub(crate) fn minima(shingles: &[u32], seed: u64, permutations: u32) {
    let blocks = Family::Affine32.blocks(seed, permutations);
    let expected = by_definition(shingles, &blocks);
    for level in Level::all() {
        let mut minima = vec![[u32::MAX; BLOCK]; blocks.len()];
        level.lower(shingles, &blocks, &mut minima);
        assert_eq!(minima, expected, "{level:?}");
    }
}

/// The definition, slot by slot.
fn by_definition(shingles: &[u32], blocks: &[Block]) -> Vec<[u32; BLOCK]> {
    let least = |block: &Block, i: usize| {
        let (a, b) = (u64::from(block.multipliers[i]), u64::from(block.offsets[i]));
        let values = shingles.iter().map(|&x| (a * u64::from(x) + b) % (1 << 32));
        let least = values.min().unwrap_or(u64::from(u32::MAX));
        u32::try_from(least).unwrap_or(u32::MAX)
    };
    let minima = blocks.iter();
    minima
        .map(|block| std::array::from_fn(|i| least(block, i)))
        .collect()
}

/// The slots that two rows share are those that are the same one by one.
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

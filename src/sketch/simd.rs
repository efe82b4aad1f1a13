//! Which instruction set runs the kernel.
//!
//! The loop is that of `kernel`, compiled once for each set. On aarch64 the portable build
//! already uses NEON, which every such machine has.
#![allow(
    unsafe_code,
    reason = "calls functions compiled for instructions found at run time"
)]

use super::kernel::{self, BLOCK, Block};

/// An instruction set this machine has. Only [`Level::all`] makes one, and it makes none that the
/// machine lacks: that is what the calls below rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Returns the widest instruction set of this machine.
    pub(super) fn best() -> Level {
        Level::all().next().unwrap_or(Level(Instructions::Portable))
    }

    /// Returns every instruction set of this machine, the widest first.
    pub(super) fn all() -> impl Iterator<Item = Level> {
        [
            #[cfg(target_arch = "x86_64")]
            (
                Instructions::Avx512,
                std::arch::is_x86_feature_detected!("avx512f"),
            ),
            #[cfg(target_arch = "x86_64")]
            (
                Instructions::Avx2,
                std::arch::is_x86_feature_detected!("avx2"),
            ),
            (Instructions::Portable, true),
        ]
        .into_iter()
        .filter_map(|(instructions, present)| present.then_some(Level(instructions)))
    }

    /// Lowers each minimum to the least permuted shingle; see [`kernel::lower`].
    pub(super) fn lower(self, shingles: &[u32], blocks: &[Block], minima: &mut [[u32; BLOCK]]) {
        match self.0 {
            Instructions::Portable => kernel::lower(shingles, blocks, minima),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                // SAFETY: a `Level` of these instructions is made only after they were detected
                // on this machine, and the set of a machine does not change while it runs. The
                // function is otherwise safe.
                unsafe { lower_avx2(shingles, blocks, minima) }
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                // SAFETY: as above, for AVX-512 F.
                unsafe { lower_avx512(shingles, blocks, minima) }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lower_avx2(shingles: &[u32], blocks: &[Block], minima: &mut [[u32; BLOCK]]) {
    kernel::lower(shingles, blocks, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn lower_avx512(shingles: &[u32], blocks: &[Block], minima: &mut [[u32; BLOCK]]) {
    kernel::lower(shingles, blocks, minima);
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::family::Family;
    use super::*;

    /// The definition, slot by slot.
    fn by_definition(shingles: &[u32], blocks: &[Block]) -> Vec<[u32; BLOCK]> {
        let least = |block: &Block, i: usize| {
            let (a, b) = (u64::from(block.multipliers[i]), u64::from(block.offsets[i]));
            let values = shingles.iter().map(|&x| (a * u64::from(x) + b) % (1 << 32));
            values
                .min()
                .map_or(u32::MAX, |value| u32::try_from(value).unwrap())
        };
        blocks
            .iter()
            .map(|block| std::array::from_fn(|i| least(block, i)))
            .collect()
    }

    fn lowered(level: Level, shingles: &[u32], blocks: &[Block]) -> Vec<[u32; BLOCK]> {
        let mut minima = vec![[u32::MAX; BLOCK]; blocks.len()];
        level.lower(shingles, blocks, &mut minima);
        minima
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_level_gives_the_defined_minima(
            shingles in vec(any::<u32>(), 0..70),
            seed: u64,
            permutations in 1_u32..=300,
        ) {
            let blocks = Family::Affine32.blocks(seed, permutations);
            let expected = by_definition(&shingles, &blocks);
            for level in Level::all() {
                prop_assert_eq!(&lowered(level, &shingles, &blocks), &expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn the_largest_signature_and_several_tiles_of_shingles() {
        let shingles: Vec<u32> = (0..10_001_u32)
            .map(|i| i.wrapping_mul(0x9E37_79B1))
            .collect();
        let few = Family::Affine32.blocks(3, 32);
        let expected = by_definition(&shingles, &few);
        let many = Family::Affine32.blocks(3, 4096);
        let expected_many = by_definition(&shingles[..9], &many);
        for level in Level::all() {
            assert_eq!(lowered(level, &shingles, &few), expected, "{level:?}");
            assert_eq!(
                lowered(level, &shingles[..9], &many),
                expected_many,
                "{level:?}"
            );
        }
    }
}

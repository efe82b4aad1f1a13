//! Which instruction set runs the kernel.
//!
//! The loop is that of `kernel`, compiled once for each family and set. On aarch64 the portable build
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
    pub(super) fn lower<B: Block>(
        self,
        shingles: &[u32],
        blocks: &[B],
        minima: &mut [[u32; BLOCK]],
    ) {
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
fn lower_avx2<B: Block>(shingles: &[u32], blocks: &[B], minima: &mut [[u32; BLOCK]]) {
    kernel::lower(shingles, blocks, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn lower_avx512<B: Block>(shingles: &[u32], blocks: &[B], minima: &mut [[u32; BLOCK]]) {
    kernel::lower(shingles, blocks, minima);
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::family::{Affine32, Jenkins, LinearPrime, Modular, Murmur, Xor};
    use super::*;

    /// The minima one by one.
    fn by_definition<B: Block>(shingles: &[u32], blocks: &[B]) -> Vec<[u32; BLOCK]> {
        let least = |block: &B, lane: usize| {
            let values = shingles.iter().map(|&x| block.permuted(lane, x));
            values.min().unwrap_or(u32::MAX)
        };
        blocks
            .iter()
            .map(|block| std::array::from_fn(|lane| least(block, lane)))
            .collect()
    }

    /// Checks the first blocks of a family at every level.
    fn check<B: Block>(shingles: &[u32], seed: u64, blocks: usize) {
        let blocks: Vec<B> = B::draw(seed).take(blocks).collect();
        let expected = by_definition(shingles, &blocks);
        for level in Level::all() {
            let mut minima = vec![[u32::MAX; BLOCK]; blocks.len()];
            level.lower(shingles, &blocks, &mut minima);
            let family = std::any::type_name::<B>();
            assert_eq!(minima, expected, "{family} {level:?}");
        }
    }

    fn check_all(shingles: &[u32], seed: u64, blocks: usize) {
        check::<Affine32>(shingles, seed, blocks);
        check::<LinearPrime>(shingles, seed, blocks);
        check::<Xor>(shingles, seed, blocks);
        check::<Modular>(shingles, seed, blocks);
        check::<Jenkins>(shingles, seed, blocks);
        check::<Murmur>(shingles, seed, blocks);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_level_gives_the_defined_minima(
            shingles in vec(any::<u32>(), 0..70),
            seed: u64,
            blocks in 1_usize..=10,
        ) {
            check_all(&shingles, seed, blocks);
        }
    }

    #[test]
    fn the_largest_signature_and_several_tiles_of_shingles() {
        let shingles: Vec<u32> = (0..10_001_u32)
            .map(|i| i.wrapping_mul(0x9E37_79B1))
            .collect();
        check_all(&shingles, 3, 1);
        check_all(&shingles[..9], 3, 128);
    }
}

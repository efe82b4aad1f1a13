//! `affine32`: multiplication by an odd number and addition, modulo 2^32.

use super::draws::Draws;
use crate::sketch::kernel::{BLOCK, Block};

/// The domain that keeps these coefficients apart from every other use of a seed.
const DOMAIN: &str = "dedupdb affine32 permutation coefficients, version 1";

/// The coefficients of consecutive permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct Affine32 {
    /// `a_i`, odd.
    multipliers: [u32; BLOCK],
    /// `b_i`.
    offsets: [u32; BLOCK],
}

impl Block for Affine32 {
    fn draw(seed: u64) -> impl Iterator<Item = Affine32> {
        let mut draws = Draws::new(DOMAIN, seed);
        std::iter::repeat_with(move || {
            let mut block = Affine32 {
                multipliers: [0; BLOCK],
                offsets: [0; BLOCK],
            };
            for (multiplier, offset) in block.multipliers.iter_mut().zip(&mut block.offsets) {
                *multiplier = draws.u32() | 1;
                *offset = draws.u32();
            }
            block
        })
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        let (a, b) = (self.multipliers[lane], self.offsets[lane]);
        a.wrapping_mul(x).wrapping_add(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_frozen() {
        let blocks: Vec<Affine32> = Affine32::draw(0).take(1).collect();
        assert_eq!(blocks[0].multipliers[..2], [0xDFAD_517B, 0xB789_964F]);
        assert_eq!(blocks[0].offsets[..2], [0xB222_0F06, 0x5E3F_C008]);
        let last = Affine32::draw(u64::MAX).nth(127).unwrap();
        assert_eq!(
            (last.multipliers[31], last.offsets[31]),
            (0xAC3A_854D, 0x6892_0874)
        );
    }

    #[test]
    fn multipliers_are_odd() {
        let mut blocks = Affine32::draw(1).take(128);
        assert!(blocks.all(|block| block.multipliers.iter().all(|a| a % 2 == 1)));
    }

    #[test]
    fn values_are_those_of_the_formula() {
        let block = Affine32::draw(3).next().unwrap();
        for lane in 0..BLOCK {
            for x in [0, 1, 0x8000_0000, u32::MAX] {
                let (a, b) = (block.multipliers[lane], block.offsets[lane]);
                let value = (u64::from(a) * u64::from(x) + u64::from(b)) % (1 << 32);
                assert_eq!(u64::from(block.permuted(lane, x)), value);
            }
        }
    }
}

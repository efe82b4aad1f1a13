//! The permutations of a signer, for any family.

use super::family::{Affine32, Family, Jenkins, LinearPrime, Modular, Murmur, Xor};
use super::kernel::{BLOCK, PermutationBlock};
use super::simd::SimdLevel;

/// The first permutations of a family, padded to whole blocks with the permutations that follow.
#[derive(Clone, Debug)]
pub(super) enum Permutations {
    Affine32(Vec<Affine32>),
    LinearPrime(Vec<LinearPrime>),
    Xor(Vec<Xor>),
    Modular(Vec<Modular>),
    Jenkins(Vec<Jenkins>),
    Murmur(Vec<Murmur>),
}

impl Permutations {
    /// Draws at least `count` permutations.
    pub(super) fn draw(family: Family, seed: u64, count: u32) -> Permutations {
        match family {
            Family::Affine32 => Permutations::Affine32(drawn(seed, count)),
            Family::LinearPrime => Permutations::LinearPrime(drawn(seed, count)),
            Family::Xor => Permutations::Xor(drawn(seed, count)),
            Family::Modular => Permutations::Modular(drawn(seed, count)),
            Family::Jenkins => Permutations::Jenkins(drawn(seed, count)),
            Family::Murmur => Permutations::Murmur(drawn(seed, count)),
        }
    }

    /// Lowers the minima of the blocks from number `first` on to the least permuted shingle.
    ///
    /// There are as many blocks as minima.
    pub(super) fn lower(
        &self,
        level: SimdLevel,
        first: usize,
        shingles: &[u32],
        minima: &mut [[u32; BLOCK]],
    ) {
        let range = first..first + minima.len();
        match self {
            Permutations::Affine32(blocks) => level.lower(shingles, &blocks[range], minima),
            Permutations::LinearPrime(blocks) => level.lower(shingles, &blocks[range], minima),
            Permutations::Xor(blocks) => level.lower(shingles, &blocks[range], minima),
            Permutations::Modular(blocks) => level.lower(shingles, &blocks[range], minima),
            Permutations::Jenkins(blocks) => level.lower(shingles, &blocks[range], minima),
            Permutations::Murmur(blocks) => level.lower(shingles, &blocks[range], minima),
        }
    }
}

fn drawn<B: PermutationBlock>(seed: u64, count: u32) -> Vec<B> {
    B::draw(seed)
        .take((count as usize).div_ceil(BLOCK))
        .collect()
}

//! `murmur`: `MurmurHash3` under a sequence of seeds.

use super::draws::{DistinctDraws, SeedStream};
use crate::sketch::kernel::{BLOCK, PermutationBlock};

/// The domain that separates these seeds from every other use of a seed.
const DOMAIN: &str = "dedupdb murmur permutation seeds, version 1";

/// The seeds of consecutive permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct Murmur([u32; BLOCK]);

impl PermutationBlock for Murmur {
    fn draw(seed: u64) -> impl Iterator<Item = Murmur> {
        let mut draws = SeedStream::new(DOMAIN, seed);
        let mut seeds = DistinctDraws::default();
        std::iter::repeat_with(move || {
            Murmur([(); BLOCK].map(|()| seeds.next(|| Some(draws.u32()))))
        })
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        murmur3(self.0[lane], x)
    }
}

/// `MurmurHash3_x86_32` of the four little-endian bytes of `x`.
#[inline(always)]
fn murmur3(seed: u32, x: u32) -> u32 {
    let block = x.wrapping_mul(0xCC9E_2D51).rotate_left(15);
    let mut hash = seed ^ block.wrapping_mul(0x1B87_3593);
    hash = hash
        .rotate_left(13)
        .wrapping_mul(5)
        .wrapping_add(0xE654_6B64);
    // This is the length in bytes.
    hash ^= 4;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        for (bytes, seed, hash) in [
            ([0xFF; 4], 0, 0x7629_3B50),
            ([0x21, 0x43, 0x65, 0x87], 0, 0xF55B_516B),
            ([0x21, 0x43, 0x65, 0x87], 0x5082_EDEE, 0x2362_F9DE),
            ([0; 4], 0, 0x2362_F9DE),
        ] {
            assert_eq!(murmur3(seed, u32::from_le_bytes(bytes)), hash, "{bytes:?}");
        }
    }
}

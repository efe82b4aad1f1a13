//! `jenkins`: Robert Jenkins' mix of 96 bits.

use super::draws::{DistinctDraws, SeedStream};
use crate::sketch::kernel::{BLOCK, PermutationBlock};

/// The domain that separates these numbers from every other use of a seed.
const DOMAIN: &str = "dedupdb jenkins permutation numbers, version 1";

/// The prime that is mixed in, which is close to 2^32 divided by the golden ratio.
const PRIME: u32 = 2_654_435_761;

/// The random numbers of consecutive permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct Jenkins([u32; BLOCK]);

impl PermutationBlock for Jenkins {
    fn draw(seed: u64) -> impl Iterator<Item = Jenkins> {
        let mut draws = SeedStream::new(DOMAIN, seed);
        let mut numbers = DistinctDraws::default();
        std::iter::repeat_with(move || {
            Jenkins([(); BLOCK].map(|()| numbers.next(|| Some(draws.u32()))))
        })
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        mixed(PRIME, self.0[lane], x)
    }
}

/// Mixes three words and returns the last one.
#[inline(always)]
fn mixed(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    for [first, second, third] in [[13, 8, 13], [12, 16, 5], [3, 10, 15]] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> first);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << second);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> third);
    }
    c
}

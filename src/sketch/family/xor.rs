//! `xor`: exclusive or with a mask.

use super::draws::{DistinctDraws, SeedStream};
use crate::sketch::kernel::{BLOCK, PermutationBlock};

/// The domain that separates these masks from every other use of a seed.
const DOMAIN: &str = "dedupdb xor permutation masks, version 1";

/// The masks of consecutive permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct Xor([u32; BLOCK]);

impl PermutationBlock for Xor {
    fn draw(seed: u64) -> impl Iterator<Item = Xor> {
        let mut draws = SeedStream::new(DOMAIN, seed);
        let mut masks = DistinctDraws::default();
        std::iter::repeat_with(move || Xor([(); BLOCK].map(|()| masks.next(|| Some(draws.u32())))))
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        x ^ self.0[lane]
    }
}

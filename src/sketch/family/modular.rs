//! `modular`: multiplication and addition modulo the largest prime below 2^32.

use super::draws::{DistinctDraws, SeedStream};
use crate::sketch::kernel::{BLOCK, PermutationBlock};

/// The domain that separates these coefficients from every other use of a seed.
const DOMAIN: &str = "dedupdb modular permutation coefficients, version 1";

/// The remainder of 2^32 modulo the prime.
const EXCESS: u64 = 5;

/// The prime `z`.
const PRIME: u64 = (1 << 32) - EXCESS;

/// The coefficients of consecutive permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct Modular {
    /// `p_i`.
    multipliers: [u32; BLOCK],
    /// `m_i`.
    offsets: [u32; BLOCK],
}

impl PermutationBlock for Modular {
    fn draw(seed: u64) -> impl Iterator<Item = Modular> {
        let mut draws = SeedStream::new(DOMAIN, seed);
        let (mut multipliers, mut offsets) = (DistinctDraws::default(), DistinctDraws::default());
        std::iter::repeat_with(move || {
            let mut block = Modular {
                multipliers: [0; BLOCK],
                offsets: [0; BLOCK],
            };
            for lane in 0..BLOCK {
                block.multipliers[lane] =
                    multipliers.next(|| below_prime(draws.u32()).filter(|&p| p > 0));
                block.offsets[lane] = offsets.next(|| below_prime(draws.u32()));
            }
            block
        })
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        value(self.multipliers[lane], self.offsets[lane], x)
    }
}

/// A draw, if it is below the prime.
fn below_prime(draw: u32) -> Option<u32> {
    Some(draw).filter(|&drawn| u64::from(drawn) < PRIME)
}

/// `(p x + m) mod z`.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "bit 32 is what is taken off"
)]
fn value(multiplier: u32, offset: u32, x: u32) -> u32 {
    // The sum is at most (z - 1) 2^32.
    let sum = u64::from(multiplier) * u64::from(x) + u64::from(offset);
    // The result is at most 6 times 2^32 after one fold, and 2^32 + 24 after two.
    let sum = folded(folded(sum));
    // The sum plus 5 has bit 32 if and only if z must be subtracted, which leaves 5 more in the lower 32 bits.
    (sum + EXCESS * ((sum + EXCESS) >> 32)) as u32
}

/// A smaller number that is equal to `x` modulo the prime: the upper 32 bits times 5 plus the lower ones.
#[inline(always)]
fn folded(x: u64) -> u64 {
    (x >> 32) * EXCESS + (x & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LARGEST: u32 = u32::MAX - 5;

    fn by_definition(p: u32, m: u32, x: u32) -> u64 {
        (u64::from(p) * u64::from(x) + u64::from(m)) % PRIME
    }

    proptest! {
        #[test]
        fn values_are_those_of_the_formula(p in 1..=LARGEST, m in 0..=LARGEST, x: u32) {
            prop_assert_eq!(u64::from(value(p, m, x)), by_definition(p, m, x));
        }
    }

    #[test]
    fn values_at_the_edges_are_those_of_the_formula() {
        for p in [1, 2, 5, 1 << 31, LARGEST - 1, LARGEST] {
            for m in [0, 1, 5, LARGEST - 1, LARGEST] {
                for x in [0, 1, 2, 5, LARGEST, LARGEST + 1, u32::MAX] {
                    let expected = by_definition(p, m, x);
                    assert_eq!(u64::from(value(p, m, x)), expected, "{p} {m} {x}");
                }
            }
        }
    }

    #[test]
    fn draws_out_of_range_are_passed_over() {
        assert_eq!(below_prime(LARGEST), Some(LARGEST));
        assert_eq!(below_prime(LARGEST + 1), None);
    }
}

//! `linear-prime`: multiplication and addition modulo the Mersenne prime 2^61 - 1.

use super::draws::{DistinctDraws, SeedStream};
use crate::sketch::kernel::{BLOCK, PermutationBlock};

/// The domain that separates these coefficients from every other use of a seed.
const DOMAIN: &str = "dedupdb linear-prime permutation coefficients, version 1";

/// The number of bits of the prime, all of which are ones.
const BITS: u32 = 61;

/// The prime 2^61 - 1.
const PRIME: u64 = (1 << BITS) - 1;

/// The number of bits of a value below those that a slot keeps.
const BELOW: u32 = BITS - 32;

/// The coefficients of consecutive permutations.
///
/// The halves of a multiplier are separate, because machines multiply 32 bits by 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct LinearPrime {
    /// The upper 29 bits of `a_i`.
    high: [u32; BLOCK],
    /// The lower 32 bits of `a_i`.
    low: [u32; BLOCK],
    /// `b_i`.
    offsets: [u64; BLOCK],
}

impl PermutationBlock for LinearPrime {
    fn draw(seed: u64) -> impl Iterator<Item = LinearPrime> {
        let mut draws = SeedStream::new(DOMAIN, seed);
        let (mut multipliers, mut offsets) = (DistinctDraws::default(), DistinctDraws::default());
        std::iter::repeat_with(move || {
            let mut block = LinearPrime {
                high: [0; BLOCK],
                low: [0; BLOCK],
                offsets: [0; BLOCK],
            };
            for lane in 0..BLOCK {
                let a = multipliers.next(|| below_prime(draws.u64()).filter(|&a| a > 0));
                (block.high[lane], block.low[lane]) = halves(a);
                block.offsets[lane] = offsets.next(|| below_prime(draws.u64()));
            }
            block
        })
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        let value = value(self.high[lane], self.low[lane], self.offsets[lane], x);
        halves(value >> BELOW).1
    }
}

/// The upper bits of a draw, if they are below the prime.
fn below_prime(draw: u64) -> Option<u64> {
    Some(draw >> (64 - BITS)).filter(|&drawn| drawn < PRIME)
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the point of it")]
fn halves(x: u64) -> (u32, u32) {
    ((x >> 32) as u32, x as u32)
}

/// `(a x + b) mod p`. Since 2^61 is 1 modulo `p`, the bits from 61 on are added back at bit 0.
#[inline(always)]
fn value(high: u32, low: u32, offset: u64, x: u32) -> u64 {
    let x = u64::from(x);
    // The product is below 2^61. Multiplying it by 2^32 is a rotation.
    let upper = u64::from(high) * x;
    let upper = ((upper << 32) & PRIME) | (upper >> BELOW);
    let lower = u64::from(low) * x;
    // Three summands are below 2^61, and one is below 8.
    let sum = upper + (lower & PRIME) + (lower >> BITS) + offset;
    // The folded sum is below p + 3. Its successor has bit 61 if and only if p must be subtracted.
    let successor = (sum & PRIME) + (sum >> BITS) + 1;
    (successor & PRIME) + (successor >> BITS) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_definition(a: u64, b: u64, x: u32) -> u64 {
        let value = (u128::from(a) * u128::from(x) + u128::from(b)) % u128::from(PRIME);
        u64::try_from(value).unwrap()
    }

    proptest! {
        #[test]
        fn values_are_those_of_the_formula(a in 1..PRIME, b in 0..PRIME, x: u32) {
            let (high, low) = halves(a);
            prop_assert_eq!(value(high, low, b, x), by_definition(a, b, x));
        }
    }

    #[test]
    fn values_at_the_edges_are_those_of_the_formula() {
        for a in [1, u64::from(u32::MAX), 1 << 32, PRIME - 1] {
            for b in [0, 1, PRIME - 2, PRIME - 1] {
                for x in [0, 1, 2, u32::MAX] {
                    let (high, low) = halves(a);
                    assert_eq!(
                        value(high, low, b, x),
                        by_definition(a, b, x),
                        "{a} {b} {x}"
                    );
                }
            }
        }
    }

    #[test]
    fn draws_out_of_range_are_passed_over() {
        assert_eq!(below_prime(u64::MAX), None);
        assert_eq!(below_prime(u64::MAX - 8), Some(PRIME - 1));
        assert_eq!(below_prime(7), Some(0));
    }
}

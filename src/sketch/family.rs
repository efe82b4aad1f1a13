//! The permutation families: what a slot takes the minimum of.

use std::fmt;
use std::str::FromStr;

use super::kernel::{BLOCK, Block};
use crate::error::{Error, Result};

/// The domain that keeps these coefficients apart from every other use of a seed.
const AFFINE32: &str = "dedupdb affine32 permutation coefficients, version 1";

/// A family of permutations of the 32-bit shingle hashes; slot `i` of a signature is the minimum
/// under the family's permutation `i`.
///
/// Permutation `i` depends on the seed and on `i` alone, never on how many there are.
///
/// ```
/// use dedupdb::Family;
///
/// assert_eq!("affine32".parse::<Family>()?, Family::default());
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// `h_i(x) = (a_i x + b_i) mod 2^32` with `a_i` odd, which makes it a permutation.
    ///
    /// The coefficients are the output stream of BLAKE3 in key-derivation mode over the seed's
    /// eight little-endian bytes: bytes `8i..8i+4`, little-endian with the lowest bit set, are
    /// `a_i`, and bytes `8i+4..8i+8` are `b_i`.
    ///
    /// Linear permutations as an approximation of min-wise independence: Broder, Charikar, Frieze
    /// and Mitzenmacher, "Min-Wise Independent Permutations", 2000.
    #[default]
    Affine32,
}

impl Family {
    /// Returns the coefficients of the first `permutations` permutations, filled up to whole
    /// blocks with those that follow.
    pub(super) fn blocks(self, seed: u64, permutations: u32) -> Vec<Block> {
        match self {
            Family::Affine32 => affine32(seed, permutations),
        }
    }
}

fn affine32(seed: u64, permutations: u32) -> Vec<Block> {
    let mut hasher = blake3::Hasher::new_derive_key(AFFINE32);
    hasher.update(&seed.to_le_bytes());
    let mut stream = hasher.finalize_xof();
    let next_block = || {
        let mut block = Block {
            multipliers: [0; BLOCK],
            offsets: [0; BLOCK],
        };
        for (multiplier, offset) in block.multipliers.iter_mut().zip(&mut block.offsets) {
            let mut bytes = [0; 8];
            stream.fill(&mut bytes);
            let [a0, a1, a2, a3, b0, b1, b2, b3] = bytes;
            *multiplier = u32::from_le_bytes([a0, a1, a2, a3]) | 1;
            *offset = u32::from_le_bytes([b0, b1, b2, b3]);
        }
        block
    };
    let count = (permutations as usize).div_ceil(BLOCK);
    std::iter::repeat_with(next_block).take(count).collect()
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Affine32 => "affine32",
        })
    }
}

impl FromStr for Family {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "affine32" => Ok(Family::Affine32),
            _ => Err(Error::InvalidSchema {
                parameter: "family",
                reason: format!("the permutation family is affine32, not {text:?}"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_frozen() {
        let first = &affine32(0, 2)[0];
        assert_eq!(first.multipliers[..2], [0xDFAD_517B, 0xB789_964F]);
        assert_eq!(first.offsets[..2], [0xB222_0F06, 0x5E3F_C008]);
        let last = &affine32(u64::MAX, 4096)[127];
        assert_eq!(
            (last.multipliers[31], last.offsets[31]),
            (0xAC3A_854D, 0x6892_0874)
        );
    }

    #[test]
    fn coefficients_do_not_depend_on_the_count() {
        let many = affine32(7, 4096);
        for permutations in [1, 31, 32, 33, 128, 1000] {
            let few = affine32(7, permutations);
            assert_eq!(few.len(), (permutations as usize).div_ceil(BLOCK));
            assert_eq!(few[..], many[..few.len()]);
        }
    }

    #[test]
    fn multipliers_are_odd() {
        let blocks = affine32(1, 4096);
        assert!(
            blocks
                .iter()
                .flat_map(|block| block.multipliers)
                .all(|a| a % 2 == 1)
        );
    }
}

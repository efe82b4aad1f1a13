//! The permutation families, whose values a slot takes the minimum of. Each family has its own file.
#![expect(
    clippy::inline_always,
    reason = "a value is computed with the instruction set of the kernel's caller"
)]

mod affine32;
mod draws;
mod jenkins;
mod linear_prime;
mod modular;
mod murmur;
mod xor;

use std::fmt;
use std::str::FromStr;

pub(super) use affine32::Affine32;
pub(super) use jenkins::Jenkins;
pub(super) use linear_prime::LinearPrime;
pub(super) use modular::Modular;
pub(super) use murmur::Murmur;
pub(super) use xor::Xor;

use crate::error::{Error, Result};

/// A family of permutations, or hash functions, of the 32-bit shingle hashes.
///
/// Slot `i` of a signature is the minimum under the family's function `i`. Function `i` depends only on the seed and on
/// `i`, never on the number of functions. Its coefficients are drawn from the output stream of BLAKE3 in key-derivation
/// mode over the seed's eight little-endian bytes, in a context of the family's own, as little-endian integers. All
/// families except [`Affine32`](Family::Affine32) skip draws that are out of range or were drawn before, so that all
/// functions differ. All families are frozen.
///
/// ```
/// use dedupdb::sketching::Family;
///
/// assert_eq!("affine32".parse::<Family>()?, Family::default());
/// assert!(Family::ALL.contains(&Family::Xor));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// `h_i(x) = (a_i x + b_i) mod 2^32` with `a_i` odd, which makes it a permutation.
    ///
    /// The coefficients are sums, so that one multiplication serves several slots. With `i = 512 g + 32 r + l`, `r`
    /// below 16 and `l` below 32, `a_i` is a column's multiplier plus a row's, and `b_i` is a column's offset plus a
    /// row's. The 384 bytes of the stream for grid `g` are 32 columns followed by 16 rows, each a multiplier and an
    /// offset. The lowest bit of a column's multiplier is set, and that of a row's is cleared. Any two permutations
    /// differ in a column or a row, so the error of an estimate is that of independent ones. Any 32 consecutive ones
    /// differ in their columns, so the slots of a band have nothing in common.
    ///
    /// Linear permutations as an approximation of min-wise independence: Broder, Charikar, Frieze
    /// and Mitzenmacher, "Min-Wise Independent Permutations", 2000.
    #[default]
    Affine32,
    /// `h_i(x) = floor(((a_i x + b_i) mod p) / 2^29)` with the prime `p` = 2^61 - 1, `a_i` from 1
    /// and `b_i` from 0 to `p - 1`.
    ///
    /// The values modulo `p` have 61 bits, of which a slot keeps the upper 32. Cutting off the lower bits preserves the
    /// order, so the slot is the upper part of the minimum of the full values. Two shingles of a set of n share the
    /// least slot with a probability of about n / 2^32. A coefficient is the upper 61 bits of a 64-bit draw.
    ///
    /// Measurements show no difference from ideal permutations, at 7 to 20 times the work of `affine32` (with AVX-512,
    /// for 128 to 1024 slots).
    ///
    /// These are the universal hash functions of Carter and Wegman, "Universal Classes of Hash Functions", 1979. The
    /// paper named above treats them as linear permutations modulo a prime in section 5.
    LinearPrime,
    /// `h_i(x) = x xor m_i`: permutations that cost next to nothing.
    ///
    /// **They are far from min-wise independent, and no store can be made with them.** The minimum under a mask is the
    /// shingle that is nearest to the mask in binary, bit by bit from the top. So all permutations share one tree over
    /// the shingles, and slots repeat one another. For sets of 20 shingles, the variance of estimates is about four
    /// times the binomial one, the stated errors and recalls do not hold, and more permutations hardly help.
    Xor,
    /// `h_i(x) = (p_i x + m_i) mod z` with the largest prime below 2^32, `z` = 4294967291, `p_i`
    /// from 1 and `m_i` from 0 to `z - 1`.
    ///
    /// This is `linear-prime` with half the bits, and no faster. There are five more shingles than values: each `x`
    /// below 5 has the value of `x + z`.
    Modular,
    /// `h_i(x)` is the third word of Robert Jenkins' 96-bit mix of a prime, a random number `r_i` and `x`.
    ///
    /// The prime is 2654435761, which is close to 2^32 divided by the golden ratio. The mix is that of "Hash
    /// Functions", Dr. Dobb's Journal, September 1997, with shifts of 13, 8, 13, 12, 16, 5, 3, 10 and 15. It is
    /// reversible as a whole, but one word of the result is not a permutation of another word: two shingles of a set of
    /// n share the least value with a probability of about n / 2^32. It takes 7 to 20 times the work of `affine32`, as
    /// `linear-prime` does.
    Jenkins,
    /// `h_i(x)` is `MurmurHash3_x86_32` of the four little-endian bytes of `x` under seed `s_i`.
    ///
    /// The function is by Austin Appleby (2011, in the public domain). For four bytes it is a permutation: a fixed
    /// permutation, an exclusive or with the seed, and another fixed permutation. It takes 3 to 9 times the work of
    /// `affine32`.
    Murmur,
}

impl Family {
    /// All families, the default first.
    pub const ALL: [Family; 6] = [
        Family::Affine32,
        Family::LinearPrime,
        Family::Xor,
        Family::Modular,
        Family::Jenkins,
        Family::Murmur,
    ];

    /// Whether signatures of the family have the recall that the arithmetic of bands states.
    ///
    /// Only then can a store be made with it. This holds for all families except [`Family::Xor`].
    pub(crate) fn keeps_recall(self) -> bool {
        self != Family::Xor
    }

    /// The name in schemas and on the command line.
    fn name(self) -> &'static str {
        match self {
            Family::Affine32 => "affine32",
            Family::LinearPrime => "linear-prime",
            Family::Xor => "xor",
            Family::Modular => "modular",
            Family::Jenkins => "jenkins",
            Family::Murmur => "murmur",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Family {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = Family::ALL.into_iter().find(|family| family.name() == text);
        named.ok_or_else(|| {
            let names = Family::ALL.map(Family::name).join(", ");
            Error::InvalidSchema {
                parameter: "family",
                reason: format!("{text:?} is no permutation family; there are {names}"),
            }
        })
    }
}

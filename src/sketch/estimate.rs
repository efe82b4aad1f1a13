//! From the agreement of signatures to the similarity of their sets.

use super::width::SlotWidth;

/// An estimated Jaccard similarity and its standard error.
///
/// ```
/// use dedupdb::sketching::{Estimate, SlotWidth};
///
/// let estimate = Estimate::new(96, 128, SlotWidth::Bits32);
/// assert!((estimate.jaccard - 0.75).abs() < 1e-9);
/// assert!((estimate.error - (0.75_f64 * 0.25 / 128.0).sqrt()).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimated similarity, 0 to 1.
    pub jaccard: f64,
    /// The estimate's standard error, at least 0.
    pub error: f64,
}

impl Estimate {
    /// Returns the estimate from `agreeing` equal slots out of `permutations`.
    ///
    /// A slot of two sets of similarity J agrees with probability J (Broder, "On the Resemblance and Containment of
    /// Documents", 1997). If unequal minima share their stored bits by chance with probability c, it agrees with
    /// probability p = J + (1 - J) c (Li and König, "b-Bit Minwise Hashing", 2010, section 2, where the sets are small
    /// compared with the 2^32 hashes). Solving for J with p = m / k gives J = (p - c) / (1 - c), clamped to 0..=1, with
    /// a standard error of sqrt(p (1 - p) / k) / (1 - c). At full width this is sqrt(J (1 - J) / k).
    ///
    /// `agreeing` above `permutations` counts as `permutations`, and no permutations count as one.
    pub fn new(agreeing: u32, permutations: u32, width: SlotWidth) -> Estimate {
        let slots = f64::from(permutations.max(1));
        let agreement = (f64::from(agreeing) / slots).min(1.0);
        let chance = width.chance();
        Estimate {
            jaccard: ((agreement - chance) / (1.0 - chance)).clamp(0.0, 1.0),
            error: (agreement * (1.0 - agreement) / slots).sqrt() / (1.0 - chance),
        }
    }
}

//! The S-curve of a shape and the cost of a query.

use super::bands::Bands;
use crate::sketch::SlotWidth;

/// The number of stored contents that [`Bands::false_work`] compares a query with. Their similarities to it are spread
/// evenly from 0 to 1.
///
/// It sets the price of a band: another shape with one more band is better if it has at least one false candidate less
/// among these contents.
const CROWD: f64 = 1000.0;

/// The number of intervals for Simpson's rule, which must be even.
const INTERVALS: u32 = 256;

impl Bands {
    /// Returns the probability that two sets of similarity `jaccard` become candidates.
    ///
    /// Similarities below 0 count as 0, and those above 1 as 1. The probability is 1 - (1 - p^r)^b (Leskovec, Rajaraman
    /// and Ullman, "Mining of Massive Datasets", section 3.4.2) with p = J + (1 - J) c, where c is the chance agreement
    /// of slots of `width`. It only takes multiplications and subtractions, so every machine computes the same bits.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let recall = Bands::new(18, 7, 128)?.probability(0.8, SlotWidth::Bits16);
    /// assert!((recall - 0.9855).abs() < 1e-4);
    /// assert_eq!(Bands::new(18, 7, 128)?.probability(7.0, SlotWidth::Bits16), 1.0);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn probability(&self, jaccard: f64, width: SlotWidth) -> f64 {
        let (chance, jaccard) = (width.chance(), jaccard.clamp(0.0, 1.0));
        let agreement = jaccard + (1.0 - jaccard) * chance;
        1.0 - power(1.0 - power(agreement, self.rows()), self.bands())
    }

    /// Returns the similarity at which the S-curve is approximately steepest, (1/b)^(1/r).
    ///
    /// This is the rule of thumb for the threshold of a shape (the same section of the book). A pair at this similarity
    /// is found with a probability of 1 - (1 - 1/b)^b, which is between 0.63 and 0.75 for two bands or more.
    ///
    /// ```
    /// use dedupdb::sketching::Bands;
    ///
    /// assert!((Bands::new(20, 5, 100)?.midpoint() - 0.549).abs() < 1e-3);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn midpoint(&self) -> f64 {
        f64::from(self.bands())
            .recip()
            .powf(f64::from(self.rows()).recip())
    }

    /// Returns the expected work of a query without a match: bucket look-ups plus candidates below the threshold.
    ///
    /// There are b look-ups. The number of candidates is 1000 times the integral of the S-curve from 0 to `threshold`:
    /// those among 1000 contents whose similarity to the query is spread evenly over 0..=1. Real collections hold many
    /// more dissimilar pairs, but no shape makes candidates of pairs far below the threshold. Shapes differ in the
    /// middle, where nothing general is known, and an even spread favours no part of it. A candidate and a look-up cost
    /// the same here, since each is one read in a sorted structure.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let (wide, steep) = (Bands::new(25, 5, 128)?, Bands::new(17, 7, 128)?);
    /// let work = |shape: Bands| shape.false_work(0.8, SlotWidth::Bits16);
    /// assert!(work(steep) < work(wide));
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn false_work(&self, threshold: f64, width: SlotWidth) -> f64 {
        f64::from(self.bands()) + CROWD * self.area_below(threshold, width)
    }

    /// Returns the integral of the S-curve from 0 to `threshold`, by Simpson's rule.
    fn area_below(self, threshold: f64, width: SlotWidth) -> f64 {
        let step = threshold / f64::from(INTERVALS);
        let inner: f64 = (1..INTERVALS)
            .map(|i| {
                let weight = if i % 2 == 1 { 4.0 } else { 2.0 };
                weight * self.probability(f64::from(i) * step, width)
            })
            .sum();
        let ends = self.probability(0.0, width) + self.probability(threshold, width);
        (ends + inner) * step / 3.0
    }
}

/// Returns `base` to the power of `exponent`, by squaring.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_band_has_the_integral_of_a_power() {
        for (rows, threshold) in [(1, 1.0), (7, 0.8), (20, 0.5), (64, 0.95)] {
            let area = Bands::trusted(1, rows).area_below(threshold, SlotWidth::Bits32);
            let exact = power(threshold, rows + 1) / f64::from(rows + 1);
            assert!(
                (area / exact - 1.0).abs() < 1e-4,
                "{rows} rows: {area} against {exact}"
            );
        }
    }

    #[test]
    fn powers_by_squaring_are_powers() {
        for exponent in [0, 1, 2, 3, 17, 100] {
            let expected = (0..exponent).fold(1.0, |product, _| product * 0.97);
            assert!((power(0.97, exponent) - expected).abs() < 1e-14);
        }
    }
}

//! The probability that an estimate from ideal permutations is off.

/// Terms below this share of the first one are not added.
const NEGLIGIBLE: f64 = 1e-18;

/// Differences that exceed epsilon by no more than this are due to rounding.
const ROUNDING: f64 = 1e-12;

/// Whether an estimate from `agreeing` of `slots` slots differs by more than `epsilon`.
pub(super) fn is_off(agreeing: u32, slots: u32, jaccard: f64, epsilon: f64) -> bool {
    (f64::from(agreeing) / f64::from(slots) - jaccard).abs() > epsilon + ROUNDING
}

/// Binomial distributions for one number of trials.
#[derive(Clone, Debug)]
pub(super) struct Binomial {
    trials: u32,
    /// All numbers of hits, ascending.
    hits: Vec<u32>,
    /// The logarithm of each factorial up to that of the trials.
    factorials: Vec<f64>,
}

impl Binomial {
    pub(super) fn new(trials: u32) -> Binomial {
        let mut sum = 0.0;
        let later = (1..=trials).map(|number| {
            sum += f64::from(number).ln();
            sum
        });
        Binomial {
            trials,
            hits: (0..=trials).collect(),
            factorials: std::iter::once(0.0).chain(later).collect(),
        }
    }

    /// Returns the probability that the share of hits is off by more than `epsilon`, if each trial hits with
    /// probability `jaccard`.
    ///
    /// Both tails are summed from their largest term outwards, each term from the one before it, so that small
    /// probabilities are exact, too.
    pub(super) fn off(&self, jaccard: f64, epsilon: f64) -> f64 {
        if jaccard <= 0.0 || jaccard >= 1.0 {
            return 0.0;
        }
        let is_off = |hits: &u32| is_off(*hits, self.trials, jaccard, epsilon);
        let odds = jaccard / (1.0 - jaccard);
        let is_low = |hits: u32| f64::from(hits) < jaccard * f64::from(self.trials);
        let (low, high) = self
            .hits
            .split_at(self.hits.partition_point(|&hits| is_low(hits)));
        let low = &low[..low.partition_point(is_off)];
        let high = &high[high.partition_point(|hits| !is_off(hits))..];
        let low = self.tail(jaccard, low.iter().rev(), |hits| {
            f64::from(hits) / f64::from(self.trials - hits + 1) / odds
        });
        let high = self.tail(jaccard, high.iter(), |hits| {
            f64::from(self.trials - hits) / f64::from(hits + 1) * odds
        });
        low + high
    }

    /// Returns the sum of the probabilities of these numbers of hits. `ratio` leads from one probability to the next.
    fn tail<'a>(
        &self,
        jaccard: f64,
        hits: impl Iterator<Item = &'a u32>,
        ratio: impl Fn(u32) -> f64,
    ) -> f64 {
        let mut hits = hits.copied();
        let Some(mut last) = hits.next() else {
            return 0.0;
        };
        let first = self.probability(jaccard, last);
        let (mut term, mut sum) = (first, first);
        for next in hits {
            term *= ratio(last);
            sum += term;
            last = next;
            if term < first * NEGLIGIBLE {
                break;
            }
        }
        sum
    }

    /// Returns the probability of `hits` hits.
    fn probability(&self, jaccard: f64, hits: u32) -> f64 {
        let misses = self.trials - hits;
        let factorial = |number: u32| self.factorials[number as usize];
        let ways = factorial(self.trials) - factorial(hits) - factorial(misses);
        let hit = f64::from(hits) * jaccard.ln();
        (ways + hit + f64::from(misses) * (-jaccard).ln_1p()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::{Binomial, is_off};

    #[test]
    fn tails_are_the_sums_of_all_terms_that_are_off() {
        for trials in [1, 2, 7, 400] {
            let binomial = Binomial::new(trials);
            for jaccard in [0.001, 0.0885, 0.25, 0.5, 0.9, 0.999] {
                let terms = (0..=trials).map(|hits| binomial.probability(jaccard, hits));
                assert!((terms.sum::<f64>() - 1.0).abs() < 1e-10);
                for epsilon in [0.0, 0.04, 0.25, 0.6, 1.0] {
                    let off = (0..=trials).filter(|&hits| is_off(hits, trials, jaccard, epsilon));
                    let sum: f64 = off.map(|hits| binomial.probability(jaccard, hits)).sum();
                    let found = binomial.off(jaccard, epsilon);
                    let of = format!("{trials} {jaccard} {epsilon}: {found} {sum}");
                    assert!((found - sum).abs() <= 1e-10 * sum, "{of}");
                }
            }
        }
    }

    #[test]
    fn probabilities_are_the_known_ones() {
        // 10 choose 3, times 2^-10.
        let binomial = Binomial::new(10);
        assert!((binomial.probability(0.5, 3) - 120.0 / 1024.0).abs() < 1e-12);
        // 0, 1, 9 or 10 of 10.
        assert!((binomial.off(0.5, 0.3) - 22.0 / 1024.0).abs() < 1e-12);
        assert!(binomial.off(0.0, 0.1).abs() < 1e-300 && binomial.off(1.0, 0.1).abs() < 1e-300);
    }

    #[test]
    fn a_difference_of_epsilon_is_not_more() {
        assert!(!is_off(216, 400, 0.5, 0.04));
        assert!(is_off(217, 400, 0.5, 0.04) && is_off(183, 400, 0.5, 0.04));
    }
}

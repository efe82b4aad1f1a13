//! Counts pairs by groups of texts, because the pairs of a group are found or missed together.

use std::collections::HashMap;

use super::interval::Z;

/// The counts of a text's pairs in one range.
#[derive(Clone, Copy, Debug, Default)]
struct PairTally {
    pairs: u64,
    found: u64,
}

/// Texts joined by true pairs, and the counts of each text's pairs by range.
#[derive(Debug, Default)]
pub(super) struct TruePairGroups {
    /// The number of each text that has a pair.
    numbers: HashMap<u64, u32>,
    /// For each number, another number of the same group. The first number of a group refers to itself.
    parents: Vec<u32>,
    /// The counts of a text's pairs with others, by the position of the range.
    tallies: HashMap<(u32, usize), PairTally>,
}

impl TruePairGroups {
    /// Counts a true pair of two texts in the range at `place`, and joins their groups.
    pub(super) fn pair(&mut self, [a, b]: [u64; 2], place: usize) {
        let (a, b) = (self.number(a), self.number(b));
        self.tallies.entry((a, place)).or_default().pairs += 1;
        let (a, b) = (self.first(a), self.first(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Counts a pair of two texts that was found.
    pub(super) fn found(&mut self, [a, _]: [u64; 2], place: usize) {
        let a = self.number(a);
        self.tallies.entry((a, place)).or_default().found += 1;
    }

    fn number(&mut self, text: u64) -> u32 {
        let next = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(text).or_insert_with(|| {
            self.parents.push(next);
            next
        })
    }

    /// Returns the first text of a group, and shortens the path to it.
    fn first(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let next = self.parents[at as usize];
            self.parents[at as usize] = self.parents[next as usize];
            at = self.parents[at as usize];
        }
        at
    }

    /// Returns the number of independent pairs that say as much as the pairs of a range, or of all ranges.
    pub(super) fn independent(&mut self, place: Option<usize>) -> f64 {
        let tallies: Vec<(u32, PairTally)> = self
            .tallies
            .iter()
            .filter(|((_, at), _)| place.is_none_or(|place| place == *at))
            .map(|(&(text, _), &tally)| (text, tally))
            .collect();
        let mut groups: HashMap<u32, PairTally> = HashMap::new();
        for (text, tally) in tallies {
            let group = groups.entry(self.first(text)).or_default();
            group.pairs += tally.pairs;
            group.found += tally.found;
        }
        let mut groups: Vec<(u64, u64)> = groups
            .into_values()
            .map(|group| (group.pairs, group.found))
            .collect();
        // Floating-point sums depend on their order.
        groups.sort_unstable();
        independent(&groups)
    }
}

/// Returns the number of independent trials that say as much about a share as these groups of trials and hits.
///
/// The variance of the share, a ratio of sums over sampled groups, is that of a bootstrap over groups, without its
/// randomness (W. G. Cochran, "Sampling Techniques", 1977, chapter 2.11). It says nothing if all or none hit, and
/// little if there are few groups: then Student's distribution takes the place of the normal one. A group counts as at
/// least one trial, and as no more than it has.
fn independent(groups: &[(u64, u64)]) -> f64 {
    let all: f64 = groups.iter().map(|group| group.0 as f64).sum();
    if all <= 0.0 {
        return 0.0;
    }
    let share = groups.iter().map(|group| group.1 as f64).sum::<f64>() / all;
    let count = groups.len() as f64;
    let off = |&(trials, hits): &(u64, u64)| (hits as f64 - share * trials as f64).powi(2);
    let off: f64 = groups.iter().map(off).sum();
    let variance = off / (all * all) * count / (count - 1.0).max(1.0);
    let single = share * (1.0 - share);
    if variance <= 0.0 || single <= 0.0 {
        return count;
    }
    let certain = single / variance * certainty(count - 1.0);
    certain.clamp(count, all.max(count))
}

/// The share of trials that remains if their variance has this number of degrees of `freedom`: the square of the
/// normal distribution's 97.5% quantile by that of Student's.
///
/// From three degrees on, the latter is a series (M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions",
/// 1964, 26.7.5), which is too low by at most 0.03.
fn certainty(freedom: f64) -> f64 {
    let x = Z;
    let student = if freedom <= 1.0 {
        12.706
    } else if freedom <= 2.0 {
        4.303
    } else {
        let terms = [
            (x.powi(3) + x) / 4.0,
            (5.0 * x.powi(5) + 16.0 * x.powi(3) + 3.0 * x) / 96.0,
            (3.0 * x.powi(7) + 19.0 * x.powi(5) + 17.0 * x.powi(3) - 15.0 * x) / 384.0,
        ];
        x + terms
            .iter()
            .rev()
            .fold(0.0, |sum, term| (sum + term) / freedom)
    };
    (x / student).powi(2)
}

#[cfg(test)]
mod tests {
    use super::{TruePairGroups, independent};

    fn is(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    #[test]
    fn groups_that_hit_together_count_once() {
        // Ten trials in each of a hundred groups.
        let together: Vec<(u64, u64)> = (0..100)
            .map(|at| (10, u64::from(at % 5 > 0) * 10))
            .collect();
        assert!((independent(&together) - 100.0).abs() < 2.0);
        // All groups have the same share of hits, which says nothing more.
        let alike = vec![(10, 8); 100];
        assert!(is(independent(&alike), 100.0));
        // Single trials.
        let single: Vec<(u64, u64)> = (0..1000).map(|at| (1, u64::from(at % 5 > 0))).collect();
        assert!((independent(&single) - 1000.0).abs() < 2.0);
        assert!(is(independent(&[(10, 10); 7]), 7.0));
        assert!(is(independent(&[(10, 9)]), 1.0));
        assert!(is(independent(&[]), 0.0));
    }

    #[test]
    fn few_groups_say_little() {
        let quantile = |freedom| super::Z / super::certainty(freedom).sqrt();
        for (freedom, known) in [
            (2.0, 4.303),
            (3.0, 3.182),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
        ] {
            let off: f64 = quantile(freedom) - known;
            assert!(off.abs() < 0.035, "{freedom}: {off}");
        }
        // Two groups that happen to have similar shares.
        assert!((2.0..5.0).contains(&independent(&[(63, 55), (8, 8)])));
        let ten = [(20, 12), (20, 20), (20, 18), (20, 20), (20, 16)].repeat(2);
        assert!((35.0..38.0).contains(&independent(&ten)));
    }

    #[test]
    fn chance_is_that_of_a_bootstrap_over_groups() {
        // Groups with different sizes and hits.
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let groups: Vec<(u64, u64)> = (0..200)
            .map(|_| {
                let trials = 1 + random(20);
                (
                    trials,
                    if random(4) == 0 {
                        random(trials + 1)
                    } else {
                        trials
                    },
                )
            })
            .collect();
        let share = |groups: &[(u64, u64)]| {
            let sums = groups
                .iter()
                .fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            sums.1 as f64 / sums.0 as f64
        };
        let shares: Vec<f64> = (0..2000)
            .map(|_| {
                let drawn: Vec<(u64, u64)> = (0..200)
                    .map(|_| groups[usize::try_from(random(200)).unwrap()])
                    .collect();
                share(&drawn)
            })
            .collect();
        let mean = shares.iter().sum::<f64>() / 2000.0;
        let variance = shares.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 2000.0;
        let whole = share(&groups);
        let bootstrapped = whole * (1.0 - whole) / variance;
        let ratio = independent(&groups) / bootstrapped;
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
    }

    #[test]
    fn texts_are_joined_by_pairs() {
        let mut groups = TruePairGroups::default();
        // One group of three texts, and one of two, in the same range.
        for ends in [[1, 2], [8, 9], [3, 2]] {
            groups.pair(ends, 0);
            groups.found(ends, 0);
        }
        assert!(is(groups.independent(Some(0)), 2.0));
        assert!(is(groups.independent(None), 2.0));
        assert!(is(groups.independent(Some(1)), 0.0));
    }
}

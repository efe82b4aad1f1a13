//! The errors of similarity estimates.

use std::borrow::Borrow;

use super::binomial::{Binomial, is_off};
use super::draw::{check_two, invalid};
use dedupdb::sketching::ShingleSet;
use dedupdb::sketching::{Family, Signer, SlotWidth, agreeing};
use dedupdb::{Progress, Result};
use rayon::prelude::*;
use std::time::Instant;

/// Whole minima. In narrower slots, chance agreement would add errors of another kind.
const WIDTH: SlotWidth = SlotWidth::Bits32;

/// The settings of [`accuracy`].
#[derive(Clone, Debug)]
pub struct AccuracyQuery {
    families: Vec<Family>,
    permutations: Vec<u32>,
    epsilons: Vec<f64>,
    runs: u32,
}

/// The results for one family and number of permutations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Accuracy {
    /// The family of the permutations.
    pub family: Family,
    /// The number of permutations.
    pub permutations: u32,
    /// The root of the mean square of the differences between estimates and exact similarities.
    pub error: f64,
    /// The expected value for ideal permutations: the root of the mean of J (1 - J) / k.
    pub ideal_error: f64,
    /// Pairs that are off, in the order of the epsilons.
    pub off: Vec<LargeErrors>,
    /// The seconds to sign all texts with the largest number of permutations, on all threads; the mean of the runs.
    pub signing: f64,
}

/// Pairs whose estimate differs from their exact similarity by more than an epsilon.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct LargeErrors {
    /// The epsilon.
    pub epsilon: f64,
    /// The number of such pairs; the mean of the runs.
    pub mean: f64,
    /// The expected number for ideal permutations, whose agreeing slots are binomial.
    pub ideal: f64,
    /// The standard error of the mean: that of the runs or, if larger, of runs with independent pairs.
    pub standard_error: f64,
}

impl Default for AccuracyQuery {
    fn default() -> AccuracyQuery {
        AccuracyQuery {
            families: vec![Family::default()],
            permutations: vec![128, 256, 512],
            epsilons: vec![0.05, 0.1],
            runs: 15,
        }
    }
}

impl AccuracyQuery {
    /// Returns the default settings: 15 runs of the default family with 128, 256 and 512 permutations, and differences
    /// of more than 0.05 and 0.1.
    pub fn new() -> AccuracyQuery {
        AccuracyQuery::default()
    }

    /// Sets the families to measure.
    #[must_use]
    pub fn families(mut self, families: Vec<Family>) -> AccuracyQuery {
        self.families = families;
        self
    }

    /// Sets the numbers of permutations, 1 to 16384 each. They are measured in ascending order, each once.
    #[must_use]
    pub fn permutations(mut self, permutations: Vec<u32>) -> AccuracyQuery {
        self.permutations = permutations;
        self
    }

    /// Sets the differences above which a pair counts as off, 0 or more.
    #[must_use]
    pub fn epsilons(mut self, epsilons: Vec<f64>) -> AccuracyQuery {
        self.epsilons = epsilons;
        self
    }

    /// Sets the number of runs, 1 or more. Their seeds count from 0.
    #[must_use]
    pub fn runs(mut self, runs: u32) -> AccuracyQuery {
        self.runs = runs;
        self
    }

    /// Returns the numbers of permutations, ascending.
    fn slots(&self) -> Result<Vec<u32>> {
        let mut slots = self.permutations.clone();
        slots.sort_unstable();
        slots.dedup();
        for &permutations in &slots {
            Signer::new(Family::default(), 0, permutations, WIDTH)?;
        }
        Ok(slots)
    }
}

/// Compares the exact similarities of all pairs of sets with their estimates, in several runs with different
/// permutations.
///
/// Signatures keep whole minima, so an estimate is the share m / k of slots that agree. With ideal permutations, m is
/// binomial with probability J (Broder, "On the Resemblance and Containment of Documents", 1997), which gives the
/// expectations exactly. The rows are ordered by family, as given, and by number of permutations. Except for the times,
/// they depend only on the sets and their order.
///
/// A step is one run. Takes 8 bytes of memory for each pair and 4 for each slot of all signatures. Uses the threads of
/// the current rayon pool.
///
/// # Errors
///
/// [`Error::InvalidQuery`](dedupdb::Error::InvalidQuery) for fewer than two sets, no run or an epsilon
/// below 0, [`Error::InvalidSchema`](dedupdb::Error::InvalidSchema) for permutations out of range, and
/// [`Error::Stopped`](dedupdb::Error::Stopped).
///
/// ```
/// use dedupdb::Progress;
/// use dedupdb::sketching::ShingleSet;
/// use dedupdb_lab::eval::{AccuracyQuery, accuracy};
///
/// // Hashes of shingles are well mixed; signatures take that for granted.
/// let mix = |x: u64| (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
/// let hash = |i: u64| (mix(mix(i + 1)) >> 32) as u32;
/// let set = |from: u64| ShingleSet::from_hashes((from..from + 300).map(hash).collect());
/// let sets: Vec<ShingleSet> = (0..8).map(|text| set(text * 40)).collect();
/// let query = AccuracyQuery::new().permutations(vec![64, 256]);
/// let rows = accuracy(&sets, &query, &Progress::new())?;
/// assert_eq!((rows.len(), rows[1].permutations), (2, 256));
/// assert!(rows[1].error < rows[0].error);
/// assert!((rows[1].error / rows[1].ideal_error - 1.0).abs() < 0.3);
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn accuracy<S: Borrow<ShingleSet> + Sync>(
    sets: &[S],
    query: &AccuracyQuery,
    progress: &Progress,
) -> Result<Vec<Accuracy>> {
    let slots = query.slots()?;
    check_two(sets.len())?;
    if query.runs == 0 {
        return Err(invalid("runs", "there is 1 at least, not 0".to_owned()));
    }
    if let Some(epsilon) = query.epsilons.iter().find(|&&e| !(0.0..).contains(&e)) {
        let reason = format!("a difference is 0 or more, not {epsilon}");
        return Err(invalid("epsilons", reason));
    }
    progress.begin(query.families.len() as u64 * u64::from(query.runs));
    let sets: Vec<&ShingleSet> = sets.iter().map(Borrow::borrow).collect();
    let exact = ExactSimilarities::new(&sets);
    let ideal = exact.ideal(&slots, &query.epsilons);
    let mut rows = Vec::new();
    for &family in &query.families {
        let experiment = AccuracyExperiment {
            sets: &sets,
            exact: &exact,
            slots: &slots,
            epsilons: &query.epsilons,
            family,
        };
        rows.extend(experiment.repeat(query.runs, &ideal, progress)?);
    }
    Ok(rows)
}

/// The exact similarities of all pairs: for each text, those to the texts before it.
struct ExactSimilarities {
    rows: Vec<Vec<f64>>,
}

/// The expectations for ideal permutations of one number.
struct IdealErrors {
    error: f64,
    /// For each epsilon, the number of pairs that are off, and its standard deviation in a run in which all pairs are
    /// independent.
    off: Vec<(f64, f64)>,
}

impl ExactSimilarities {
    fn new(sets: &[&ShingleSet]) -> ExactSimilarities {
        let row = |text: usize| {
            let earlier = sets[..text].iter();
            earlier.map(|other| sets[text].jaccard(other)).collect()
        };
        ExactSimilarities {
            rows: (0..sets.len()).into_par_iter().map(row).collect::<Vec<_>>(),
        }
    }

    fn pairs(&self) -> f64 {
        self.rows.iter().map(Vec::len).sum::<usize>() as f64
    }

    /// Returns the exact expectations. Pairs with the same similarity are computed once.
    fn ideal(&self, slots: &[u32], epsilons: &[f64]) -> Vec<IdealErrors> {
        let mut all: Vec<f64> = self.rows.concat();
        all.sort_unstable_by(f64::total_cmp);
        let groups: Vec<(f64, f64)> = all
            .chunk_by(|a, b| a.total_cmp(b).is_eq())
            .map(|group| (group[0], group.len() as f64))
            .collect();
        let variance: f64 = groups.iter().map(|(j, pairs)| pairs * j * (1.0 - j)).sum();
        let of = |&permutations: &u32| {
            let binomial = Binomial::new(permutations);
            let off = epsilons
                .to_vec()
                .into_par_iter()
                .map(|epsilon| {
                    let (mut mean, mut variance) = (0.0, 0.0);
                    for &(jaccard, pairs) in &groups {
                        let off = binomial.off(jaccard, epsilon);
                        mean += pairs * off;
                        variance += pairs * off * (1.0 - off);
                    }
                    (mean, variance.sqrt())
                })
                .collect::<Vec<_>>();
            IdealErrors {
                error: (variance / f64::from(permutations) / self.pairs()).sqrt(),
                off,
            }
        };
        slots.iter().map(of).collect()
    }
}

/// The runs of one family on one kind of shingles.
struct AccuracyExperiment<'a> {
    sets: &'a [&'a ShingleSet],
    exact: &'a ExactSimilarities,
    /// Ascending.
    slots: &'a [u32],
    epsilons: &'a [f64],
    family: Family,
}

/// The result of a run with one number of permutations.
#[derive(Clone, Debug)]
struct ErrorSums {
    /// For each epsilon.
    off: Vec<u64>,
    /// The sum of the squares of the differences.
    squares: f64,
}

impl AccuracyExperiment<'_> {
    fn repeat(
        &self,
        runs: u32,
        ideal: &[IdealErrors],
        progress: &Progress,
    ) -> Result<Vec<Accuracy>> {
        let (mut all, mut signing) = (Vec::new(), 0.0);
        for seed in 0..runs {
            let (run, seconds) = self.run(seed.into())?;
            all.push(run);
            signing += seconds / f64::from(runs);
            progress.step(1)?;
        }
        let accuracy = |(number, (&permutations, ideal)): (usize, (&u32, &IdealErrors))| {
            let of_runs: Vec<&ErrorSums> = all.iter().map(|run| &run[number]).collect();
            let squares: f64 = of_runs.iter().map(|run| run.squares).sum();
            let differences = self.exact.pairs() * f64::from(runs);
            let expected = self.epsilons.iter().zip(&ideal.off).enumerate();
            let off = expected.map(|(place, (&epsilon, &expected))| {
                let off = of_runs.iter().map(|run| run.off[place] as f64);
                LargeErrors::new(epsilon, &off.collect::<Vec<f64>>(), expected)
            });
            Accuracy {
                family: self.family,
                permutations,
                error: (squares / differences).sqrt(),
                ideal_error: ideal.error,
                off: off.collect(),
                signing,
            }
        };
        let numbered = self.slots.iter().zip(ideal).enumerate();
        Ok(numbered.map(accuracy).collect())
    }

    /// Compares all pairs under the permutations of a seed. Also returns the seconds that signing took.
    fn run(&self, seed: u64) -> Result<(Vec<ErrorSums>, f64)> {
        let most = self.slots.last().copied().unwrap_or(1);
        let signer = Signer::new(self.family, seed, most, WIDTH)?;
        let start = Instant::now();
        let signed = self
            .sets
            .to_vec()
            .into_par_iter()
            .map(|set| signer.sign(set.as_slice()))
            .collect::<Vec<_>>();
        let seconds = start.elapsed().as_secs_f64();
        let row = |text: usize| {
            let mut sums = self.nothing();
            let own = signed[text].as_bytes();
            for (earlier, &jaccard) in signed.iter().zip(&self.exact.rows[text]) {
                self.count(own, earlier.as_bytes(), jaccard, &mut sums);
            }
            sums
        };
        let rows = (0..signed.len())
            .into_par_iter()
            .map(row)
            .collect::<Vec<_>>();
        // In the order of the texts, whichever thread computed them: sums of f64 depend on the order.
        let mut sums = self.nothing();
        for row in &rows {
            for (sum, run) in sums.iter_mut().zip(row) {
                sum.add(run);
            }
        }
        Ok((sums, seconds))
    }

    fn nothing(&self) -> Vec<ErrorSums> {
        let run = ErrorSums {
            off: vec![0; self.epsilons.len()],
            squares: 0.0,
        };
        vec![run; self.slots.len()]
    }

    /// Counts a pair with each number of permutations.
    fn count(&self, a: &[u8], b: &[u8], jaccard: f64, runs: &mut [ErrorSums]) {
        let (mut agreed, mut from) = (0, 0);
        for (&slots, run) in self.slots.iter().zip(runs) {
            let to = slots as usize * WIDTH.bytes();
            agreed += agreeing(&a[from..to], &b[from..to], WIDTH);
            from = to;
            run.squares += (f64::from(agreed) / f64::from(slots) - jaccard).powi(2);
            for (off, &epsilon) in run.off.iter_mut().zip(self.epsilons) {
                *off += u64::from(is_off(agreed, slots, jaccard, epsilon));
            }
        }
    }
}

impl ErrorSums {
    fn add(&mut self, other: &ErrorSums) {
        self.squares += other.squares;
        for (off, other) in self.off.iter_mut().zip(&other.off) {
            *off += other;
        }
    }
}

impl LargeErrors {
    /// Returns the mean of the counts of the runs, and its standard error. The tuple has the expected count of a run
    /// and its standard deviation.
    fn new(epsilon: f64, off: &[f64], (ideal, deviation): (f64, f64)) -> LargeErrors {
        let runs = off.len() as f64;
        let mean = off.iter().sum::<f64>() / runs;
        let squares: f64 = off.iter().map(|off| (off - mean).powi(2)).sum();
        let spread = (squares / (runs - 1.0).max(1.0)).sqrt();
        LargeErrors {
            epsilon,
            mean,
            ideal,
            standard_error: spread.max(deviation) / runs.sqrt(),
        }
    }

    /// Returns the difference from the ideal number, in standard errors. Returns `None` if the standard error is 0.
    pub fn deviation(&self) -> Option<f64> {
        let more = self.mean - self.ideal;
        (self.standard_error > 0.0).then(|| more / self.standard_error)
    }
}

#[cfg(test)]
mod tests {
    use super::LargeErrors;

    #[test]
    fn the_standard_error_is_the_larger_one() {
        let spread = LargeErrors::new(0.1, &[8.0, 12.0, 10.0, 14.0], (9.0, 1.0));
        // The sample's standard deviation is sqrt(20 / 3).
        let error = (20.0_f64 / 3.0).sqrt() / 2.0;
        assert!((spread.standard_error - error).abs() < 1e-12);
        assert!((spread.deviation().unwrap() - 2.0 / error).abs() < 1e-12);
        let rare = LargeErrors::new(0.1, &[0.0; 4], (0.04, 0.2));
        assert!((rare.deviation().unwrap() + 0.4).abs() < 1e-12);
        assert_eq!(LargeErrors::new(0.1, &[0.0], (0.0, 0.0)).deviation(), None);
    }
}

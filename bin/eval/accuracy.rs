//! How far estimates are from exact similarities.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb::{Family, Progress, ShingleSet, Shingling, Signer, SlotWidth, agreeing};
use rayon::prelude::*;

use super::accuracy_report::Measured;
use super::binomial::{Binomial, is_off};
use super::corpus::{Corpus, check_work, pairs};
use super::report::Report;
use crate::args::{Args, eval};
use crate::console::Console;
use crate::inputs::STDIN;
use crate::number::{counted, grouped};
use crate::watch::{Unit, Watch};

/// Pairs whose exact similarities are kept at most, at eight bytes each.
const MOST: u64 = 20_000_000;

/// Whole minima: slots that agree by chance would be errors of another kind.
const WIDTH: SlotWidth = SlotWidth::Bits32;

/// What one number of permutations of one family came to.
#[derive(Clone, Debug)]
pub(super) struct Accuracy {
    pub(super) shingling: Shingling,
    /// Texts that have such shingles, as far as they were drawn.
    pub(super) texts: usize,
    pub(super) family: Family,
    pub(super) permutations: u32,
    /// Root of the mean square of the differences, and what is expected of ideal permutations.
    pub(super) error: f64,
    pub(super) ideal_error: f64,
    /// In the order of the epsilons.
    pub(super) counts: Vec<Counts>,
    /// Seconds for signatures of the most permutations that were asked for, the mean of the runs.
    pub(super) signing: f64,
}

/// Pairs that are off by more than an epsilon.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) mean: f64,
    pub(super) ideal: f64,
    /// Of the mean, as far as the runs and the number of pairs tell.
    pub(super) standard_error: f64,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Accuracy, console: &Console) -> Result<Report> {
    let mut slots = asked.permutations.clone();
    slots.sort_unstable();
    slots.dedup();
    // What cannot be is said before anything is read.
    for &permutations in &slots {
        Signer::new(Family::default(), 0, permutations, WIDTH)?;
    }
    check_kinds(asked)?;
    let progress = Progress::new();
    let runs = asked.shingling.len() * asked.family.len() * asked.runs as usize;
    progress.begin(runs as u64);
    let mut measured = Measured::default();
    for &shingling in &asked.shingling {
        let corpus = Corpus::read(args, &asked.texts, shingling, console)?;
        let drawn = corpus.draw(asked.sample.unwrap_or(corpus.len()), 0);
        let sets: Vec<&ShingleSet> = drawn.iter().map(|&text| &corpus.sets[text]).collect();
        check_cost(sets.len())?;
        let _watch = Watch::new(console, "compared", Unit::Step, &progress);
        let exact = Exact::new(&sets);
        let ideal = exact.ideal(&slots, &asked.epsilon);
        for &family in &asked.family {
            let experiment = Experiment {
                sets: &sets,
                exact: &exact,
                slots: &slots,
                epsilon: &asked.epsilon,
                shingling,
                family,
            };
            let found = experiment.repeat(asked.runs, &ideal, &progress)?;
            measured.found.extend(found);
        }
        measured.failed |= corpus.failed;
    }
    Ok(measured.report(asked))
}

/// Refuses to read several times what can be read but once.
fn check_kinds(asked: &eval::Accuracy) -> Result<()> {
    if asked.shingling.len() < 2 {
        return Ok(());
    }
    for path in &asked.texts.paths {
        if path == Path::new(STDIN) {
            bail!(
                "standard input (-) is read once, and --shingling asks for several kinds: give one, \
                 or a file"
            );
        }
        if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            bail!(
                "{}: this is no file and is read once, and --shingling asks for several kinds: give \
                 one, or a file",
                path.display()
            );
        }
    }
    Ok(())
}

fn check_cost(texts: usize) -> Result<()> {
    if texts < 2 {
        bail!("a pair needs two texts: ask for more with --sample N");
    }
    let work = format!(
        "{} are {} pairs",
        counted(texts as u64, "text", "texts"),
        grouped(pairs(texts))
    );
    check_work(&work, pairs(texts), MOST, "--sample")
}

/// The exact similarities of all pairs: for each text those with the texts before it.
struct Exact {
    rows: Vec<Vec<f64>>,
}

/// What ideal permutations of one number come to.
struct Ideal {
    error: f64,
    /// For each epsilon, the number of pairs that are off, and its standard deviation in a run in
    /// which all pairs are independent.
    off: Vec<(f64, f64)>,
}

impl Exact {
    fn new(sets: &[&ShingleSet]) -> Exact {
        let row = |text: usize| {
            let earlier = sets[..text].iter();
            earlier.map(|other| sets[text].jaccard(other)).collect()
        };
        let rows = (0..sets.len()).into_par_iter().map(row).collect();
        Exact { rows }
    }

    fn pairs(&self) -> f64 {
        self.rows.iter().map(Vec::len).sum::<usize>() as f64
    }

    /// The expectations, exactly: pairs of the same similarity are computed once.
    fn ideal(&self, slots: &[u32], epsilons: &[f64]) -> Vec<Ideal> {
        let mut all: Vec<f64> = self.rows.concat();
        all.par_sort_unstable_by(f64::total_cmp);
        let groups: Vec<(f64, f64)> = all
            .chunk_by(|a, b| a.total_cmp(b).is_eq())
            .map(|group| (group[0], group.len() as f64))
            .collect();
        let variance: f64 = groups.iter().map(|(j, pairs)| pairs * j * (1.0 - j)).sum();
        let of = |&permutations: &u32| {
            let binomial = Binomial::new(permutations);
            let off = epsilons.par_iter().map(|&epsilon| {
                let (mut mean, mut variance) = (0.0, 0.0);
                for &(jaccard, pairs) in &groups {
                    let off = binomial.off(jaccard, epsilon);
                    mean += pairs * off;
                    variance += pairs * off * (1.0 - off);
                }
                (mean, variance.sqrt())
            });
            Ideal {
                error: (variance / f64::from(permutations) / self.pairs()).sqrt(),
                off: off.collect(),
            }
        };
        slots.iter().map(of).collect()
    }
}

/// The runs of one family on one kind of shingles.
struct Experiment<'a> {
    sets: &'a [&'a ShingleSet],
    exact: &'a Exact,
    /// Ascending.
    slots: &'a [u32],
    epsilon: &'a [f64],
    shingling: Shingling,
    family: Family,
}

/// What a run came to with one number of permutations.
#[derive(Clone, Debug)]
struct Run {
    /// For each epsilon.
    off: Vec<u64>,
    /// Sum of the squares of the differences.
    squares: f64,
}

impl Experiment<'_> {
    fn repeat(&self, runs: u32, ideal: &[Ideal], progress: &Progress) -> Result<Vec<Accuracy>> {
        let (mut all, mut signing) = (Vec::new(), 0.0);
        for seed in 0..runs {
            let (run, seconds) = self.run(seed.into())?;
            all.push(run);
            signing += seconds / f64::from(runs);
            progress.step(1);
        }
        let accuracy = |(number, (&permutations, ideal)): (usize, (&u32, &Ideal))| {
            let of_runs: Vec<&Run> = all.iter().map(|run| &run[number]).collect();
            let squares: f64 = of_runs.iter().map(|run| run.squares).sum();
            let differences = self.exact.pairs() * f64::from(runs);
            let counts = ideal.off.iter().enumerate().map(|(epsilon, &expected)| {
                let off = of_runs.iter().map(|run| run.off[epsilon] as f64);
                Counts::new(&off.collect::<Vec<f64>>(), expected)
            });
            Accuracy {
                shingling: self.shingling,
                texts: self.sets.len(),
                family: self.family,
                permutations,
                error: (squares / differences).sqrt(),
                ideal_error: ideal.error,
                counts: counts.collect(),
                signing,
            }
        };
        let numbered = self.slots.iter().zip(ideal).enumerate();
        Ok(numbered.map(accuracy).collect())
    }

    /// Compares all pairs under the permutations of a seed, and says how long signing took.
    fn run(&self, seed: u64) -> Result<(Vec<Run>, f64)> {
        let most = self.slots.last().copied().unwrap_or(1);
        let signer = Signer::new(self.family, seed, most, WIDTH)?;
        let start = Instant::now();
        let signed: Vec<_> = self
            .sets
            .par_iter()
            .map(|set| signer.sign(set.as_slice()))
            .collect();
        let seconds = start.elapsed().as_secs_f64();
        let row = |text: usize| {
            let mut sums = self.nothing();
            let own = signed[text].as_bytes();
            for (earlier, &jaccard) in signed.iter().zip(&self.exact.rows[text]) {
                self.count(own, earlier.as_bytes(), jaccard, &mut sums);
            }
            sums
        };
        let rows: Vec<Vec<Run>> = (0..signed.len()).into_par_iter().map(row).collect();
        // In the order of the texts, whatever thread had them: sums of f64 depend on it.
        let mut sums = self.nothing();
        for row in &rows {
            for (sum, run) in sums.iter_mut().zip(row) {
                sum.add(run);
            }
        }
        Ok((sums, seconds))
    }

    fn nothing(&self) -> Vec<Run> {
        let run = Run {
            off: vec![0; self.epsilon.len()],
            squares: 0.0,
        };
        vec![run; self.slots.len()]
    }

    /// Counts a pair with each number of permutations.
    fn count(&self, a: &[u8], b: &[u8], jaccard: f64, runs: &mut [Run]) {
        let (mut agreed, mut from) = (0, 0);
        for (&slots, run) in self.slots.iter().zip(runs) {
            let to = slots as usize * WIDTH.bytes();
            agreed += agreeing(&a[from..to], &b[from..to], WIDTH);
            from = to;
            run.squares += (f64::from(agreed) / f64::from(slots) - jaccard).powi(2);
            for (off, &epsilon) in run.off.iter_mut().zip(self.epsilon) {
                *off += u64::from(is_off(agreed, slots, jaccard, epsilon));
            }
        }
    }
}

impl Run {
    fn add(&mut self, other: &Run) {
        self.squares += other.squares;
        for (off, other) in self.off.iter_mut().zip(&other.off) {
            *off += other;
        }
    }
}

impl Counts {
    /// What the counts of the runs come to, and what is expected of a run: a mean and its standard
    /// deviation.
    fn new(off: &[f64], (ideal, deviation): (f64, f64)) -> Counts {
        let runs = off.len() as f64;
        let mean = off.iter().sum::<f64>() / runs;
        let squares: f64 = off.iter().map(|off| (off - mean).powi(2)).sum();
        let spread = (squares / (runs - 1.0).max(1.0)).sqrt();
        Counts {
            mean,
            ideal,
            standard_error: spread.max(deviation) / runs.sqrt(),
        }
    }

    /// How much more than ideal, in standard errors.
    pub(super) fn deviation(self) -> Option<f64> {
        let more = self.mean - self.ideal;
        (self.standard_error > 0.0).then(|| more / self.standard_error)
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn the_standard_error_is_the_larger_one() {
        let spread = Counts::new(&[8.0, 12.0, 10.0, 14.0], (9.0, 1.0));
        // The sample's standard deviation is sqrt(20 / 3).
        let error = (20.0_f64 / 3.0).sqrt() / 2.0;
        assert!((spread.standard_error - error).abs() < 1e-12);
        assert!((spread.deviation().unwrap() - 2.0 / error).abs() < 1e-12);
        let rare = Counts::new(&[0.0; 4], (0.04, 0.2));
        assert!((rare.deviation().unwrap() + 0.4).abs() < 1e-12);
        assert_eq!(Counts::new(&[0.0], (0.0, 0.0)).deviation(), None);
    }
}

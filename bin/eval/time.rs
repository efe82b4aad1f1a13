//! What comparing all texts costs, exactly, by signatures and by bands.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use dedupdb::{Bands, Progress, ShingleSet, Signer, SlotWidth, agreeing};

use super::corpus::{Corpus, check_work, pairs};
use super::lsh::{Signatures, verify};
use super::report::{Report, Row};
use super::time_report::Measured;
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{Unit, Watch};

/// Texts of the smallest part.
const SMALLEST: usize = 16;

/// Share of the pairs at the threshold that LSH is to find.
const RECALL: f64 = 0.98;

/// Work is repeated until it has taken so long, or so many times.
const ENOUGH: Duration = Duration::from_millis(50);
const MOST_RUNS: u32 = 1000;

/// Pairs of which all are compared at most in one part; so many take some minutes. Those that LSH
/// compares are not bounded by it: how many share a band is what it is measured for.
const MOST: u64 = 300_000_000;

const WIDTH: SlotWidth = SlotWidth::Bits16;

/// What some work took, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) seconds: f64,
    /// Whether it was measured, and not computed from a smaller part.
    pub(super) measured: bool,
}

/// What signatures of some permutations cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed {
    pub(super) permutations: u32,
    pub(super) bands: Bands,
    pub(super) signatures: f64,
    pub(super) estimates: Cost,
    pub(super) lsh: f64,
    /// Pairs that share a band, all compared.
    pub(super) compared: u64,
    pub(super) found: u64,
}

/// A part of the corpus.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) texts: usize,
    pub(super) exact: Cost,
    /// In the order of the numbers of permutations that were asked for.
    pub(super) signed: Vec<Signed>,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Time, console: &Console) -> Result<Report> {
    let signers: Vec<(Signer, Bands)> = asked
        .permutations
        .iter()
        .map(|&permutations| {
            let signer = Signer::new(asked.family, asked.seed, permutations, WIDTH)?;
            let bands = Bands::choose(permutations, WIDTH, asked.threshold, RECALL)?;
            Ok((signer, bands))
        })
        .collect::<Result<_>>()?;
    let corpus = Corpus::read(args, &asked.texts, asked.sets.shingling, console)?;
    let compared = asked.all_pairs.min(corpus.len());
    let work = format!(
        "all pairs of {} are {} comparisons",
        counted(compared as u64, "text", "texts"),
        grouped(pairs(compared))
    );
    check_work(&work, pairs(compared), MOST, "--all-pairs")?;
    let order = corpus.shuffled(asked.seed);
    let sets: Vec<&ShingleSet> = order.iter().map(|&place| &corpus.sets[place]).collect();
    let sizes = sizes(sets.len(), compared);
    let progress = Progress::new();
    let _watch = Watch::new(console, "measured", Unit::Step, &progress);
    progress.begin(sizes.iter().map(|&size| steps(size, compared)).sum());
    let mut parts: Vec<Part> = Vec::with_capacity(sizes.len());
    for size in sizes {
        let part = measure(&sets[..size], &signers, asked.threshold, compared, &parts);
        parts.push(part);
        progress.step(steps(size, compared));
    }
    Ok(Measured { parts }.report(asked, corpus.failed))
}

/// Sizes of the parts, ascending: each half of the next, the number of texts whose pairs are all
/// compared, and the whole.
fn sizes(texts: usize, compared: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(SMALLEST), |size| size.checked_mul(2));
    let mut sizes: Vec<usize> = doubled.take_while(|&size| size < texts).collect();
    sizes.extend([texts, compared]);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Work that a part is, about, in comparisons.
fn steps(size: usize, compared: usize) -> u64 {
    size as u64 * 100 + if size <= compared { pairs(size) } else { 0 }
}

/// Measures a part; `before` are the smaller ones.
fn measure(
    sets: &[&ShingleSet],
    signers: &[(Signer, Bands)],
    threshold: f64,
    compared: usize,
    before: &[Part],
) -> Part {
    let is_compared = sets.len() <= compared;
    let cost = |of: &dyn Fn(&Part) -> Cost, work: &dyn Fn() -> u64| {
        if is_compared {
            let (seconds, _) = timed(work);
            return Cost {
                seconds,
                measured: true,
            };
        }
        let measured = before.iter().rev().find(|part| of(part).measured);
        let seconds = measured.map_or(0.0, |part| {
            of(part).seconds * pairs(sets.len()) as f64 / pairs(part.texts) as f64
        });
        Cost {
            seconds,
            measured: false,
        }
    };
    let exact = cost(&|part| part.exact, &|| exact(sets, threshold));
    let signed = signers.iter().enumerate().map(|(at, (signer, bands))| {
        let (signatures, bytes) = timed(&|| sign(sets, signer));
        let rows = Signatures {
            bytes: &bytes,
            length: signer.signature_bytes(),
            width: WIDTH,
        };
        let (lsh, (compared, found)) = timed(&|| verify(sets, &rows, *bands, threshold));
        Signed {
            permutations: signer.permutations(),
            bands: *bands,
            signatures,
            estimates: cost(&|part| part.signed[at].estimates, &|| estimates(&rows)),
            lsh: signatures + lsh,
            compared,
            found,
        }
    });
    Part {
        texts: sets.len(),
        signed: signed.collect(),
        exact,
    }
}

/// Seconds that the work takes, as the average of some runs where it is short, and what it comes to.
fn timed<T>(work: &dyn Fn() -> T) -> (f64, T) {
    let start = Instant::now();
    let mut runs = 0;
    loop {
        let done = black_box(work());
        runs += 1;
        let spent = start.elapsed();
        if spent >= ENOUGH || runs == MOST_RUNS {
            return (spent.as_secs_f64() / f64::from(runs), done);
        }
    }
}

/// Compares all pairs; returns how many reach the threshold.
fn exact(sets: &[&ShingleSet], threshold: f64) -> u64 {
    let mut found = 0;
    for (at, a) in sets.iter().enumerate() {
        let near = sets[at + 1..].iter().filter(|b| a.jaccard(b) >= threshold);
        found += near.count() as u64;
    }
    found
}

fn sign(sets: &[&ShingleSet], signer: &Signer) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sets.len() * signer.signature_bytes());
    let mut scratch = Vec::new();
    for set in sets {
        signer.sign_into(set.as_slice(), &mut scratch, &mut bytes);
    }
    bytes
}

/// Compares the signatures of all pairs; returns the sum of slots that agree.
fn estimates(signatures: &Signatures<'_>) -> u64 {
    let rows: Vec<&[u8]> = signatures.bytes.chunks_exact(signatures.length).collect();
    let mut sum = 0;
    for (at, a) in rows.iter().enumerate() {
        let agree = rows[at + 1..]
            .iter()
            .map(|b| agreeing(a, b, signatures.width));
        sum += agree.map(u64::from).sum::<u64>();
    }
    sum
}

impl Part {
    /// The figures of each number of permutations.
    pub(super) fn rows(&self, wins: &[Option<f64>]) -> Vec<Row> {
        let row = |(signed, wins): (&Signed, &Option<f64>)| -> Row {
            vec![
                ("texts", self.texts.into()),
                ("pairs", pairs(self.texts).into()),
                ("permutations", signed.permutations.into()),
                ("bands", signed.bands.bands().into()),
                ("rows", signed.bands.rows().into()),
                ("exact_seconds", self.exact.seconds.into()),
                ("exact_measured", self.exact.measured.into()),
                ("signatures_seconds", signed.signatures.into()),
                ("estimates_seconds", signed.estimates.seconds.into()),
                ("estimates_measured", signed.estimates.measured.into()),
                ("lsh_seconds", signed.lsh.into()),
                ("lsh_compared", signed.compared.into()),
                ("lsh_found", signed.found.into()),
                ("lsh_wins_from", (*wins).into()),
            ]
        };
        self.signed.iter().zip(wins).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn parts_double_and_end_with_the_whole() {
        assert_eq!(sizes(100, 100), [16, 32, 64, 100]);
        assert_eq!(sizes(100, 50), [16, 32, 50, 64, 100]);
        assert_eq!(sizes(128, 128), [16, 32, 64, 128]);
        assert_eq!(sizes(5, 5), [5]);
    }
}

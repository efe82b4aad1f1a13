//! The cost of comparing all texts: exactly, by signatures and by bands.

use std::borrow::Borrow;
use std::hint::black_box;

use super::draw::{check_two, pairs};
use super::lsh::{Signatures, verify};
use crate::eval::check_threshold;
use dedupdb::sketching::Bands;
use dedupdb::sketching::ShingleSet;
use dedupdb::sketching::{Signer, agreeing};
use dedupdb::{Progress, Result};
use std::time::Instant;

/// The number of texts in the smallest part.
const SMALLEST: usize = 16;

/// Work is repeated until it has taken this number of seconds, within these numbers of runs.
const ENOUGH: f64 = 0.05;
const LEAST_RUNS: usize = 3;
const MOST_RUNS: usize = 1000;

/// The cost of some work.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Cost {
    /// The seconds of one thread, as the median of several runs.
    pub seconds: f64,
    /// The lower quartile of the seconds of the runs. A computed cost is scaled by the same factor.
    pub low: f64,
    /// The upper quartile of the seconds of the runs.
    pub high: f64,
    /// Whether it was measured, rather than computed from a smaller part by the number of pairs.
    pub measured: bool,
}

/// The cost of signatures with some number of permutations.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SignedCost {
    /// The number of permutations.
    pub permutations: u32,
    /// The bands of LSH.
    pub bands: Bands,
    /// The seconds for the signatures of all texts, as the median of several runs.
    pub signatures: f64,
    /// The similarities of all pairs by their signatures, which exist already.
    pub estimates: Cost,
    /// The seconds for signatures, bands, and the exact similarities of all pairs that share a band: the sum of
    /// medians.
    pub lsh: f64,
    /// The sums of the lower quartiles and of the upper ones.
    pub lsh_span: (f64, f64),
    /// Pairs that share a band. All are compared.
    pub compared: u64,
    /// The pairs among them that reach the threshold.
    pub found: u64,
}

/// The cost of a part of the texts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PartCost {
    /// The number of texts, from the first one on.
    pub texts: usize,
    /// The exact similarities of all pairs.
    pub exact: Cost,
    /// The results in the order of the signers.
    pub signed: Vec<SignedCost>,
}

/// Measures the cost of growing parts of the texts, on one thread, from existing shingles.
///
/// The parts are the first 16 sets, the first 32, and so on, the first `all_pairs`, and all. All pairs are compared for
/// up to `all_pairs` sets; for more, these times are computed. There is no limit on the pairs that LSH compares,
/// because their number is part of the measurement. Each signer comes with the bands of its signatures. Steps are
/// approximate numbers of comparisons.
///
/// # Errors
///
/// [`Error::InvalidQuery`](dedupdb::Error::InvalidQuery) for fewer than two sets or a threshold that is
/// not above 0 and at most 1, [`Error::InvalidSchema`](dedupdb::Error::InvalidSchema) for bands of more
/// slots than their signer has, and [`Error::Stopped`](dedupdb::Error::Stopped).
///
/// ```
/// use dedupdb::Progress;
/// use dedupdb_lab::eval::time;
/// use dedupdb::sketching::{Bands, Family, ShingleSet, Signer, SlotWidth};
///
/// let hash = |i: u32| i.wrapping_mul(0x9E37_79B1);
/// let set = |from: u32| ShingleSet::from_hashes((from..from + 30).map(hash).collect());
/// let sets: Vec<ShingleSet> = (0..40).map(|text| set(text / 2 * 1000)).collect();
/// let signer = Signer::new(Family::default(), 1, 16, SlotWidth::Bits16)?;
/// let parts = time(&sets, &[(signer, Bands::new(4, 4, 16)?)], 0.8, 32, &Progress::new())?;
/// let sizes: Vec<usize> = parts.iter().map(|part| part.texts).collect();
/// assert_eq!(sizes, [16, 32, 40]);
/// assert_eq!(parts[2].signed[0].found, 20);
/// assert!(parts[1].exact.measured && !parts[2].exact.measured);
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn time<S: Borrow<ShingleSet>>(
    sets: &[S],
    signers: &[(Signer, Bands)],
    threshold: f64,
    all_pairs: usize,
    progress: &Progress,
) -> Result<Vec<PartCost>> {
    check_two(sets.len())?;
    check_threshold(threshold)?;
    for (signer, bands) in signers {
        Bands::new(bands.bands(), bands.rows(), signer.permutations())?;
    }
    let compared = all_pairs.clamp(2, sets.len());
    let sets: Vec<&ShingleSet> = sets.iter().map(Borrow::borrow).collect();
    let sizes = sizes(sets.len(), compared);
    progress.begin(sizes.iter().map(|&size| steps(size, compared)).sum());
    let mut parts: Vec<PartCost> = Vec::with_capacity(sizes.len());
    for size in sizes {
        let part = measure(&sets[..size], signers, threshold, compared, &parts);
        parts.push(part);
        progress.step(steps(size, compared))?;
    }
    Ok(parts)
}

/// The number of texts from which LSH takes less time than all exact similarities.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Crossing {
    /// The number of texts.
    pub texts: f64,
    /// The index of the last part at which LSH takes longer; `None` if it always takes less.
    pub after: Option<usize>,
}

impl Crossing {
    /// Determines from which number of texts LSH with the signer `signer` takes less time than all exact similarities,
    /// at all larger parts too.
    ///
    /// It lies between the last part at which LSH takes longer and the next part, on a straight line through the
    /// logarithms. Returns `None` if LSH takes longer at the last part, or if there is no such part or signer.
    pub fn of(parts: &[PartCost], signer: usize) -> Option<Crossing> {
        let ratio = |part: &PartCost| {
            let lsh = part.signed.get(signer)?.lsh.max(f64::MIN_POSITIVE);
            Some(part.exact.seconds / lsh)
        };
        let ratios: Vec<f64> = parts.iter().map(ratio).collect::<Option<_>>()?;
        let Some(lost) = ratios.iter().rposition(|&ratio| ratio <= 1.0) else {
            let texts = parts.first()?.texts as f64;
            return Some(Crossing { texts, after: None });
        };
        let (before, after) = (&parts[lost], parts.get(lost + 1)?);
        let (low, high) = (ratios[lost].ln(), ratios[lost + 1].ln());
        let (first, last) = ((before.texts as f64).ln(), (after.texts as f64).ln());
        Some(Crossing {
            texts: (first + (last - first) * -low / (high - low)).exp(),
            after: Some(lost),
        })
    }
}

/// Returns the sizes of the parts, ascending: each half of the next, the number of texts whose pairs are all compared,
/// and the whole.
fn sizes(texts: usize, compared: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(SMALLEST), |size| size.checked_mul(2));
    let mut sizes: Vec<usize> = doubled.take_while(|&size| size < texts).collect();
    sizes.extend([texts, compared]);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Returns the approximate work for a part, in comparisons.
fn steps(size: usize, compared: usize) -> u64 {
    size as u64 * 100 + if size <= compared { pairs(size) } else { 0 }
}

/// Measures a part. `before` has the smaller parts.
fn measure(
    sets: &[&ShingleSet],
    signers: &[(Signer, Bands)],
    threshold: f64,
    compared: usize,
    before: &[PartCost],
) -> PartCost {
    let is_compared = sets.len() <= compared;
    let cost = |of: &dyn Fn(&PartCost) -> Cost, work: &dyn Fn() -> u64| {
        if is_compared {
            return timed(work).0;
        }
        let measured = before.iter().rev().find(|part| of(part).measured);
        measured.map_or_else(Cost::default, |part| {
            let (cost, factor) = (
                of(part),
                pairs(sets.len()) as f64 / pairs(part.texts) as f64,
            );
            Cost {
                seconds: cost.seconds * factor,
                low: cost.low * factor,
                high: cost.high * factor,
                measured: false,
            }
        })
    };
    let exact = cost(&|part| part.exact, &|| exact(sets, threshold));
    let signed = signers.iter().enumerate().map(|(at, (signer, bands))| {
        let (signatures, bytes) = timed(&|| sign(sets, signer));
        let rows = Signatures {
            bytes: &bytes,
            length: signer.signature_bytes(),
            width: signer.width(),
        };
        let (lsh, (compared, found)) = timed(&|| verify(sets, &rows, *bands, threshold));
        SignedCost {
            permutations: signer.permutations(),
            bands: *bands,
            signatures: signatures.seconds,
            estimates: cost(&|part| part.signed[at].estimates, &|| estimates(&rows)),
            lsh: signatures.seconds + lsh.seconds,
            lsh_span: (signatures.low + lsh.low, signatures.high + lsh.high),
            compared,
            found,
        }
    });
    PartCost {
        texts: sets.len(),
        signed: signed.collect(),
        exact,
    }
}

/// Returns the cost and the result of some work.
fn timed<T>(work: &dyn Fn() -> T) -> (Cost, T) {
    let start = Instant::now();
    let mut runs = Vec::new();
    loop {
        let run = Instant::now();
        let done = black_box(work());
        runs.push(run.elapsed().as_secs_f64());
        let is_enough = start.elapsed().as_secs_f64() >= ENOUGH && runs.len() >= LEAST_RUNS;
        if is_enough || runs.len() == MOST_RUNS {
            return (cost(runs), done);
        }
    }
}

/// Returns the cost for the seconds of these runs; 0 without runs.
fn cost(mut runs: Vec<f64>) -> Cost {
    runs.sort_unstable_by(f64::total_cmp);
    let at = |place: usize| runs.get(place).copied().unwrap_or(0.0);
    let last = runs.len().saturating_sub(1);
    Cost {
        seconds: f64::midpoint(at(last / 2), at(last.div_ceil(2))),
        low: at(runs.len() / 4),
        high: at(last - last.min(runs.len() / 4)),
        measured: true,
    }
}

/// Compares all pairs. Returns the number that reach the threshold.
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

/// Compares the signatures of all pairs. Returns the sum of agreeing slots.
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

#[cfg(test)]
mod tests {
    use super::{Cost, Crossing, PartCost, SignedCost, cost, sizes};
    use dedupdb::sketching::Bands;

    fn parts(times: &[(usize, f64, f64)]) -> Vec<PartCost> {
        let part = |&(texts, seconds, lsh): &(usize, f64, f64)| {
            let exact = cost(vec![seconds]);
            let signed = SignedCost {
                permutations: 128,
                bands: Bands::new(17, 7, 128).unwrap(),
                signatures: lsh,
                estimates: exact,
                lsh,
                lsh_span: (lsh, lsh),
                compared: 0,
                found: 0,
            };
            PartCost {
                texts,
                exact,
                signed: vec![signed],
            }
        };
        times.iter().map(part).collect()
    }

    #[test]
    fn lsh_wins_where_the_curves_cross() {
        // Exact takes n^2, LSH 100 n: they meet at 100.
        let times = [(50, 2500.0, 5000.0), (200, 40_000.0, 20_000.0)];
        let crossing = Crossing::of(&parts(&times), 0).unwrap();
        let (texts, after) = (crossing.texts, crossing.after);
        assert!((texts - 100.0).abs() < 1e-9 && after == Some(0), "{texts}");
        assert_eq!(Crossing::of(&parts(&times[..1]), 0), None);
        assert_eq!(Crossing::of(&parts(&times), 1), None);
        let whole = Crossing {
            texts: 200.0,
            after: None,
        };
        assert_eq!(Crossing::of(&parts(&times[1..]), 0), Some(whole));
        // A win that is lost again at a larger part does not count.
        let back = [(16, 2.0, 1.0), (32, 1.0, 2.0), (64, 4.0, 2.0)];
        let crossing = Crossing::of(&parts(&back), 0);
        assert_eq!(crossing.map(|crossing| crossing.after), Some(Some(1)));
    }

    #[test]
    fn a_cost_is_the_median_of_its_runs() {
        let told = |runs: &[f64]| {
            let Cost {
                seconds, low, high, ..
            } = cost(runs.to_vec());
            (low, seconds, high)
        };
        assert_eq!(told(&[9.0, 1.0, 2.0]), (1.0, 2.0, 9.0));
        assert_eq!(told(&[4.0, 1.0, 2.0, 9.0]), (2.0, 3.0, 4.0));
        let runs: Vec<f64> = (1..=9).rev().map(f64::from).collect();
        assert_eq!(told(&runs), (3.0, 5.0, 7.0));
        assert_eq!(told(&[5.0]), (5.0, 5.0, 5.0));
    }

    #[test]
    fn parts_double_and_end_with_the_whole() {
        assert_eq!(sizes(100, 100), [16, 32, 64, 100]);
        assert_eq!(sizes(100, 50), [16, 32, 50, 64, 100]);
        assert_eq!(sizes(128, 128), [16, 32, 64, 128]);
        assert_eq!(sizes(5, 5), [5]);
    }
}

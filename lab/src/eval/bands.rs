//! The near-duplicates and false candidates that numbers of bands find.

use std::borrow::Borrow;

use super::draw::{check_two, invalid};
use crate::eval::check_threshold;
use dedupdb::sketching::Bands;
use dedupdb::sketching::ShingleSet;
use dedupdb::sketching::{Signature, Signer, SlotWidth};
use dedupdb::{Error, Progress, Result};
use rayon::prelude::*;

/// The number of texts that a thread compares with all queries at a time.
const CHUNK: usize = 64;

/// The results of [`bands`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BandsMeasured {
    /// The number of texts.
    pub texts: usize,
    /// The number of texts that were compared with all others.
    pub queries: usize,
    /// The near-duplicates of an average query: texts whose similarity to it reaches the threshold.
    pub near: f64,
    /// The results in the order of the shapes.
    pub shapes: Vec<ShapeMeasured>,
}

/// The results for a shape, for an average query.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ShapeMeasured {
    /// The shape.
    pub bands: Bands,
    /// Near-duplicates that share a band with the query.
    pub found: Figure,
    /// Texts that share a band with it.
    pub candidates: Figure,
    /// Candidates below the threshold.
    pub false_positives: Figure,
    /// Their share of all texts below the threshold, 0 to 1; `None` if there are no such texts.
    pub false_positive_rate: Option<Figure>,
    /// Near-duplicates that share no band with the query.
    pub false_negatives: Figure,
    /// Their share of the near-duplicates, 0 to 1; `None` if there are no near-duplicates.
    pub false_negative_rate: Option<Figure>,
    /// The candidates of all queries. Two queries that are candidates for each other count once.
    pub candidate_pairs: u64,
}

/// A measurement beside its prediction.
///
/// The prediction is the S-curve 1 - (1 - J^r)^b, applied to the exact similarities of the same pairs
/// ([`Bands::probability`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The measured value.
    pub measured: f64,
    /// The expected value over all permutations.
    pub expected: f64,
}

/// Compares some texts with all others: exactly, and by the bands of their signatures.
///
/// `queries` are the indexes of the texts to compare with all others. The number of comparisons is their number
/// multiplied by that of the texts. A step is a text. The figures depend only on the sets, their order and the
/// signer. Uses the threads of the current rayon pool.
///
/// # Errors
///
/// [`Error::InvalidQuery`] for fewer than two sets, no query, or a threshold that is not above 0 and at most 1;
/// [`Error::InvalidColumn`] for a query that is not the index of a set; [`Error::InvalidSchema`] for a shape of more
/// slots than the signer has; and [`Error::Stopped`].
///
/// ```
/// use dedupdb::Progress;
/// use dedupdb_lab::eval::bands;
/// use dedupdb::sketching::{Bands, Family, ShingleSet, Signer, SlotWidth};
///
/// let hash = |i: u32| i.wrapping_mul(0x9E37_79B1);
/// let set = |from: u32| ShingleSet::from_hashes((from..from + 300).map(hash).collect());
/// let sets: Vec<ShingleSet> = (0..40).map(|text| set(text / 2 * 1000 + text % 2 * 10)).collect();
/// let signer = Signer::new(Family::default(), 1, 128, SlotWidth::Bits16)?;
/// let shapes = [Bands::new(17, 7, 128)?, Bands::new(2, 60, 128)?];
/// let measured = bands(&sets, &[0, 1, 2, 3], &signer, &shapes, 0.8, &Progress::new())?;
/// assert_eq!(measured.near, 1.0);
/// assert_eq!(measured.shapes[0].found.measured, 1.0);
/// assert!(measured.shapes[0].found.expected > 0.99 && measured.shapes[1].found.expected < 0.1);
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn bands<S: Borrow<ShingleSet> + Sync>(
    sets: &[S],
    queries: &[usize],
    signer: &Signer,
    shapes: &[Bands],
    threshold: f64,
    progress: &Progress,
) -> Result<BandsMeasured> {
    check_two(sets.len())?;
    check_threshold(threshold)?;
    for shape in shapes {
        Bands::new(shape.bands(), shape.rows(), signer.permutations())?;
    }
    let queries = places(queries, sets.len())?;
    progress.begin(sets.len() as u64);
    let sign = |set: &S| signer.sign(set.borrow().as_slice());
    let signed = queries
        .clone()
        .into_par_iter()
        .map(|query| sign(&sets[query]))
        .collect::<Vec<_>>();
    let experiment = BandsExperiment {
        sets,
        queries: &queries,
        signed: &signed,
        width: signer.width(),
        shapes,
        threshold,
    };
    let chunks: Vec<usize> = (0..sets.len()).step_by(CHUNK).collect();
    let parts = chunks
        .into_par_iter()
        .map(|from| -> Result<PartCounts> {
            let texts = from..sets.len().min(from + CHUNK);
            let steps = texts.len() as u64;
            let part = experiment.part(texts, sign);
            progress.step(steps)?;
            Ok(part)
        })
        .collect::<Vec<_>>();
    // In the order of the texts, whichever thread computed them: sums of f64 depend on the order.
    let mut sums = PartCounts::new(shapes.len());
    for part in parts {
        sums.add(&part?);
    }
    Ok(sums.measured(shapes, sets.len(), queries.len()))
}

/// Returns the indexes of the queries, ascending and without repetitions.
fn places(queries: &[usize], texts: usize) -> Result<Vec<usize>> {
    if queries.is_empty() {
        return Err(invalid("queries", "there is 1 at least, not 0".to_owned()));
    }
    let mut places = queries.to_vec();
    places.sort_unstable();
    places.dedup();
    match places.last() {
        Some(&row) if row >= texts => Err(Error::InvalidColumn {
            column: "queries",
            row,
            reason: format!("there are {texts} sets"),
        }),
        _ => Ok(places),
    }
}

/// The inputs of the comparison.
struct BandsExperiment<'a, S> {
    sets: &'a [S],
    /// Ascending.
    queries: &'a [usize],
    signed: &'a [Signature],
    width: SlotWidth,
    shapes: &'a [Bands],
    threshold: f64,
}

/// The counts for some texts.
#[derive(Clone, Debug)]
struct PartCounts {
    /// Pairs of a query and another text that reach the threshold.
    near: u64,
    /// In the order of the shapes.
    counts: Vec<ShapeCounts>,
}

/// The counts for a shape, summed over queries. The `expected` ones are the predictions of the S-curve.
#[derive(Clone, Copy, Debug, Default)]
struct ShapeCounts {
    found: u64,
    expected_found: f64,
    false_positives: u64,
    expected_false_positives: f64,
    candidate_pairs: u64,
}

impl<S: Borrow<ShingleSet>> BandsExperiment<'_, S> {
    /// Compares some texts with all queries.
    fn part(&self, texts: std::ops::Range<usize>, sign: impl Fn(&S) -> Signature) -> PartCounts {
        let mut part = PartCounts::new(self.shapes.len());
        for text in texts {
            let signature = sign(&self.sets[text]);
            let is_query = self.queries.binary_search(&text).is_ok();
            for (&query, own) in self.queries.iter().zip(self.signed) {
                if query == text {
                    continue;
                }
                let jaccard = self.sets[query].borrow().jaccard(self.sets[text].borrow());
                let is_near = jaccard >= self.threshold;
                part.near += u64::from(is_near);
                for (shape, counts) in self.shapes.iter().zip(&mut part.counts) {
                    let (own, other) = (own.as_bytes(), signature.as_bytes());
                    let shared = shape.shared(own, other, self.width) > Some(0);
                    counts.count(is_near, shared, shape.probability(jaccard, self.width));
                    let is_new = !is_query || query < text;
                    counts.candidate_pairs += u64::from(shared && is_new);
                }
            }
        }
        part
    }
}

impl PartCounts {
    fn new(shapes: usize) -> PartCounts {
        PartCounts {
            near: 0,
            counts: vec![ShapeCounts::default(); shapes],
        }
    }

    fn add(&mut self, other: &PartCounts) {
        self.near += other.near;
        for (sum, counts) in self.counts.iter_mut().zip(&other.counts) {
            sum.add(counts);
        }
    }

    fn measured(&self, shapes: &[Bands], texts: usize, queries: usize) -> BandsMeasured {
        let pairs = queries as u64 * (texts as u64 - 1);
        let (near, far) = (self.near as f64, (pairs - self.near) as f64);
        let shape = |(&bands, counts): (&Bands, &ShapeCounts)| {
            let found = Figure::new(counts.found as f64, counts.expected_found);
            let (wrong, expected) = (counts.false_positives, counts.expected_false_positives);
            let wrong = Figure::new(wrong as f64, expected);
            let missed = Figure::new(near - found.measured, near - found.expected);
            let queries = queries as f64;
            ShapeMeasured {
                bands,
                found: found.by(queries),
                candidates: found.and(wrong).by(queries),
                false_positives: wrong.by(queries),
                false_positive_rate: (far > 0.0).then(|| wrong.by(far)),
                false_negatives: missed.by(queries),
                false_negative_rate: (near > 0.0).then(|| missed.by(near)),
                candidate_pairs: counts.candidate_pairs,
            }
        };
        BandsMeasured {
            texts,
            queries,
            near: near / queries as f64,
            shapes: shapes.iter().zip(&self.counts).map(shape).collect(),
        }
    }
}

impl ShapeCounts {
    fn count(&mut self, near: bool, shared: bool, expected: f64) {
        if near {
            self.found += u64::from(shared);
            self.expected_found += expected;
        } else {
            self.false_positives += u64::from(shared);
            self.expected_false_positives += expected;
        }
    }

    fn add(&mut self, other: &ShapeCounts) {
        self.found += other.found;
        self.expected_found += other.expected_found;
        self.false_positives += other.false_positives;
        self.expected_false_positives += other.expected_false_positives;
        self.candidate_pairs += other.candidate_pairs;
    }
}

impl Figure {
    fn new(measured: f64, expected: f64) -> Figure {
        Figure { measured, expected }
    }

    fn by(self, whole: f64) -> Figure {
        Figure::new(self.measured / whole, self.expected / whole)
    }

    fn and(self, other: Figure) -> Figure {
        Figure::new(
            self.measured + other.measured,
            self.expected + other.expected,
        )
    }
}

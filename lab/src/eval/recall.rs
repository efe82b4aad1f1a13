//! The recall of a store: how many of its true pairs it finds.

use std::sync::Arc;

use super::draw::invalid;
use super::groups::TruePairGroups;
use super::interval::wilson_of;
use super::truth::{self, PairSource, SampledPair};
use crate::eval::check_threshold;
use dedupdb::{Error, Progress, Result, Schema, Store};

/// The number of ranges of similarity between 0 and 1.
const RANGES: u32 = 20;

/// The settings of [`recall`].
#[derive(Clone, Copy, Debug, Default)]
pub struct RecallQuery {
    threshold: Option<f64>,
    sample: Option<usize>,
    seed: u64,
    most_pairs: Option<u64>,
}

/// The results of [`recall`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recall {
    /// The minimum similarity of the pairs.
    pub threshold: f64,
    /// The number of distinct texts in the store.
    pub texts: u64,
    /// The number of texts in the sample, if not all texts were compared.
    pub sample: Option<usize>,
    /// The pairs by their similarity, in ranges of 0.05, ascending. The first range begins at the threshold.
    pub ranges: Vec<RecallRange>,
    /// All pairs that reach the threshold.
    pub all: RecallRange,
    /// Pairs that share a bucket and a shingle, whatever their similarity.
    pub candidates: u64,
}

/// The pairs of distinct texts in a range of similarities.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RecallRange {
    /// The minimum similarity.
    pub from: f64,
    /// The similarity from which pairs belong to the next range. A similarity of 1 belongs to the last range.
    pub to: f64,
    /// True pairs, whether or not they share a band.
    pub pairs: u64,
    /// The true pairs that the store finds through its bands.
    pub found: u64,
    /// Sums over the true pairs: of their similarities, and of their probabilities by the S-curve.
    jaccard: f64,
    predicted: f64,
    /// The number of independent pairs that say as much as the true pairs.
    independent: f64,
}

impl RecallQuery {
    /// Returns the default settings: all pairs that reach the store's threshold, at most 50,000,000.
    pub fn new() -> RecallQuery {
        RecallQuery::default()
    }

    /// Sets the minimum Jaccard similarity of the pairs, above 0 and at most 1, instead of the store's threshold.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> RecallQuery {
        self.threshold = Some(threshold);
        self
    }

    /// Compares only this number of texts with all others. They are drawn by the hash of their keys and `seed`
    /// ([`rank`](super::rank)). A pair of two drawn texts counts once.
    #[must_use]
    pub fn sample(mut self, texts: usize, seed: u64) -> RecallQuery {
        self.sample = Some(texts);
        self.seed = seed;
        self
    }

    /// Sets the maximum number of pairs to process if all texts are joined. The default is 50,000,000, which takes some
    /// minutes.
    #[must_use]
    pub fn most_pairs(mut self, pairs: u64) -> RecallQuery {
        self.most_pairs = Some(pairs);
        self
    }
}

/// Compares the pairs that a store finds with all pairs.
///
/// All pairs are found without the store's bands, by an exact join over all shingles or by comparing a sample with all
/// texts.
///
/// If all texts are joined, the progress has two parts, the pairs that share a bucket and then the exact join. For a
/// sample, a step is one text. The figures depend only on the contents of the store and the seed.
///
/// # Errors
///
/// [`Error::NoShingles`]; [`Error::InvalidQuery`] for a threshold out of range, an empty sample or more pairs than the
/// maximum; errors of reading the store; and [`Error::Stopped`].
///
/// ```
/// use dedupdb::Progress;
/// use dedupdb_lab::eval::{RecallQuery, recall};
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let mut writer = store.writer()?;
/// writer.add("a", "it was the first of many long and cold nights in the old lighthouse")?;
/// writer.add("b", "so it was the first of many long and cold nights in the old lighthouse")?;
/// writer.add("c", "nobody had seen the keeper since the boats were pulled up in autumn")?;
/// writer.commit()?;
/// let measured = recall(&store, &RecallQuery::new(), &Progress::new())?;
/// assert_eq!((measured.texts, measured.all.pairs, measured.all.found), (3, 1, 1));
/// assert_eq!(measured.all.recall(), Some(1.0));
/// assert!(measured.all.predicted().is_some_and(|predicted| predicted > 0.98));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recall(store: &Store, query: &RecallQuery, progress: &Progress) -> Result<Recall> {
    let schema = store.schema();
    let threshold = query.threshold.unwrap_or(schema.threshold());
    check_threshold(threshold)?;
    if !schema.keeps_shingles() {
        return Err(Error::NoShingles);
    }
    let texts = store.stats()?.contents;
    // At most all texts.
    let most = usize::try_from(texts).unwrap_or(usize::MAX);
    let sample = query.sample.map(|sample| sample.min(most));
    if query.sample == Some(0) {
        return Err(invalid(
            "sample",
            "there is 1 text at least, not 0".to_owned(),
        ));
    }
    let mut measured = Recall::new(threshold, texts, sample);
    let mut groups = TruePairGroups::default();
    let count = |seen| measured.count(&schema, &mut groups, seen);
    match sample {
        None => truth::joined(store, threshold, query.most_pairs, progress, count)?,
        Some(sample) => truth::sampled(store, threshold, (sample, query.seed), progress, count)?,
    }
    for (place, range) in measured.ranges.iter_mut().enumerate() {
        range.independent = groups.independent(Some(place));
    }
    measured.all.independent = groups.independent(None);
    Ok(measured)
}

impl Recall {
    fn new(threshold: f64, texts: u64, sample: Option<usize>) -> Recall {
        let edge = |number: u32| f64::from(number) / f64::from(RANGES);
        let ranges = (0..RANGES).map(|number| RecallRange {
            from: edge(number).max(threshold),
            to: edge(number + 1),
            ..RecallRange::default()
        });
        Recall {
            ranges: ranges.filter(|range| range.to >= threshold).collect(),
            all: RecallRange {
                from: threshold,
                to: 1.0,
                ..RecallRange::default()
            },
            candidates: 0,
            threshold,
            texts,
            sample,
        }
    }

    fn count(&mut self, schema: &Arc<Schema>, groups: &mut TruePairGroups, seen: SampledPair) {
        let jaccard = seen.jaccard;
        let place = self.ranges.iter().rposition(|range| range.from <= jaccard);
        let range = place.and_then(|place| self.ranges.get_mut(place));
        match seen.how {
            PairSource::True => {
                if let Some(place) = place {
                    groups.pair(seen.texts, place);
                }
                let predicted = schema.recall(jaccard);
                for range in range.into_iter().chain([&mut self.all]) {
                    range.pairs += 1;
                    range.jaccard += jaccard;
                    range.predicted += predicted;
                }
            }
            PairSource::Candidate => {
                self.candidates += 1;
                if jaccard >= self.threshold {
                    if let Some(place) = place {
                        groups.found(seen.texts, place);
                    }
                    for range in range.into_iter().chain([&mut self.all]) {
                        range.found += 1;
                    }
                }
            }
        }
    }

    /// Returns the share of the pairs that share a bucket that reach the threshold, 0 to 1; `None` if no pair shares a
    /// bucket.
    pub fn candidate_precision(&self) -> Option<f64> {
        (self.candidates > 0).then(|| self.all.found as f64 / self.candidates as f64)
    }
}

impl RecallRange {
    /// Returns the share of the true pairs that the store finds, 0 to 1; `None` without pairs.
    pub fn recall(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.found as f64 / self.pairs as f64)
    }

    /// Returns the bounds of [`recall`](RecallRange::recall) at 95% confidence; 0 and 1 without pairs.
    ///
    /// Pairs of the same texts, and of texts connected by pairs, are found or missed together. So groups of connected
    /// texts, rather than pairs, are treated as independent: the bounds are those of [`wilson`](super::wilson) for the
    /// number of independent pairs that say as much.
    pub fn interval(&self) -> (f64, f64) {
        wilson_of(self.recall().unwrap_or(0.0).min(1.0), self.independent)
    }

    /// Returns the share of the true pairs that the S-curve 1 - (1 - J^r)^b predicts to be found ([`Schema::recall`]),
    /// from their exact similarities; `None` without pairs.
    pub fn predicted(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.predicted / self.pairs as f64)
    }

    /// Returns the mean similarity of the true pairs; `None` without pairs.
    pub fn jaccard(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.jaccard / self.pairs as f64)
    }

    /// Returns the share of the pairs found that are true pairs. It is 1, because the store compares the shingles of
    /// every candidate; `None` if it finds no pair.
    pub fn precision(&self) -> Option<f64> {
        (self.found > 0).then_some(1.0)
    }
}

//! How many of its true pairs a store finds.

use std::sync::Arc;

use super::draw::invalid;
use super::groups::Groups;
use super::interval::wilson_of;
use super::monitor::Monitor;
use super::truth::{self, How, Seen};
use crate::error::{Error, Result};
use crate::schema::{Schema, check_threshold};
use crate::store::Store;

/// Ranges of similarity from 0 to 1.
const RANGES: u32 = 20;

/// What [`recall`] is to measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecallQuery {
    threshold: Option<f64>,
    sample: Option<usize>,
    seed: u64,
    most_pairs: Option<u64>,
}

/// What [`recall`] measured.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recall {
    /// Least similarity of the pairs.
    pub threshold: f64,
    /// Distinct texts of the store.
    pub texts: u64,
    /// Texts that were asked about, if not all.
    pub sample: Option<usize>,
    /// Pairs by their similarity: ranges of 0.05, ascending, the first one from the threshold on.
    pub ranges: Vec<RecallRange>,
    /// All pairs that reach the threshold.
    pub all: RecallRange,
    /// Pairs that share a bucket, whatever their similarity.
    pub candidates: u64,
}

/// The pairs of distinct texts of a range of similarities.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RecallRange {
    /// Least similarity.
    pub from: f64,
    /// Similarity from which on pairs are of the next range; 1 is of the last one.
    pub to: f64,
    /// True pairs, whatever the bands say.
    pub pairs: u64,
    /// Those of them that the store finds through its bands.
    pub found: u64,
    /// Sums over the true pairs: of their similarities, and of what the S-curve says of them.
    jaccard: f64,
    predicted: f64,
    /// How many independent pairs the true pairs tell as much as.
    independent: f64,
}

impl RecallQuery {
    /// All pairs that reach the store's threshold, 50,000,000 at most.
    pub fn new() -> RecallQuery {
        RecallQuery::default()
    }

    /// Least Jaccard similarity of the pairs, above 0 and at most 1, instead of the store's threshold.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> RecallQuery {
        self.threshold = Some(threshold);
        self
    }

    /// Asks about this number of texts, drawn by the hash of their keys and `seed` ([`rank`](super::rank)), and
    /// compares each with all others. A pair of two that are drawn counts once.
    #[must_use]
    pub fn sample(mut self, texts: usize, seed: u64) -> RecallQuery {
        self.sample = Some(texts);
        self.seed = seed;
        self
    }

    /// Pairs that are gone through at most where all texts are joined; 50,000,000 by default, which
    /// take some minutes.
    #[must_use]
    pub fn most_pairs(mut self, pairs: u64) -> RecallQuery {
        self.most_pairs = Some(pairs);
        self
    }
}

/// Compares the pairs that a store finds with all that there are, which are found without its bands: by
/// an exact join over all shingles, or by comparing a sample with all texts.
///
/// Where all texts are joined, [`Store::progress`] shows how far that is, in two parts: the pairs that share a
/// bucket, then the exact join; the monitor counts pairs. Of a sample, a step is a text. The figures depend on what the store holds, and on the seed.
///
/// # Errors
///
/// [`Error::NoShingles`], [`Error::InvalidQuery`] for a threshold out of range, a sample of no text or
/// more pairs than are to be gone through, those of reading the store, and [`Error::Stopped`].
///
/// ```
/// use dedupdb::eval::{Monitor, RecallQuery, recall};
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
/// let mut writer = store.writer()?;
/// writer.add("a", "it was the first of many long and cold nights in the old lighthouse")?;
/// writer.add("b", "so it was the first of many long and cold nights in the old lighthouse")?;
/// writer.add("c", "nobody had seen the keeper since the boats were pulled up in autumn")?;
/// writer.commit()?;
/// let measured = recall(&store, &RecallQuery::new(), &Monitor::new())?;
/// assert_eq!((measured.texts, measured.all.pairs, measured.all.found), (3, 1, 1));
/// assert_eq!(measured.all.recall(), Some(1.0));
/// assert!(measured.all.predicted().is_some_and(|predicted| predicted > 0.98));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recall(store: &Store, query: &RecallQuery, monitor: &Monitor<'_>) -> Result<Recall> {
    let schema = store.schema();
    let threshold = query.threshold.unwrap_or(schema.threshold());
    check_threshold(threshold)?;
    if !schema.keeps_shingles() {
        return Err(Error::NoShingles);
    }
    let texts = store.stats()?.contents;
    // No more than there are.
    let most = usize::try_from(texts).unwrap_or(usize::MAX);
    let sample = query.sample.map(|sample| sample.min(most));
    if query.sample == Some(0) {
        return Err(invalid(
            "sample",
            "there is 1 text at least, not 0".to_owned(),
        ));
    }
    let mut measured = Recall::new(threshold, texts, sample);
    let mut groups = Groups::default();
    let count = |seen| measured.count(&schema, &mut groups, seen);
    match sample {
        None => truth::joined(store, threshold, query.most_pairs, monitor, count)?,
        Some(sample) => truth::sampled(store, threshold, (sample, query.seed), monitor, count)?,
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

    fn count(&mut self, schema: &Arc<Schema>, groups: &mut Groups, seen: Seen) {
        let jaccard = seen.jaccard;
        let place = self.ranges.iter().rposition(|range| range.from <= jaccard);
        let range = place.and_then(|place| self.ranges.get_mut(place));
        match seen.how {
            How::True => {
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
            How::Candidate => {
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

    /// Returns the share, 0 to 1, of the pairs that share a bucket that reach the threshold; none if
    /// none share one.
    pub fn candidate_precision(&self) -> Option<f64> {
        (self.candidates > 0).then(|| self.all.found as f64 / self.candidates as f64)
    }
}

impl RecallRange {
    /// Returns the share of the true pairs that the store finds, 0 to 1; none without pairs.
    pub fn recall(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.found as f64 / self.pairs as f64)
    }

    /// Returns the bounds of that share at 95% confidence; 0 and 1 without pairs.
    ///
    /// Pairs of the same texts, and of texts that are connected by pairs, are found or missed together. So groups of
    /// connected texts are taken for independent, and not pairs: the bounds are those of [`wilson`](super::wilson) for
    /// as many independent pairs as tell as much.
    pub fn interval(&self) -> (f64, f64) {
        wilson_of(self.recall().unwrap_or(0.0).min(1.0), self.independent)
    }

    /// Returns the share that the S-curve 1 - (1 - J^r)^b says is found of the true pairs
    /// ([`Schema::recall`]), by their exact similarities; none without pairs.
    pub fn predicted(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.predicted / self.pairs as f64)
    }

    /// Returns the mean similarity of the true pairs; none without pairs.
    pub fn jaccard(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.jaccard / self.pairs as f64)
    }

    /// Returns the share of what the store finds that is so much alike: 1, because it compares the
    /// shingles of every candidate; none if it finds nothing.
    pub fn precision(&self) -> Option<f64> {
        (self.found > 0).then_some(1.0)
    }
}

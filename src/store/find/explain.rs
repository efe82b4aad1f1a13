//! Why two texts match, or do not.

use std::sync::Arc;

use super::query::{Subject, given_sketch, stored_sketch};
use crate::error::Result;
use crate::schema::Schema;
use crate::sketch::{Estimate, agreeing};
use crate::store::compare::{BodyRef, PublishedCommit, Sketch, StoreSketcher, highest_similarity};
use crate::store::handle::Store;

/// How two texts, A and B, compare under a schema.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// Number of distinct shingles of A and of B.
    pub shingles: [u64; 2],
    /// What the two shingle sets share. None if a text is stored and the store keeps no shingles, unless both texts
    /// are the same.
    pub common: Option<Common>,
    /// Number of slots, of [`Schema::permutations`], in which the two signatures agree. None if a text has no
    /// shingles, because its signature then means nothing.
    pub agreeing: Option<u32>,
    /// Estimate of the similarity from the signatures. None if `agreeing` is None.
    pub estimate: Option<Estimate>,
    /// The bands in which both share a bucket, counted from 0, ascending.
    pub bands: Vec<u32>,
    /// Probability, over all choices of permutations, that a pair of this similarity shares a bucket; 0 if a text
    /// has no shingles.
    pub recall: f64,
    /// Whether the texts are the same, byte for byte, or the shingles, if both were given as shingles.
    pub exact_copy: bool,
    /// Whether the similarity reaches the threshold of the schema. True for copies.
    pub is_match: bool,
}

/// What two sets of shingles have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Common {
    /// Shingles that both have.
    pub both: u64,
    /// Shingles that either has.
    pub either: u64,
    /// Exact Jaccard similarity: `both` divided by `either`, or 1 if the texts are the same.
    pub jaccard: f64,
    /// Share of A's shingles that B has too.
    pub containment_of_a: f64,
    /// Share of B's shingles that A has too.
    pub containment_of_b: f64,
}

/// One side of a comparison.
struct ComparedText {
    hash: [u8; 32],
    sketch: Sketch,
    /// The number of its shingles, and whether the sketch has them.
    shingles: u64,
    known: bool,
}

impl Store {
    /// Compares two texts, given or stored, or their shingles, as the store does, and returns the evidence.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, find::Subject};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// writer.add("a", "it was the first of many long and cold nights in the old lighthouse")?;
    /// writer.commit()?;
    /// let text = "it was the first of many long and cold nights in the old harbour";
    /// let explanation = store.explain(Subject::Key("a"), Subject::Text(text))?;
    /// let common = explanation.common.unwrap();
    /// assert_eq!((common.both, common.either), (9, 11));
    /// assert!(explanation.is_match);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchDocument`](crate::Error::NoSuchDocument) for a key that is not stored,
    /// [`Error::InvalidText`](crate::Error::InvalidText),
    /// [`Error::InvalidShingles`](crate::Error::InvalidShingles), or those of reading the store.
    pub fn explain(&self, a: Subject<'_>, b: Subject<'_>) -> Result<Explanation> {
        let PublishedCommit { snapshot, sketcher } = self.current()?;
        let side = |subject| match subject {
            Subject::Text(text) => ComparedText::given(&sketcher, BodyRef::Text(text)),
            Subject::Hashed { text, hash } => Ok(ComparedText {
                hash,
                ..ComparedText::given(&sketcher, BodyRef::Text(text))?
            }),
            Subject::Shingles(shingles) => {
                ComparedText::given(&sketcher, BodyRef::Shingles(shingles))
            }
            Subject::Key(key) => {
                let (row, sketch) = stored_sketch(&snapshot, key)?;
                Ok(ComparedText {
                    hash: row.hash,
                    sketch,
                    shingles: row.shingle_count.into(),
                    known: snapshot.schema.keeps_shingles() || row.shingle_count == 0,
                })
            }
        };
        Ok(Explanation::new(&snapshot.schema, &side(a)?, &side(b)?))
    }
}

impl Explanation {
    /// Compares two texts as a store of this schema would.
    ///
    /// ```
    /// use dedupdb::{Schema, find::Explanation};
    ///
    /// let (a, b) = ("one two three four five six", "One, two, three, four, five, six!");
    /// let explanation = Explanation::of_texts(&Schema::default(), a, b)?;
    /// assert_eq!(explanation.common.unwrap().jaccard, 1.0);
    /// assert!(!explanation.exact_copy);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidText`](crate::Error::InvalidText).
    pub fn of_texts(schema: &Schema, a: &str, b: &str) -> Result<Explanation> {
        let sketcher = StoreSketcher::new(schema, &Arc::default())?;
        let side = |text| ComparedText::given(&sketcher, BodyRef::Text(text));
        let (a, b) = (side(a)?, side(b)?);
        Ok(Explanation::new(schema, &a, &b))
    }

    /// The exact similarity if it is known, otherwise the estimate. None if neither is known.
    pub fn similarity(&self) -> Option<f64> {
        let exact = self.common.map(|common| common.jaccard);
        exact.or(self.estimate.map(|estimate| estimate.jaccard))
    }

    /// Whether a query for one of them finds the other: they match, and they share a bucket or are the same.
    pub fn is_found(&self) -> bool {
        self.is_match && (self.exact_copy || !self.bands.is_empty())
    }

    fn new(schema: &Schema, a: &ComparedText, b: &ComparedText) -> Explanation {
        let exact_copy = a.hash == b.hash;
        let common = Common::of(a, b, exact_copy);
        let width = schema.slot_width();
        let (hashes_a, hashes_b) = (&a.sketch.band_hashes, &b.sketch.band_hashes);
        let is_banded = !hashes_a.is_empty() && !hashes_b.is_empty();
        let agreeing = is_banded.then(|| agreeing(&a.sketch.signature, &b.sketch.signature, width));
        let estimate =
            agreeing.map(|agreeing| Estimate::new(agreeing, schema.permutations(), width));
        let bands = (0..).zip(hashes_a.iter().zip(hashes_b));
        let bands = bands.filter(|(_, (a, b))| a == b).map(|(band, _)| band);
        let is_match = match (common, estimate) {
            (Some(common), _) => common.jaccard >= schema.threshold(),
            (None, Some(estimate)) => highest_similarity(estimate) >= schema.threshold(),
            (None, None) => false,
        };
        let mut explanation = Explanation {
            shingles: [a.shingles, b.shingles],
            common,
            agreeing,
            estimate,
            bands: bands.collect(),
            recall: 0.0,
            exact_copy,
            is_match,
        };
        if is_banded && let Some(similarity) = explanation.similarity() {
            explanation.recall = schema.recall(similarity);
        }
        explanation
    }
}

impl Common {
    fn of(a: &ComparedText, b: &ComparedText, exact_copy: bool) -> Option<Common> {
        let both = if exact_copy {
            a.shingles
        } else if a.known && b.known {
            a.sketch.shingles.intersection_len(&b.sketch.shingles) as u64
        } else {
            return None;
        };
        let either = a.shingles + b.shingles - both;
        let share = |whole: u64| {
            if exact_copy {
                1.0
            } else if whole == 0 {
                0.0
            } else {
                both as f64 / whole as f64
            }
        };
        Some(Common {
            both,
            either,
            jaccard: share(either),
            containment_of_a: share(a.shingles),
            containment_of_b: share(b.shingles),
        })
    }
}

impl ComparedText {
    fn given(sketcher: &StoreSketcher, body: BodyRef<'_>) -> Result<ComparedText> {
        let (hash, sketch) = given_sketch(sketcher, body)?;
        Ok(ComparedText {
            hash,
            shingles: sketch.shingles.len() as u64,
            known: true,
            sketch,
        })
    }
}

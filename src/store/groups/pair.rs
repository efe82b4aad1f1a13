//! A pair of similar documents, and which pairs are asked for.

use crate::sketch::Estimate;
use crate::store::compare::Likeness;

/// Which pairs [`Store::pairs`](crate::Store::pairs) finds.
///
/// ```
/// use dedupdb::groups::PairQuery;
///
/// let across_crawls = PairQuery::new().between("2025/", "2026/").threshold(0.9);
/// ```
#[derive(Clone, Debug, Default)]
pub struct PairQuery {
    pub(super) threshold: Option<f64>,
    between: Option<(String, String)>,
    pub(super) fold_copies: bool,
    pub(super) exhaustive: bool,
}

impl PairQuery {
    /// All pairs that reach the store's threshold.
    pub fn new() -> PairQuery {
        PairQuery::default()
    }

    /// Sets the minimum Jaccard similarity, above 0 and at most 1. Below the store's threshold, only a share of the
    /// pairs is found; [`Schema::recall`](crate::Schema::recall) returns it.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> PairQuery {
        self.threshold = Some(threshold);
        self
    }

    /// Finds only pairs of a document whose key begins with `a` and one whose key begins with `b`.
    #[must_use]
    pub fn between(mut self, a: impl Into<String>, b: impl Into<String>) -> PairQuery {
        self.between = Some((a.into(), b.into()));
        self
    }

    /// Treats documents with the same text as one: the one whose key comes first.
    #[must_use]
    pub fn fold_copies(mut self, fold: bool) -> PairQuery {
        self.fold_copies = fold;
        self
    }

    /// Finds every pair, by comparing shingles instead of searching buckets. The recall of bands is measured against
    /// this. It also finds pairs far below the store's threshold.
    ///
    /// This is an exact join (`AllPairs` with the positions of `PPJoin`). It reads all shingles three times, from
    /// the mapped column. It takes 12 bytes of memory per content, 8 more for each thread, 1 to 2 bytes per shingle
    /// (at most 256 MiB), and at most 20 bytes per indexed shingle; at a threshold of 0.8, a ninth of the shingles
    /// is indexed. An index of more than 640 MiB is made in parts; for each part, the shingles that may match are
    /// read once more.
    #[must_use]
    pub fn exhaustive(mut self, exhaustive: bool) -> PairQuery {
        self.exhaustive = exhaustive;
        self
    }

    /// Whether `one` is the first key of the pair; `None` if the query does not ask for this pair.
    fn order(&self, one: &str, other: &str) -> Option<bool> {
        let in_order = one <= other;
        let Some((a, b)) = &self.between else {
            return Some(in_order);
        };
        let forth = one.starts_with(a.as_str()) && other.starts_with(b.as_str());
        let back = other.starts_with(a.as_str()) && one.starts_with(b.as_str());
        match (forth, back) {
            (true, true) => Some(in_order),
            (true, false) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    /// The pair of two documents, if the query asks for it.
    pub(super) fn pair(&self, one: &str, other: &str, likeness: Likeness) -> Option<Pair> {
        let (a, b) = if self.order(one, other)? {
            (one, other)
        } else {
            (other, one)
        };
        Some(Pair {
            key_a: a.to_owned(),
            key_b: b.to_owned(),
            jaccard: likeness.jaccard,
            estimate: likeness.estimate,
            exact_copy: likeness.exact_copy,
        })
    }
}

/// Two similar documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The key that comes first, or the one with the first prefix of [`PairQuery::between`].
    pub key_a: String,
    /// The other key.
    pub key_b: String,
    /// Exact Jaccard similarity, 0 to 1. None if the store keeps no shingles.
    pub jaccard: Option<f64>,
    /// Estimate from the signatures.
    pub estimate: Estimate,
    /// Whether the texts are the same, byte for byte, or the shingles, if both were given as shingles.
    pub exact_copy: bool,
}

//! A pair of similar documents, and which pairs are asked for.

use std::sync::Arc;

use crate::sketch::Estimate;
use crate::store::compare::Likeness;
use crate::store::overlap::Containment;
use crate::text::ShingleSet;

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
    pub(super) containment: Containment,
    pub(super) ignored: Option<Arc<ShingleSet>>,
    pub(super) memory: Option<u64>,
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
    /// the mapped column. It takes 12 bytes of memory per content and 8 more for each thread; and, within
    /// [`memory`](PairQuery::memory), 1 to 2 bytes per shingle and at most 22 bytes per indexed shingle. At a threshold
    /// of 0.8, a ninth of the shingles is indexed.
    #[must_use]
    pub fn exhaustive(mut self, exhaustive: bool) -> PairQuery {
        self.exhaustive = exhaustive;
        self
    }

    /// Sets how many bytes of memory an [exhaustive](PairQuery::exhaustive) search, or one by containment, takes besides those
    /// for each content, 1 GiB by default. Where the index would take more, it is made in parts; for each part, the
    /// shingles that may match are read once more, and its pairs come before those of the next one.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> PairQuery {
        self.memory = Some(bytes);
        self
    }

    /// Finds every pair of which the second text has at least this share of the shingles of the first, above 0 and at
    /// most 1, and at least as many in all. The share is the containment of the first text in the second (Broder, "On the
    /// Resemblance and Containment of Documents", 1997). Jaccard similarity has no part in it, so the query has no
    /// [`threshold`](PairQuery::threshold).
    ///
    /// This is an exact join as well (Sarawagi and Kirpal, "Efficient Set Joins on Similarity Predicates", 2004), in
    /// as much memory as that of [`exhaustive`](PairQuery::exhaustive), whatever that option says; at a share of 0.8,
    /// at most a fifth of the shingles is indexed. Of two texts with the same number of shingles, the one that was added
    /// first contains the other one, so each pair is found once.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, groups::PairQuery};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let notice = "it was the first of many long and cold nights in the old lighthouse";
    /// let mut writer = store.writer()?;
    /// writer.add("page", format!("nobody had seen the keeper since the boats were pulled up. {notice}"))?;
    /// writer.add("notice", notice)?;
    /// writer.commit()?;
    /// let query = PairQuery::new().containment(0.8).shortest(10);
    /// let pairs: Vec<_> = store.pairs(query)?.collect::<Result<_, _>>()?;
    /// assert_eq!((pairs[0].key_a.as_str(), pairs[0].key_b.as_str()), ("notice", "page"));
    /// assert_eq!(pairs[0].containment, Some(1.0));
    /// assert!(pairs[0].jaccard < Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn containment(mut self, least: f64) -> PairQuery {
        self.containment.least = Some(least);
        self
    }

    /// Sets how many tokens the shortest texts have that a search by containment takes into account, 20 by default: a
    /// few common words are in everything. A token is a word, or what the store's shingles are made of.
    ///
    /// The number of tokens of a text is not stored. A text is left out if it has fewer than `tokens` - k + 1 distinct
    /// shingles, for shingles of k tokens. So all shorter texts are left out, and longer ones that repeat themselves
    /// so often that they have no more shingles than a shorter text. [`Pairs::short`](crate::groups::Pairs::short)
    /// counts them. Copies of a text are found whatever its length.
    #[must_use]
    pub fn shortest(mut self, tokens: usize) -> PairQuery {
        self.containment.shortest = tokens;
        self
    }

    /// Compares texts without these shingles: those of a template, a licence, base code. A text of which nothing is left
    /// is in no pair, not even with its copies; in a search by containment, neither is one of which less is left than the
    /// [shortest](PairQuery::shortest) text has.
    ///
    /// The buckets are those of whole texts, so this is an [exhaustive](PairQuery::exhaustive) search, or one by
    /// containment. The [`estimate`](Pair::estimate) of a pair is that of the whole texts.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, groups::PairQuery};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let form = "name of the applicant, date and place of birth, current address of the applicant, signature";
    /// store.insert_unless_duplicate("one", format!("{form}: Ada, in London"))?;
    /// store.insert_unless_duplicate("two", format!("{form}: Emmy, in Erlangen"))?;
    /// let form = store.schema().shingler()?.shingles(form)?;
    /// let query = PairQuery::new().exhaustive(true).threshold(0.5);
    /// assert_eq!(store.pairs(query.clone())?.count(), 1);
    /// assert_eq!(store.pairs(query.ignore(&form))?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ignore(mut self, shingles: &ShingleSet) -> PairQuery {
        self.ignored = Some(Arc::new(shingles.clone()));
        self.exhaustive = true;
        self
    }

    /// Whether `one` is the first key of the pair; `None` if the query does not ask for this pair. If `one` is
    /// `contained` in the other, it is the first one.
    fn order(&self, one: &str, other: &str, contained: bool) -> Option<bool> {
        let in_order = contained || one <= other;
        let Some((a, b)) = &self.between else {
            return Some(in_order);
        };
        let forth = one.starts_with(a.as_str()) && other.starts_with(b.as_str());
        let back = other.starts_with(a.as_str()) && one.starts_with(b.as_str());
        match (forth, back) {
            (true, true) => Some(in_order),
            (true, false) => Some(true),
            (false, true) => Some(contained),
            (false, false) => None,
        }
    }

    /// The pair of two documents, if the query asks for it. In a search by containment, `one` is the contained one.
    pub(super) fn pair(&self, one: &str, other: &str, likeness: Likeness) -> Option<Pair> {
        let contained = self.containment.least.is_some() && !likeness.exact_copy;
        let (a, b) = if self.order(one, other, contained)? {
            (one, other)
        } else {
            (other, one)
        };
        Some(Pair {
            key_a: a.to_owned(),
            key_b: b.to_owned(),
            jaccard: likeness.jaccard,
            estimate: likeness.estimate,
            containment: self.containment.least.and(likeness.containment),
            exact_copy: likeness.exact_copy,
        })
    }
}

/// Two similar documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The key that comes first, or the one with the first prefix of [`PairQuery::between`]. In a search by containment,
    /// that of the contained text, unless both have the same text.
    pub key_a: String,
    /// The other key.
    pub key_b: String,
    /// Exact Jaccard similarity, 0 to 1. None if the store keeps no shingles.
    pub jaccard: Option<f64>,
    /// Estimate from the signatures.
    pub estimate: Estimate,
    /// The share of the first text's shingles that the second has, 0 to 1, in a search by containment.
    pub containment: Option<f64>,
    /// Whether the texts are the same, byte for byte, or the shingles, if both were given as shingles.
    pub exact_copy: bool,
}

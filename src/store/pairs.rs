//! Every pair of documents that are alike.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::Store;
use super::exhaustive::Exhaustive;
use super::join::Joined;
use super::matching::{Likeness, Matcher, Probe};
use super::query::check_threshold;
use crate::error::{Error, Result};
use crate::sketch::{Estimate, agreeing};
use crate::storage::{Candidate, Snapshot};

/// Comparisons that are made before their pairs are handed out.
const COMPARISONS: usize = 1 << 16;

/// Contents whose names are read at a time.
const CONTENTS: u32 = 1 << 12;

/// Which pairs [`Store::pairs`] is to find.
///
/// ```
/// use dedupdb::PairQuery;
///
/// let across_crawls = PairQuery::new().between("2025/", "2026/").threshold(0.9);
/// ```
#[derive(Clone, Debug, Default)]
pub struct PairQuery {
    threshold: Option<f64>,
    between: Option<(String, String)>,
    fold_copies: bool,
    exhaustive: bool,
}

impl PairQuery {
    /// All pairs that reach the store's threshold.
    pub fn new() -> PairQuery {
        PairQuery::default()
    }

    /// Least Jaccard similarity, above 0 and at most 1. Below the store's threshold, fewer pairs
    /// are found than there are; [`Schema::recall`](crate::Schema::recall) tells how many.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> PairQuery {
        self.threshold = Some(threshold);
        self
    }

    /// Only pairs of a document whose key begins with `a` and one whose key begins with `b`.
    #[must_use]
    pub fn between(mut self, a: impl Into<String>, b: impl Into<String>) -> PairQuery {
        self.between = Some((a.into(), b.into()));
        self
    }

    /// Takes the documents with the same text for one: the one whose key comes first.
    #[must_use]
    pub fn fold_copies(mut self, fold: bool) -> PairQuery {
        self.fold_copies = fold;
        self
    }

    /// Finds every pair, by comparing shingles instead of going through buckets: the truth that the
    /// recall of bands is measured against, and the way to pairs far below the store's threshold.
    ///
    /// This is an exact join (`AllPairs` with the positions of `PPJoin`). All shingles are read three
    /// times, from the mapped column. Memory is 12 bytes a content and 8 for each thread, 1 to 2
    /// bytes a shingle but 256 MiB at most, and 20 bytes at most for a shingle that is indexed,
    /// which at a threshold of 0.8 is a ninth of them; an index of more than 640 MiB is made in
    /// parts, and the shingles that may match are read once more for each.
    #[must_use]
    pub fn exhaustive(mut self, exhaustive: bool) -> PairQuery {
        self.exhaustive = exhaustive;
        self
    }

    /// The keys in the order in which the pair has them, if it is one that is asked for.
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
}

/// Two documents that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The key that comes first, or the one with the first prefix of [`PairQuery::between`].
    pub key_a: String,
    /// The other key.
    pub key_b: String,
    /// Exact Jaccard similarity; none where the store keeps no shingles.
    pub jaccard: Option<f64>,
    /// Estimate from the signatures.
    pub estimate: Estimate,
    /// Whether the texts are the same, byte for byte.
    pub exact_copy: bool,
}

/// The pairs of a store, from [`Store::pairs`].
#[derive(Debug)]
pub struct Pairs<'s> {
    store: &'s Store,
    snapshot: Arc<Snapshot>,
    query: PairQuery,
    threshold: f64,
    /// Removed contents, sorted.
    removed: Vec<u32>,
    /// The first content whose names were not looked at for copies.
    next_content: u32,
    /// The band whose buckets are gone through, and the next.
    buckets: Buckets,
    next_band: u32,
    /// What goes in the place of the buckets, if that is asked for.
    join: Option<Exhaustive>,
    ready: VecDeque<Pair>,
    failed: bool,
}

/// The buckets of a band that have two contents or more.
#[derive(Debug, Default)]
struct Buckets {
    band: u32,
    contents: Vec<u32>,
    /// Where each bucket ends.
    ends: Vec<usize>,
    /// The next content to be compared with those after it in its bucket, and its bucket.
    at: usize,
    bucket: usize,
}

/// A content to be compared with those after it in its bucket.
#[derive(Clone, Debug)]
struct Task {
    content: u32,
    others: Range<usize>,
}

impl Store {
    /// Finds every pair of documents that share a bucket and reach the threshold, each pair once,
    /// or every pair that reaches it ([`PairQuery::exhaustive`]).
    ///
    /// The buckets are gone through band by band, so that no content is looked up. Memory is that
    /// of one band's postings, 8 bytes a content. A bucket of m contents takes m²/2 comparisons,
    /// fewer where their sizes rule a match out, but it may have as many pairs.
    ///
    /// The pairs of copies come first, in the order in which their texts were added, then the
    /// others by the first bucket that they share. In an exhaustive search these are ordered by the
    /// text with more shingles (of two with the same number, the one added later) and then by the
    /// other, both in the order in which they were added; where the index is made in parts, so are
    /// the pairs of each part. The order depends on what the store holds and
    /// on the order in which it was added, not on the number of threads.
    ///
    /// ```
    /// use dedupdb::{PairQuery, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// writer.add("a", "it was the first of many long and cold nights in the old lighthouse")?;
    /// writer.add("b", "It was the first of many long and cold nights in the old lighthouse!")?;
    /// writer.commit()?;
    /// let pairs: Vec<_> = store.pairs(PairQuery::new())?.collect::<Result<_, _>>()?;
    /// assert_eq!((pairs[0].key_a.as_str(), pairs[0].key_b.as_str()), ("a", "b"));
    /// assert_eq!(pairs[0].jaccard, Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] for a threshold out of range, [`Error::NoShingles`] for an
    /// exhaustive search of a store without shingles, or those of reading the store, now or as an
    /// item, which is then the last.
    pub fn pairs(&self, query: PairQuery) -> Result<Pairs<'_>> {
        let snapshot = self.published();
        let threshold = query.threshold.unwrap_or(snapshot.schema.threshold());
        check_threshold(threshold)?;
        if query.exhaustive && !snapshot.schema.keeps_shingles() {
            return Err(Error::NoShingles);
        }
        let removed = snapshot.tables.catalog.removed_contents();
        let removed = removed.map_err(|error| snapshot.in_index(error))?;
        Ok(Pairs {
            store: self,
            threshold,
            removed,
            next_content: if query.fold_copies { snapshot.len } else { 0 },
            join: query.exhaustive.then(Exhaustive::default),
            query,
            snapshot,
            buckets: Buckets::default(),
            next_band: 0,
            ready: VecDeque::new(),
            failed: false,
        })
    }
}

impl Iterator for Pairs<'_> {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        loop {
            if let Some(pair) = self.ready.pop_front() {
                return Some(Ok(pair));
            }
            if self.failed {
                return None;
            }
            match self.find_more() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl Pairs<'_> {
    /// Takes a step; says whether there was one to take.
    fn find_more(&mut self) -> Result<bool> {
        if self.next_content < self.snapshot.len {
            self.find_copies()?;
        } else if let Some(join) = &mut self.join {
            let (removed, pool) = (&self.removed, &self.store.pool);
            let Some(found) = join.next(&self.snapshot, self.threshold, removed, pool)? else {
                return Ok(false);
            };
            self.name(&found)?;
        } else if self.buckets.is_empty() {
            if self.next_band == self.snapshot.schema.bands().bands() {
                return Ok(false);
            }
            self.buckets = Buckets::of(&self.snapshot, self.next_band, &self.removed)?;
            self.next_band += 1;
        } else {
            self.compare()?;
        }
        Ok(true)
    }

    /// Finds the pairs of documents with the same text, for some contents.
    fn find_copies(&mut self) -> Result<()> {
        let end = self.snapshot.len.min(self.next_content + CONTENTS);
        let contents = std::mem::replace(&mut self.next_content, end)..end;
        let this = &*self;
        let found = this
            .store
            .pool
            .map(contents.collect(), |content| this.copies_of(content));
        for pairs in found {
            self.ready.extend(pairs?);
        }
        Ok(())
    }

    fn copies_of(&self, content: u32) -> Result<Vec<Pair>> {
        let names: Vec<String> = self.snapshot.names(content)?.collect::<Result<_>>()?;
        let mut pairs = Vec::new();
        if names.len() < 2 {
            return Ok(pairs);
        }
        let schema = &self.snapshot.schema;
        let slots = schema.permutations();
        let likeness = Likeness {
            jaccard: schema.keeps_shingles().then_some(1.0),
            estimate: Estimate::new(slots, slots, schema.slot_width()),
            containment: None,
            contained: None,
        };
        for (index, one) in names.iter().enumerate() {
            for other in &names[index + 1..] {
                pairs.extend(self.pair(one, other, likeness, true));
            }
        }
        Ok(pairs)
    }

    /// Names the documents of joined contents, which are ordered by the larger ones.
    fn name(&mut self, joined: &[Joined]) -> Result<()> {
        let tasks = joined.chunk_by(|a, b| a.larger == b.larger).collect();
        let this = &*self;
        for pairs in this.store.pool.map(tasks, |task| this.named(task)) {
            self.ready.extend(pairs?);
        }
        Ok(())
    }

    /// The pairs of documents of a content and its partners.
    fn named(&self, joined: &[Joined]) -> Result<Vec<Pair>> {
        let (snapshot, schema) = (&*self.snapshot, &self.snapshot.schema);
        let mut pairs = Vec::new();
        let Some(first) = joined.first() else {
            return Ok(pairs);
        };
        let (names, signature) = (self.names(first.larger)?, snapshot.signature(first.larger)?);
        for joined in joined {
            let other = snapshot.signature(joined.smaller)?;
            let agreeing = agreeing(signature, other, schema.slot_width());
            let likeness = Likeness {
                jaccard: Some(joined.jaccard),
                estimate: Estimate::new(agreeing, schema.permutations(), schema.slot_width()),
                containment: None,
                contained: None,
            };
            for other in self.names(joined.smaller)? {
                for name in &names {
                    pairs.extend(self.pair(name, &other, likeness, false));
                }
            }
        }
        Ok(pairs)
    }

    /// Compares the contents of some buckets.
    fn compare(&mut self) -> Result<()> {
        let mut tasks = Vec::new();
        let mut comparisons = 0;
        while comparisons < COMPARISONS
            && let Some(task) = self.buckets.next()
        {
            comparisons += task.others.len();
            tasks.push(task);
        }
        let this = &*self;
        let found = this.store.pool.map(tasks, |task| this.pairs_of(&task));
        for pairs in found {
            self.ready.extend(pairs?);
        }
        Ok(())
    }

    /// The pairs of a content with those after it in its bucket, unless an earlier bucket had them.
    fn pairs_of(&self, task: &Task) -> Result<Vec<Pair>> {
        let snapshot = &*self.snapshot;
        let row = snapshot.content(task.content)?;
        let mut shingles = Vec::new();
        if snapshot.schema.keeps_shingles() {
            snapshot.shingles(task.content, &mut shingles)?;
        }
        let probe = Probe {
            hash: &row.hash,
            shingles: &shingles,
            signature: snapshot.signature(task.content)?,
            band_hashes: &[],
        };
        let mut matcher = Matcher::new(snapshot, probe, self.threshold);
        let mut names = None;
        let mut pairs = Vec::new();
        for &content in &self.buckets.contents[task.others.clone()] {
            if self.met_before(probe.signature, snapshot.signature(content)?) {
                continue;
            }
            let Some(verified) = matcher.verify(Candidate { content, bands: 0 })? else {
                continue;
            };
            let names = match &names {
                Some(names) => names,
                None => names.insert(self.names(task.content)?),
            };
            for other in self.names(content)? {
                for name in names {
                    pairs.extend(self.pair(name, &other, verified.likeness, false));
                }
            }
        }
        Ok(pairs)
    }

    /// Whether two contents share a bucket of an earlier band.
    fn met_before(&self, one: &[u8], other: &[u8]) -> bool {
        let schema = &self.snapshot.schema;
        let (bands, width) = (schema.bands(), schema.slot_width());
        (0..self.buckets.band)
            .any(|band| bands.hash(one, width, band) == bands.hash(other, width, band))
    }

    /// The keys that stand for a content.
    fn names(&self, content: u32) -> Result<Vec<String>> {
        let most = if self.query.fold_copies {
            1
        } else {
            usize::MAX
        };
        self.snapshot.names(content)?.take(most).collect()
    }

    fn pair(&self, one: &str, other: &str, likeness: Likeness, exact_copy: bool) -> Option<Pair> {
        let (a, b) = if self.query.order(one, other)? {
            (one, other)
        } else {
            (other, one)
        };
        Some(Pair {
            key_a: a.to_owned(),
            key_b: b.to_owned(),
            jaccard: likeness.jaccard,
            estimate: likeness.estimate,
            exact_copy,
        })
    }
}

impl Buckets {
    /// Reads the buckets of a band, without the `removed` contents.
    fn of(snapshot: &Snapshot, band: u32, removed: &[u32]) -> Result<Buckets> {
        let list = band + 1;
        let mut postings = Vec::new();
        snapshot.for_each_in_list(list, |posting| postings.push(posting))?;
        let merged = postings.len();
        postings.extend(snapshot.recent_postings(list, removed));
        if postings.len() > merged {
            postings.sort_unstable();
        }
        let mut buckets = Buckets {
            band,
            ..Buckets::default()
        };
        for bucket in postings.chunk_by(|a, b| a.hash() == b.hash()) {
            if bucket.len() > 1 {
                buckets.contents.extend(bucket.iter().map(|p| p.id()));
                buckets.ends.push(buckets.contents.len());
            }
        }
        Ok(buckets)
    }

    fn is_empty(&self) -> bool {
        self.bucket == self.ends.len()
    }

    /// Takes the next content that others of its bucket come after.
    fn next(&mut self) -> Option<Task> {
        let &end = self.ends.get(self.bucket)?;
        let task = Task {
            content: *self.contents.get(self.at)?,
            others: self.at + 1..end,
        };
        self.at += 1;
        if self.at + 1 == end {
            (self.at, self.bucket) = (end, self.bucket + 1);
        }
        Some(task)
    }
}

//! All pairs of similar documents.

use std::collections::VecDeque;
use std::sync::Arc;

use super::comparisons::{Comparisons, Task};
use super::exhaustive::Exhaustive;
use super::join::Joined;
use super::met::Met;
use crate::error::{Error, Result};
use crate::schema::check_threshold;
use crate::sketch::{Estimate, agreeing};
use crate::storage::Snapshot;
use crate::store::compare::{Likeness, Matcher, Sets, Stored};
use crate::store::handle::Store;

/// Progress steps per band.
const BAND_STEPS: u64 = 1000;

/// Comparisons, about, that one thread makes in a row.
const PIECE: usize = 1 << 11;

/// Contents whose names are read at a time.
const CONTENTS: u32 = 1 << 12;

/// Which pairs [`Store::pairs`] finds.
///
/// ```
/// use dedupdb::groups::PairQuery;
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

    /// Whether `one` is the first key of the pair; none if the query does not ask for this pair.
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
    fn pair(&self, one: &str, other: &str, likeness: Likeness) -> Option<Pair> {
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

/// The pairs of a store, from [`Store::pairs`], as of the commit when it was made.
///
/// It keeps the store open, and locked if it was opened for writing, even after all handles of the store are
/// dropped.
#[derive(Debug)]
pub struct Pairs {
    store: Store,
    snapshot: Arc<Snapshot>,
    query: PairQuery,
    threshold: f64,
    /// Removed contents, sorted.
    removed: Vec<u32>,
    /// The first content whose names have not been searched for copies.
    next_content: u32,
    /// The comparisons in the buckets of a band, and the next band.
    comparisons: Comparisons,
    next_band: u32,
    met: Met,
    /// The exhaustive search, which replaces the buckets if the query asks for it.
    join: Option<Exhaustive>,
    ready: VecDeque<Found>,
    product: Option<Product>,
    failed: bool,
}

/// Two contents that match.
#[derive(Debug)]
struct Alike {
    one: u32,
    other: u32,
    likeness: Likeness,
}

/// A pair that was found.
#[derive(Debug)]
enum Found {
    Pair(Pair),
    /// Two contents, or one twice, whose documents form many pairs.
    Contents(u32, u32, Likeness),
}

/// The pairs of the documents of two contents, or of one, listed one by one.
#[derive(Debug)]
struct Product {
    rows: Vec<String>,
    /// None if both contents are the same.
    columns: Option<Vec<String>>,
    /// The next row and column.
    at: (usize, usize),
    likeness: Likeness,
}

impl Product {
    /// The next two documents.
    fn next(&mut self) -> Option<(&str, &str)> {
        let columns = self.columns.as_ref().unwrap_or(&self.rows);
        let (mut row, mut column) = self.at;
        if column >= columns.len() {
            row += 1;
            column = if self.columns.is_some() { 0 } else { row + 1 };
        }
        self.at = (row, column + 1);
        Some((self.rows.get(row)?, columns.get(column)?))
    }
}

impl Store {
    /// Finds every pair of documents that share a bucket and reach the threshold, each pair once,
    /// or every pair that reaches it ([`PairQuery::exhaustive`]).
    ///
    /// The search reads the buckets band by band and looks up no content. It takes memory for the postings of one band
    /// (8 bytes per content), for the pairs of 65,536 comparisons, for the keys of two contents, and 12 bytes for each
    /// content and bucket with skipped candidates, however large a bucket is. If all contents of a bucket match, a
    /// bucket of m contents has m²/2 pairs and takes time for each; [`clusters`](Store::clusters) is faster.
    /// [`Options::false_candidates`](crate::Options::false_candidates) bounds the candidates of each content that do
    /// not match.
    ///
    /// Pairs of copies come first, in the order in which their texts were added, and then the others, by the first
    /// bucket that they share. In an exhaustive search, these are ordered by the text with more shingles (if both
    /// have the same number, the one added later) and then by the other one, both in the order in which they were
    /// added; if the index is made in parts, this holds within each part. The order depends on the stored documents
    /// and the order in which they were added, not on the number of threads.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, groups::PairQuery};
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
    /// [`Error::InvalidQuery`] for a threshold out of range, [`Error::NoShingles`] for an exhaustive search of a
    /// store without shingles, or those of reading the store. An error of reading may also come as an item, which
    /// is then the last one.
    pub fn pairs(&self, query: PairQuery) -> Result<Pairs> {
        let snapshot = self.published()?;
        let threshold = query.threshold.unwrap_or(snapshot.schema.threshold());
        check_threshold(threshold)?;
        if query.exhaustive && !snapshot.schema.keeps_shingles() {
            return Err(Error::NoShingles);
        }
        let removed = snapshot.removed_contents()?;
        let bands = u64::from(snapshot.schema.bands().bands());
        self.shared.progress.begin(BAND_STEPS * (bands + 1));
        Ok(Pairs {
            store: self.clone(),
            threshold,
            removed,
            next_content: if query.fold_copies { snapshot.len } else { 0 },
            join: query.exhaustive.then(Exhaustive::default),
            query,
            snapshot,
            comparisons: Comparisons::default(),
            next_band: 0,
            met: Met::default(),
            ready: VecDeque::new(),
            product: None,
            failed: false,
        })
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        if self.failed {
            return None;
        }
        let process = self.store.shared.process;
        let next = process.check().and_then(|()| self.find()).transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

impl Pairs {
    /// Finds the next pair.
    fn find(&mut self) -> Result<Option<Pair>> {
        loop {
            if let Some(product) = &mut self.product {
                let likeness = product.likeness;
                while let Some((one, other)) = product.next() {
                    if let Some(pair) = self.query.pair(one, other, likeness) {
                        return Ok(Some(pair));
                    }
                }
                self.product = None;
            }
            match self.ready.pop_front() {
                Some(Found::Pair(pair)) => return Ok(Some(pair)),
                Some(Found::Contents(one, other, likeness)) => {
                    self.product = Some(self.product_of(one, other, likeness)?);
                }
                None if self.find_more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Takes a step; returns whether there was one to take.
    fn find_more(&mut self) -> Result<bool> {
        if self.next_content < self.snapshot.len {
            self.find_copies()?;
            self.store.shared.progress.reach(self.steps_done());
            return Ok(true);
        }
        if let Some(join) = &mut self.join {
            let (removed, pool) = (&self.removed, &self.store.shared.pool);
            let found = join.next(&self.snapshot, self.threshold, removed, pool)?;
            if let Some(found) = &found {
                self.take_joined(found)?;
            }
            return Ok(found.is_some());
        }
        let compared = self.compare()?;
        self.store.shared.progress.reach(self.steps_done());
        if compared {
            return Ok(true);
        }
        if self.next_band == self.snapshot.schema.bands().bands() {
            return Ok(false);
        }
        // Frees the postings of the last band before the next ones are read.
        self.comparisons = Comparisons::default();
        let band = self.next_band;
        self.comparisons = Comparisons::of(
            &self.snapshot,
            band,
            &self.removed,
            self.threshold,
            self.store.shared.allowance.false_candidates(),
        )?;
        self.next_band += 1;
        Ok(true)
    }

    /// Steps done: each band counts the same, and so do the copies.
    fn steps_done(&self) -> u64 {
        let share = |done: usize, all: usize| {
            if all == 0 {
                BAND_STEPS
            } else {
                BAND_STEPS * done as u64 / all as u64
            }
        };
        if self.next_band == 0 {
            return share(self.next_content as usize, self.snapshot.len as usize);
        }
        let (done, all) = self.comparisons.buckets();
        BAND_STEPS * u64::from(self.next_band) + share(done, all)
    }

    /// Finds the pairs of documents with the same text, for the next contents.
    fn find_copies(&mut self) -> Result<()> {
        let end = self.snapshot.len.min(self.next_content + CONTENTS);
        let contents = std::mem::replace(&mut self.next_content, end)..end;
        let this = &*self;
        let found = this
            .store
            .shared
            .pool
            .map(contents.collect(), |content| this.copies_of(content));
        for copies in found {
            self.ready.extend(copies?);
        }
        Ok(())
    }

    fn copies_of(&self, content: u32) -> Result<Option<Found>> {
        if self.snapshot.names(content)?.take(2).count() < 2 {
            return Ok(None);
        }
        let schema = &self.snapshot.schema;
        let slots = schema.permutations();
        let likeness = Likeness {
            exact_copy: true,
            jaccard: schema.keeps_shingles().then_some(1.0),
            estimate: Estimate::new(slots, slots, schema.slot_width()),
            share_of_probe: None,
            share_of_stored: None,
        };
        Ok(Some(Found::Contents(content, content, likeness)))
    }

    /// The pairs of the documents of two contents, or of one if they are the same.
    fn product_of(&self, one: u32, other: u32, likeness: Likeness) -> Result<Product> {
        let most = if self.query.fold_copies {
            1
        } else {
            usize::MAX
        };
        let names = |content| {
            let names = self.snapshot.names(content)?.take(most);
            names.collect::<Result<Vec<String>>>()
        };
        let (columns, at) = if one == other {
            (None, (0, 1))
        } else {
            (Some(names(one)?), (0, 0))
        };
        Ok(Product {
            rows: names(other)?,
            columns,
            at,
            likeness,
        })
    }

    /// Queues the pairs that the join found.
    fn take_joined(&mut self, joined: &[Joined]) -> Result<()> {
        let (snapshot, schema) = (&*self.snapshot, &self.snapshot.schema);
        for joined in joined {
            let (one, other) = (joined.larger, joined.smaller);
            let signatures = (snapshot.signature(one)?, snapshot.signature(other)?);
            let agreeing = agreeing(signatures.0, signatures.1, schema.slot_width());
            let likeness = Likeness {
                exact_copy: false,
                jaccard: Some(joined.jaccard),
                estimate: Estimate::new(agreeing, schema.permutations(), schema.slot_width()),
                share_of_probe: None,
                share_of_stored: None,
            };
            self.ready.push_back(Found::Contents(one, other, likeness));
        }
        Ok(())
    }

    /// Compares the next contents; returns whether there were any.
    fn compare(&mut self) -> Result<bool> {
        let tasks = self.comparisons.batch(&self.snapshot)?;
        let Some(last) = tasks.last().map(|task| task.content) else {
            return Ok(false);
        };
        let this = &*self;
        let pool = &this.store.shared.pool;
        let compare = |piece: Vec<Task>| {
            let mut sets = Sets::default();
            let compared = piece
                .iter()
                .map(|task| Ok((task.content, this.matches_of(task, &mut sets)?)));
            compared.collect::<Result<Vec<_>>>()
        };
        let (mut matches, mut false_candidates) = (Vec::new(), 0);
        for compared in pool.map(pieces(tasks), compare) {
            for (content, (found, others)) in compared? {
                matches.extend(found);
                if content == last {
                    false_candidates += others;
                }
            }
        }
        let found = this.named(matches)?;
        self.ready.extend(found);
        if let Some(next) = self.comparisons.had_false(false_candidates) {
            self.store.shared.allowance.cut();
            let band = self.comparisons.band;
            self.met.end(&self.snapshot, band, last, next)?;
        }
        Ok(true)
    }

    /// The other contents of a task that match its content, without those that it met in an earlier bucket; and the
    /// number of other contents that turned out to be false candidates.
    fn matches_of(&self, task: &Task, sets: &mut Sets) -> Result<(Vec<Alike>, usize)> {
        let snapshot = &*self.snapshot;
        let before = self
            .met
            .before(snapshot, self.comparisons.band, task.content)?;
        let mut others = Vec::new();
        for &content in &self.comparisons.contents()[task.others.clone()] {
            if !before.has(content)? {
                others.push(content);
            }
        }
        if others.is_empty() {
            // Most contents met in the first bucket that they share, so nothing needs to be decoded.
            return Ok((Vec::new(), 0));
        }
        let stored = Stored::read_in(snapshot, task.content, sets)?;
        let probe = stored.probe();
        let matcher = Matcher::new(snapshot, probe, self.threshold);
        let mut matches = Vec::new();
        let compared = others.len();
        for content in others {
            let likeness = matcher.compare_in(content, sets)?;
            matches.extend(likeness.map(|likeness| Alike {
                one: task.content,
                other: content,
                likeness,
            }));
        }
        let false_candidates = compared - matches.len();
        Ok((matches, false_candidates))
    }

    /// Turns matches into pairs of documents, where both contents have one name.
    fn named(&self, matches: Vec<Alike>) -> Result<Vec<Found>> {
        let both = matches.iter().flat_map(|alike| [alike.one, alike.other]);
        let mut contents: Vec<u32> = both.collect();
        contents.sort_unstable();
        contents.dedup();
        let pool = &self.store.shared.pool;
        let named = pool.map(contents, |content| Ok((content, self.only_name(content)?)));
        let names = named.into_iter().collect::<Result<Vec<_>>>()?;
        let name = |content| {
            let place = names.binary_search_by_key(&content, |(content, _)| *content);
            place.ok().and_then(|place| names[place].1.as_ref())
        };
        let found = pool.map(matches, |alike| {
            let (one, other, likeness) = (alike.one, alike.other, alike.likeness);
            match (name(one), name(other)) {
                (Some(one), Some(other)) => {
                    let pair = self.query.pair(one, other, likeness);
                    pair.map(Found::Pair)
                }
                _ => Some(Found::Contents(one, other, likeness)),
            }
        });
        Ok(found.into_iter().flatten().collect())
    }

    /// The key that represents a content; none if there are several.
    fn only_name(&self, content: u32) -> Result<Option<String>> {
        let mut names = self.snapshot.names(content)?;
        let first = names.next().transpose()?;
        let several = !self.query.fold_copies && names.next().is_some();
        Ok(first.filter(|_| !several))
    }
}

/// Cuts tasks into pieces for one thread each. The tasks of a bucket are neighbours, so most of its contents are
/// decoded once.
fn pieces(tasks: Vec<Task>) -> Vec<Vec<Task>> {
    let mut pieces: Vec<Vec<Task>> = Vec::new();
    let mut left = 0;
    for task in tasks {
        let others = task.others.len();
        match pieces.last_mut() {
            Some(piece) if left > 0 => piece.push(task),
            _ => {
                left = PIECE;
                pieces.push(vec![task]);
            }
        }
        left = left.saturating_sub(others);
    }
    pieces
}

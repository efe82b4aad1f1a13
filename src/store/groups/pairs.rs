//! All pairs of similar documents.

use std::collections::VecDeque;
use std::sync::Arc;
use std::vec::IntoIter;

use super::buckets::Buckets;
use super::comparer::{SimilarContents, TaskComparer, TaskResult, pieces};
use super::comparisons::{ComparisonTask, Comparisons};
use super::exhaustive::ExhaustivePairs;
use super::join::JoinedPair;
use super::names::{ContentNames, with_several};
use super::pair::{Pair, PairQuery};
use super::skipped_comparisons::SkippedComparisons;
use crate::error::Result;
use crate::schema::check_threshold;
use crate::sketch::{Estimate, agreeing};
use crate::storage::Snapshot;
use crate::store::compare::Likeness;
use crate::store::handle::Store;

/// Progress steps per band.
const BAND_STEPS: u64 = 1000;

/// The number of contents whose names are read at a time, and by one thread in a row.
const CONTENTS: u32 = 1 << 14;
const IN_A_ROW: u32 = 1 << 10;

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
    /// The buckets of that band, which are read while contents of the band before are compared.
    next_buckets: Option<Buckets>,
    /// The tasks of the last batch; their memory is used again.
    tasks: Vec<ComparisonTask>,
    skipped: SkippedComparisons,
    names: ContentNames,
    /// The exhaustive search or the one by containment, which replaces the buckets if the query asks for it.
    join: Option<ExhaustivePairs>,
    /// The results that are not yet returned.
    ready: VecDeque<IntoIter<FoundPair>>,
    product: Option<DocumentPairs>,
    failed: bool,
}

/// A job of a thread, and its result.
#[derive(Debug)]
enum PairsJob<'a> {
    Compare(&'a [ComparisonTask]),
    /// Reads the next buckets.
    Read,
}

#[derive(Debug)]
enum PairsJobResult {
    Compared(TaskResult),
    Read(Buckets),
}

/// A pair that was found.
#[derive(Debug)]
enum FoundPair {
    Pair(Pair),
    /// Two contents, or one twice, whose documents form many pairs.
    Contents(u32, u32, Likeness),
}

/// The pairs of the documents of two contents, or of one, listed one by one.
#[derive(Debug)]
struct DocumentPairs {
    rows: Vec<String>,
    /// None if both contents are the same.
    columns: Option<Vec<String>>,
    /// The next row and column.
    at: (usize, usize),
    likeness: Likeness,
}

impl DocumentPairs {
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
    /// or every pair that reaches it ([`PairQuery::exhaustive`]), or every pair of which one contains the other
    /// ([`PairQuery::containment`]).
    ///
    /// The search reads the buckets band by band and looks up no content. It takes memory for the postings of two bands
    /// (8 bytes per content and band), for the pairs of 65,536 comparisons, for 131,072 keys and those of two contents,
    /// and 12 bytes for each content and bucket with skipped candidates, however large a bucket is. If all contents of a
    /// bucket match, a bucket of m contents has m²/2 pairs and takes time for each; [`clusters`](Store::clusters) is
    /// faster. [`Options::false_candidates`](crate::Options::false_candidates) bounds the candidates of each content
    /// that do not match.
    ///
    /// Pairs of copies come first, in the order in which their texts were added, and then the others, by the first
    /// bucket that they share. In an exhaustive search and one by containment, these are ordered by the text with more shingles (if both
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
    /// [`InvalidQuery`](crate::Error::InvalidQuery) for a threshold or a containment out of range, or for both of them;
    /// [`NoShingles`](crate::Error::NoShingles) for an exhaustive search of a store without shingles, or one by containment; or those of
    /// reading the store. An error of reading may also come as an item, which is then the last one.
    pub fn pairs(&self, query: PairQuery) -> Result<Pairs> {
        let snapshot = self.published()?;
        let threshold = query.threshold.unwrap_or(snapshot.schema.threshold());
        check_threshold(threshold)?;
        let removed = snapshot.removed_contents()?;
        let other = query.threshold.map(|_| "a threshold");
        let ignored = query.ignored.as_ref();
        let join = match (query.containment).search(&snapshot, &removed, other, ignored)? {
            None if query.exhaustive => Some(ExhaustivePairs::by_jaccard(
                threshold, &snapshot, &removed, ignored,
            )?),
            join => join,
        };
        let join = join.map(|join| join.within(query.memory));
        let bands = u64::from(snapshot.schema.bands().bands());
        // The pairs of copies count like one more band.
        self.progress.begin(BAND_STEPS * (bands + 1));
        Ok(Pairs {
            store: self.clone(),
            threshold,
            removed,
            next_content: if query.fold_copies { snapshot.len } else { 0 },
            join,
            names: ContentNames::new(query.fold_copies),
            query,
            snapshot,
            comparisons: Comparisons::default(),
            next_band: 0,
            next_buckets: None,
            tasks: Vec::new(),
            skipped: SkippedComparisons::default(),
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
    /// Returns the number of distinct texts that are left out of a search by containment because they are shorter than
    /// [`PairQuery::shortest`], those without tokens aside.
    pub fn short(&self) -> u64 {
        let left_out = self.join.as_ref().map(|join| join.short);
        left_out.unwrap_or_default()
    }

    /// Finds the next pair.
    fn find(&mut self) -> Result<Option<Pair>> {
        loop {
            // Pairs of documents of the contents that were found last.
            if let Some(product) = &mut self.product {
                let likeness = product.likeness;
                while let Some((one, other)) = product.next() {
                    if let Some(pair) = self.query.pair(one, other, likeness) {
                        return Ok(Some(pair));
                    }
                }
                self.product = None;
            }
            match self.next_ready() {
                Some(FoundPair::Pair(pair)) => return Ok(Some(pair)),
                Some(FoundPair::Contents(one, other, likeness)) => {
                    self.product = Some(self.product_of(one, other, likeness)?);
                }
                None if self.find_more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// The next result.
    fn next_ready(&mut self) -> Option<FoundPair> {
        while let Some(part) = self.ready.front_mut() {
            if let Some(found) = part.next() {
                return Some(found);
            }
            self.ready.pop_front();
        }
        None
    }

    /// Takes a step. Returns whether there was one to take.
    fn find_more(&mut self) -> Result<bool> {
        self.store.progress.go_on()?;
        // The copies come first, then the pairs of the join or of the buckets.
        if self.next_content < self.snapshot.len {
            self.find_copies()?;
            self.store.progress.reach(self.steps_done());
            return Ok(true);
        }
        if let Some(join) = &mut self.join {
            let found = join.next(&self.snapshot, &self.store.shared.pool)?;
            if let Some(found) = &found {
                self.take_joined(found)?;
            }
            self.store.progress.reach(self.steps_done());
            return Ok(found.is_some());
        }
        let compared = self.compare()?;
        self.store.progress.reach(self.steps_done());
        if compared {
            return Ok(true);
        }
        // All buckets of the band are searched.
        if self.next_band == self.snapshot.schema.bands().bands() {
            return Ok(false);
        }
        // Frees the postings of the last band before others are read.
        self.comparisons = Comparisons::default();
        let buckets = match self.next_buckets.take() {
            Some(buckets) => buckets,
            None => Buckets::of(&self.snapshot, self.next_band, &self.removed)?,
        };
        let false_candidates = self.store.shared.allowance.false_candidates();
        self.comparisons =
            Comparisons::of(buckets, self.next_band, self.threshold, false_candidates);
        self.next_band += 1;
        Ok(true)
    }

    /// The number of steps done: each band counts the same, and so do the copies.
    fn steps_done(&self) -> u64 {
        let share = |done: usize, all: usize| {
            if all == 0 {
                BAND_STEPS
            } else {
                BAND_STEPS * done as u64 / all as u64
            }
        };
        if self.next_content < self.snapshot.len {
            return share(self.next_content as usize, self.snapshot.len as usize);
        }
        if let Some(join) = &self.join {
            let (done, all) = join.looked_up();
            let bands = u64::from(self.snapshot.schema.bands().bands());
            return BAND_STEPS + bands * share(done, all);
        }
        let (done, all) = self.comparisons.buckets();
        BAND_STEPS * u64::from(self.next_band) + share(done, all)
    }

    /// Finds the pairs of documents with the same text, for the next contents.
    fn find_copies(&mut self) -> Result<()> {
        let end = self.snapshot.len.min(self.next_content + CONTENTS);
        let start = std::mem::replace(&mut self.next_content, end);
        let parts = (start..end).step_by(IN_A_ROW as usize);
        let parts = parts.map(|part| part..end.min(part + IN_A_ROW)).collect();
        let (snapshot, pool) = (&*self.snapshot, &self.store.shared.pool);
        let likeness = self.likeness_of_copies();
        let join = self.join.as_ref();
        let are_pairs = |content: &u32| join.is_none_or(|join| join.has_pairs_of_copies(*content));
        for several in pool.map(parts, |part| with_several(snapshot, part)) {
            let copies = several?.into_iter().filter(are_pairs);
            let copies = copies.map(|content| FoundPair::Contents(content, content, likeness));
            self.ready.push_back(copies.collect::<Vec<_>>().into_iter());
        }
        Ok(())
    }

    fn likeness_of_copies(&self) -> Likeness {
        let schema = &self.snapshot.schema;
        let slots = schema.permutations();
        Likeness {
            exact_copy: true,
            jaccard: schema.keeps_shingles().then_some(1.0),
            estimate: Estimate::new(slots, slots, schema.slot_width()),
            containment: schema.keeps_shingles().then_some(1.0),
            containment_of_stored: None,
        }
    }

    /// The pairs of the documents of two contents, or of one if they are the same.
    fn product_of(&self, one: u32, other: u32, likeness: Likeness) -> Result<DocumentPairs> {
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
        Ok(DocumentPairs {
            rows: names(other)?,
            columns,
            at,
            likeness,
        })
    }

    /// Queues the pairs that the join found.
    fn take_joined(&mut self, joined: &[JoinedPair]) -> Result<()> {
        let pieces = joined.chunks(IN_A_ROW as usize).collect();
        let estimated = |piece: &[JoinedPair]| piece.iter().map(|it| self.estimated(it)).collect();
        let matches: Vec<Result<Vec<SimilarContents>>> =
            self.store.shared.pool.map(pieces, estimated);
        let found = self.named(matches.into_iter().collect::<Result<_>>()?)?;
        self.ready.extend(found.into_iter().map(Vec::into_iter));
        Ok(())
    }

    /// A pair that the join found, with the estimate of its similarity.
    fn estimated(&self, joined: &JoinedPair) -> Result<SimilarContents> {
        let (snapshot, schema) = (&*self.snapshot, &self.snapshot.schema);
        let (mut one, mut other) = (joined.larger, joined.smaller);
        // Of texts with the same number of shingles, the one that was added first contains the other one.
        if self.query.containment.least.is_some() && joined.same_size {
            (one, other) = (other, one);
        }
        let signatures = (snapshot.signature(one)?, snapshot.signature(other)?);
        let agreeing = agreeing(&signatures.0, &signatures.1, schema.slot_width());
        let likeness = Likeness {
            exact_copy: false,
            jaccard: Some(joined.jaccard),
            estimate: Estimate::new(agreeing, schema.permutations(), schema.slot_width()),
            containment: Some(joined.containment),
            containment_of_stored: None,
        };
        Ok(SimilarContents {
            one,
            other,
            likeness,
        })
    }

    /// Compares the next contents. Returns whether there were any.
    fn compare(&mut self) -> Result<bool> {
        // One batch of comparisons at a time. The last content may go on in the next batch, so its count is needed.
        let pool = &self.store.shared.pool;
        self.comparisons
            .batch(&self.snapshot, pool.threads(), &mut self.tasks)?;
        let Some(last) = self.tasks.last().map(|task| task.content) else {
            return Ok(false);
        };
        let comparer = TaskComparer {
            snapshot: &self.snapshot,
            comparisons: &self.comparisons,
            skipped: &self.skipped,
            threshold: self.threshold,
        };
        // The buckets of the next band are read by one thread while the others compare.
        let next = self.next_band;
        let lacks_next = self.next_buckets.is_none() && next < self.snapshot.schema.bands().bands();
        let pieces = pieces(&self.tasks).into_iter().map(PairsJob::Compare);
        let jobs = lacks_next
            .then_some(PairsJob::Read)
            .into_iter()
            .chain(pieces);
        let done = pool.map(jobs.collect(), |job| match job {
            PairsJob::Compare(piece) => comparer.compare(piece).map(PairsJobResult::Compared),
            PairsJob::Read => {
                Buckets::of(&self.snapshot, next, &self.removed).map(PairsJobResult::Read)
            }
        });
        // In the order of the tasks, whatever thread did them.
        let (mut matches, mut false_candidates) = (Vec::new(), 0);
        for done in done {
            match done? {
                PairsJobResult::Compared(compared) => {
                    false_candidates += compared.false_candidates_of(last);
                    matches.push(compared.alike);
                }
                PairsJobResult::Read(buckets) => self.next_buckets = Some(buckets),
            }
        }
        let found = self.named(matches)?;
        self.ready.extend(found.into_iter().map(Vec::into_iter));
        // The rest of the bucket is skipped, and later bands must know that these contents were not compared here.
        if let Some(next) = self.comparisons.had_false(false_candidates) {
            self.store.shared.allowance.cut();
            let band = self.comparisons.band;
            self.skipped.end(&self.snapshot, band, last, next)?;
        }
        Ok(true)
    }

    /// Turns matches into pairs of documents, if both contents have one name.
    fn named(&mut self, matches: Vec<Vec<SimilarContents>>) -> Result<Vec<Vec<FoundPair>>> {
        if matches.iter().all(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let both = matches.iter().flatten();
        let both = both.flat_map(|alike| [alike.one, alike.other]);
        let pool = &self.store.shared.pool;
        self.names.hold(&self.snapshot, both, pool)?;
        let (names, query) = (&self.names, &self.query);
        let named = |alike: SimilarContents| {
            let (one, other, likeness) = (alike.one, alike.other, alike.likeness);
            match (names.get(one), names.get(other)) {
                // As `product_of` lists them: a contained text is the other one.
                (Some(one), Some(other)) => query.pair(other, one, likeness).map(FoundPair::Pair),
                _ => Some(FoundPair::Contents(one, other, likeness)),
            }
        };
        let all_named = |alike: Vec<SimilarContents>| alike.into_iter().filter_map(named).collect();
        Ok(pool.map(matches, all_named))
    }
}

//! Passages that a text shares with stored documents.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::ops::Range;

use super::lookup::{CommonFingerprint, SharedFingerprints, TextShingles};
use super::query::PassageQuery;
use super::runs::{ShingleRun, held, runs};
use crate::codec::{low32, words};
use crate::error::{Error, Result};
use crate::storage::Snapshot;
use crate::store::compare::PublishedCommit;
use crate::store::handle::Store;
use crate::text::{ShingleSet, Shingler};

/// The passages that a text shares with stored documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passages {
    /// The passages: the longest first, then in the order of the text, then by key.
    pub passages: Vec<Passage>,
    /// Places of the text with fingerprints of too many documents to compare them all, in the order of the text. A passage
    /// there may be missing from `passages`.
    pub common: Vec<CommonPassage>,
    /// Each document with passages: the one that covers the most tokens first, then by key.
    pub documents: Vec<PassagesOfDocument>,
    /// The number of tokens of the text.
    pub tokens: u32,
    /// The number of tokens inside passages, with any document.
    pub covered: u32,
}

/// A run of tokens that a text and a stored document have in common.
///
/// All its shingles are in the stored set. A set has no order, so it is possible, though rare, that the document has
/// them in several places.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The key of the document.
    pub key: String,
    /// Where it is in the text: numbers of tokens, from 0.
    pub tokens: Range<u32>,
    /// Where it is in the text: bytes, from 0.
    pub bytes: Range<usize>,
    /// The line of the text in which it begins, from 1.
    pub line: u64,
    /// The number of its tokens that the document has; less than all if passages were joined over a
    /// [gap](PassageQuery::gap).
    pub matched: u32,
    /// The number of the token with which it begins in the document, from 0, as far as a fingerprint shows.
    pub place: Option<u32>,
    /// The number of documents that have all of it, this one included, of those that were compared.
    pub documents: u64,
}

/// A place of a text that too many documents share to compare them all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommonPassage {
    /// Where it is in the text: numbers of tokens, from 0.
    pub tokens: Range<u32>,
    /// Where it is in the text: bytes, from 0.
    pub bytes: Range<usize>,
    /// The line of the text in which it begins, from 1.
    pub line: u64,
    /// The number of stored texts with one of its fingerprints, at least.
    pub contents: u64,
    /// Up to three documents that share it.
    pub keys: Vec<String>,
}

/// What passages a document shares with a text, as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassagesOfDocument {
    /// The key of the document.
    pub key: String,
    /// The number of tokens of the text inside its passages.
    pub covered: u32,
    /// The number of tokens of the longest one.
    pub longest: u32,
}

impl Store {
    /// Returns the passages that a text shares with stored documents.
    ///
    /// A run of at least [`Schema::passage`](crate::Schema::passage) tokens that a document has in common with the text
    /// is found, unless its place is among [`Passages::common`]. Documents that were stored before the store kept
    /// fingerprints, and whose text was not at hand when it got them, are not compared;
    /// [`Stats::unfingerprinted`](crate::upkeep::Stats::unfingerprinted) counts them.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, overlap::PassageQuery};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = Schema::builder().passage(8).build()?;
    /// let store = Store::create(folder.path().join("store"), &schema)?;
    /// store.insert_unless_duplicate("log", "It was the first of many long and cold nights in the old lighthouse.")?;
    ///
    /// let text = "She read on: \"the first of many long and cold nights in the old lighthouse\". Then she slept.";
    /// let found = store.passages(&PassageQuery::text(text))?;
    /// let passage = &found.passages[0];
    /// assert_eq!((passage.key.as_str(), passage.tokens.clone(), passage.place), ("log", 3..15, Some(2)));
    /// assert_eq!(&text[passage.bytes.clone()], "the first of many long and cold nights in the old lighthouse");
    /// assert_eq!((found.covered, found.tokens), (12, 18));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQuery`] if the store keeps no fingerprints, or passages are to be
    /// shorter than a shingle, or those of reading the store.
    pub fn passages(&self, query: &PassageQuery<'_>) -> Result<Passages> {
        let PublishedCommit { snapshot, .. } = self.current()?;
        self.passages_in(&snapshot, query)
    }

    /// Answers many queries for passages from one commit, on all threads of the store, as
    /// [`query_all`](Store::query_all) does.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if `go_on` breaks, [`Error::OtherProcess`] in a fork.
    pub fn passages_all(
        &self,
        queries: &[PassageQuery<'_>],
        go_on: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Result<Passages>>> {
        let PublishedCommit { snapshot, .. } = self.current()?;
        let ask = |query: &PassageQuery<'_>| match go_on() {
            ControlFlow::Break(()) => None,
            ControlFlow::Continue(()) => Some(self.passages_in(&snapshot, query)),
        };
        let answers = self.shared.pool.map(queries.iter().collect(), ask);
        let answers: Option<Vec<Result<Passages>>> = answers.into_iter().collect();
        answers.ok_or(Error::Stopped)
    }

    fn passages_in(&self, snapshot: &Snapshot, query: &PassageQuery<'_>) -> Result<Passages> {
        let shingler = snapshot.schema.shingler()?;
        let most = if query.all {
            usize::MAX
        } else {
            self.shared.allowance.false_candidates()
        };
        find(snapshot, &shingler, query, most)
    }
}

/// The passages of a text. At most `most` contents are compared, and one for each shingle of the text.
fn find(
    snapshot: &Snapshot,
    shingler: &Shingler,
    query: &PassageQuery<'_>,
    most: usize,
) -> Result<Passages> {
    let least = query.least(&snapshot.schema)?;
    let in_order = shingler.in_order(query.text)?;
    let k = u32::from(snapshot.schema.shingling().k());
    let shingles = TextShingles::of(&in_order);
    let most = most.saturating_add(shingles.distinct.len());
    let shared = SharedFingerprints::find(snapshot, &shingles.distinct, most)?;
    if shared.contents.is_empty() && shared.common.is_empty() {
        let tokens = low32(shingler.places(query.text).len() as u64);
        return Ok(Passages {
            tokens,
            ..Passages::default()
        });
    }
    let places = TokenPlaces::new(shingler, query.text);
    let mut comparer = PassageComparer {
        snapshot,
        shingles: &shingles,
        in_order: &in_order,
        set: ShingleSet::default(),
        held: Vec::new(),
    };
    let mut found = Vec::new();
    for &(content, _) in &shared.contents {
        let runs = comparer.runs(content, query.gap as usize)?;
        let is_long = |run: &ShingleRun| places.tokens_of(&run.places, k).len() >= least as usize;
        let runs: Vec<ShingleRun> = runs.into_iter().filter(is_long).collect();
        if runs.is_empty() {
            continue;
        }
        let names = snapshot.names(content)?;
        let names = names.filter(|name| !matches!(name, Ok(key) if query.except.contains(key)));
        let keys: Vec<String> = names.collect::<Result<_>>()?;
        if keys.is_empty() {
            continue;
        }
        let starts = comparer.starts(content, &runs)?;
        found.push(HoldingContent { keys, runs, starts });
    }
    let common = comparer.common(&shared.common, &places, query)?;
    Ok(summed_up(&found, common, &places, k, query.limit))
}

/// A content with passages.
struct HoldingContent {
    keys: Vec<String>,
    runs: Vec<ShingleRun>,
    /// For each run, the token with which it begins in the content.
    starts: Vec<Option<u32>>,
}

/// Compares a text with contents.
struct PassageComparer<'a> {
    snapshot: &'a Snapshot,
    shingles: &'a TextShingles,
    in_order: &'a [u32],
    set: ShingleSet,
    held: Vec<bool>,
}

impl PassageComparer<'_> {
    /// The runs of shingles that a content has.
    fn runs(&mut self, content: u32, gap: usize) -> Result<Vec<ShingleRun>> {
        self.snapshot.shingles(content, &mut self.set)?;
        held(&self.shingles.distinct, self.set.as_slice(), &mut self.held);
        let ranks = &self.shingles.ranks;
        let is_held = |place: usize| self.held[ranks[place] as usize];
        Ok(runs(ranks.len(), gap, is_held))
    }

    /// The token of a content with which each of its runs begins, as its first fingerprint in the run shows.
    fn starts(&self, content: u32, runs: &[ShingleRun]) -> Result<Vec<Option<u32>>> {
        let step = self.snapshot.schema.fingerprint_step().unwrap_or_default();
        let fingerprints = words(self.snapshot.fingerprints(content)?);
        let start = |run: &ShingleRun| {
            let run = &self.in_order[run.places.clone()];
            (0..).zip(fingerprints.clone()).find_map(|(number, print)| {
                let before = run.iter().position(|&shingle| shingle == print)?;
                (u32::checked_mul(number, step)?).checked_sub(low32(before as u64))
            })
        };
        Ok(runs.iter().map(start).collect())
    }

    /// The places of a text with common fingerprints: what up to three contents share there.
    fn common(
        &mut self,
        common: &[CommonFingerprint],
        places: &TokenPlaces<'_>,
        query: &PassageQuery<'_>,
    ) -> Result<Vec<CommonPassage>> {
        let k = u32::from(self.snapshot.schema.shingling().k());
        let mut found: Vec<(Range<usize>, &CommonFingerprint)> = Vec::new();
        for common in common {
            let mut shared: Vec<Vec<ShingleRun>> = Vec::new();
            for &content in &common.some {
                shared.push(self.runs(content, query.gap as usize)?);
            }
            let is_it = |&(_, rank): &(usize, &u32)| *rank as usize == common.rank;
            let at = self.shingles.ranks.iter().enumerate().filter(is_it);
            for (place, _) in at {
                let around = shared.iter().filter_map(|runs| {
                    let run = runs.iter().find(|run| run.places.contains(&place))?;
                    Some(run.places.clone())
                });
                let around = around.reduce(|a, b| a.start.max(b.start)..a.end.min(b.end));
                found.push((around.unwrap_or(place..place + 1), common));
            }
        }
        found.sort_by_key(|(places, _)| (places.start, places.end));
        let mut passages: Vec<CommonPassage> = Vec::new();
        for (run, common) in found {
            let tokens = places.tokens_of(&run, k);
            match passages.last_mut() {
                Some(last) if tokens.start <= last.tokens.end => {
                    last.tokens.end = last.tokens.end.max(tokens.end);
                    last.bytes = places.bytes(&last.tokens);
                    last.contents = last.contents.max(common.contents as u64);
                }
                _ => passages.push(CommonPassage {
                    bytes: places.bytes(&tokens),
                    line: places.line(&tokens),
                    tokens,
                    contents: common.contents as u64,
                    keys: self.keys(common)?,
                }),
            }
        }
        Ok(passages)
    }

    /// Up to three documents with a fingerprint, in the order of their keys.
    fn keys(&self, common: &CommonFingerprint) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for &content in &common.some {
            keys.extend(self.snapshot.names(content)?.next().transpose()?);
        }
        keys.sort();
        Ok(keys)
    }
}

/// Makes the answer of the contents with passages.
fn summed_up(
    found: &[HoldingContent],
    common: Vec<CommonPassage>,
    places: &TokenPlaces<'_>,
    k: u32,
    limit: usize,
) -> Passages {
    let holders = Holders::of(found);
    let (mut passages, mut documents) = (Vec::new(), Vec::new());
    let mut covered = Cover::default();
    for HoldingContent { keys, runs, starts } in found {
        let mut own = Cover::default();
        let mut longest = 0;
        for (run, place) in runs.iter().zip(starts) {
            let tokens = places.tokens_of(&run.places, k);
            longest = longest.max(tokens.end - tokens.start);
            own.add(tokens.clone());
            covered.add(tokens.clone());
            let missing = run.places.len() - run.held;
            for key in keys {
                passages.push(Passage {
                    key: key.clone(),
                    tokens: tokens.clone(),
                    bytes: 0..0,
                    line: 0,
                    // A token counts as matched if a shingle of the set has it.
                    matched: (tokens.end - tokens.start).saturating_sub(low32(missing as u64)),
                    place: *place,
                    documents: holders.of_run(&run.places),
                });
            }
        }
        let of_keys = keys.iter().map(|key| PassagesOfDocument {
            key: key.clone(),
            covered: own.len(),
            longest,
        });
        documents.extend(of_keys);
    }
    passages.sort_by(|a, b| {
        let order = |passage: &Passage| {
            let Range { start, end } = passage.tokens;
            (Reverse(end - start), start)
        };
        order(a).cmp(&order(b)).then_with(|| a.key.cmp(&b.key))
    });
    passages.truncate(limit);
    for passage in &mut passages {
        passage.bytes = places.bytes(&passage.tokens);
        passage.line = places.line(&passage.tokens);
    }
    documents.sort_by(|a, b| b.covered.cmp(&a.covered).then_with(|| a.key.cmp(&b.key)));
    Passages {
        passages,
        common,
        documents,
        tokens: places.count(),
        covered: covered.len(),
    }
}

/// The number of documents that hold each run as a whole, by its start and end.
struct Holders(HashMap<(usize, usize), u64>);

impl Holders {
    fn of(found: &[HoldingContent]) -> Holders {
        let of_content = |content: &HoldingContent| {
            let documents = content.keys.len() as u64;
            let runs = content.runs.iter();
            let runs = runs.map(move |run| (run.places.start, run.places.end, documents));
            runs.collect::<Vec<_>>()
        };
        let mut runs: Vec<_> = found.iter().flat_map(of_content).collect();
        runs.sort_unstable();
        let mut ends = EndCounts::new(runs.iter().map(|run| run.1).max().unwrap_or(0));
        let mut counts = HashMap::new();
        // A run holds another one if it begins no later and ends no earlier. Those of one content do not overlap, so a
        // content counts once.
        for same in runs.chunk_by(|a, b| a.0 == b.0) {
            for &(_, end, documents) in same {
                ends.add(end, documents);
            }
            for &(start, end, _) in same {
                counts.insert((start, end), ends.from(end));
            }
        }
        Holders(counts)
    }

    fn of_run(&self, run: &Range<usize>) -> u64 {
        let count = self.0.get(&(run.start, run.end));
        count.copied().unwrap_or_default()
    }
}

/// Sums by the ends of runs, in a binary indexed tree (Fenwick, "A new data structure for cumulative frequency tables",
/// 1994).
struct EndCounts(Vec<u64>);

impl EndCounts {
    fn new(last: usize) -> EndCounts {
        EndCounts(vec![0; last + 2])
    }

    fn add(&mut self, end: usize, documents: u64) {
        // Counted from the last end, so that a prefix is what ends no earlier.
        let mut at = self.0.len() - 1 - end;
        while at < self.0.len() {
            self.0[at] += documents;
            at += at & at.wrapping_neg();
        }
    }

    /// The sum over runs that end at `end` or later.
    fn from(&self, end: usize) -> u64 {
        let mut at = self.0.len() - 1 - end;
        let mut sum = 0;
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

/// The union of ranges of tokens.
#[derive(Debug, Default)]
struct Cover(Vec<Range<u32>>);

impl Cover {
    fn add(&mut self, tokens: Range<u32>) {
        self.0.push(tokens);
    }

    fn len(&self) -> u32 {
        let mut ranges = self.0.clone();
        ranges.sort_unstable_by_key(|range| range.start);
        let (mut len, mut end) = (0, 0);
        for range in ranges {
            len += range.end.saturating_sub(range.start.max(end));
            end = end.max(range.end);
        }
        len
    }
}

/// Where the tokens of a text are.
struct TokenPlaces<'a> {
    text: &'a str,
    places: Vec<Range<usize>>,
    /// The places of the line ends.
    lines: Vec<usize>,
}

impl<'a> TokenPlaces<'a> {
    fn new(shingler: &Shingler, text: &'a str) -> TokenPlaces<'a> {
        TokenPlaces {
            text,
            places: shingler.places(text),
            lines: text.match_indices('\n').map(|(at, _)| at).collect(),
        }
    }

    fn count(&self) -> u32 {
        low32(self.places.len() as u64)
    }

    /// The tokens of a run of shingles of `k` tokens.
    fn tokens_of(&self, run: &Range<usize>, k: u32) -> Range<u32> {
        let end = (low32(run.end as u64) - 1).saturating_add(k);
        low32(run.start as u64)..end.min(self.count())
    }

    /// The bytes of some tokens.
    fn bytes(&self, tokens: &Range<u32>) -> Range<usize> {
        let start = self.places.get(tokens.start as usize);
        let last = (tokens.end as usize).checked_sub(1);
        let last = last.and_then(|last| self.places.get(last));
        let end = last.map_or(self.text.len(), |place| place.end);
        start.map_or(end, |place| place.start)..end
    }

    fn line(&self, tokens: &Range<u32>) -> u64 {
        let start = self.bytes(tokens).start;
        self.lines.partition_point(|&end| end < start) as u64 + 1
    }
}

//! Passages that a text shares with stored documents.

use std::cmp::Reverse;
use std::iter;
use std::ops::Range;

use super::comparer::{HoldingContent, PassageComparer};
use super::holders::Holders;
use super::lookup::{CommonFingerprint, SharedFingerprints, TextShingles};
use super::places::{Cover, TokenPlaces, tokens_of};
use super::query::PassageQuery;
use super::runs::ShingleRun;
use crate::codec::low32;
use crate::error::Result;
use crate::storage::Snapshot;
use crate::store::compare::PublishedCommit;
use crate::store::handle::Store;
use crate::text::Shingler;

/// The passages that a text shares with stored documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passages {
    /// The passages: the longest first, then in the order of the text, then by key.
    pub passages: Vec<Passage>,
    /// Places of the text that too many stored texts share to compare them all, as numbers of tokens, in the order of the
    /// text. None of the documents that were compared has a passage there, and one that was not may have one.
    pub common: Vec<Range<u32>>,
    /// Each document with passages: the one that covers the most tokens first, then by key.
    pub documents: Vec<PassagesOfDocument>,
    /// The number of tokens of the text.
    pub tokens: u32,
    /// The number of tokens inside passages, with any document.
    pub covered: u32,
    /// The number of tokens that do not count, because all shingles with them are [ignored](PassageQuery::ignore). None of
    /// them is in a passage.
    pub ignored: u32,
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
    /// Where it is in the text: bytes, from 0. Of a store of bytes, the characters of which it has any byte.
    pub bytes: Range<usize>,
    /// The line of the text in which it begins, from 1.
    pub line: u64,
    /// The number of its tokens that the document has; less than all if passages were joined over a
    /// [gap](PassageQuery::gap).
    pub matched: u32,
    /// The number of the token with which it begins in the document, from 0. `None` if fingerprints show no place, or
    /// several, because the document repeats itself.
    pub place: Option<u32>,
    /// The number of documents that have all of it, this one included; of joined passages, those with one that spans it.
    /// If it [is common](Passage::is_common), the number
    /// of stored texts with one of its shingles as a fingerprint, at least.
    pub documents: u64,
    /// Whether too many stored texts share it to compare them all. Only a few of them are among the passages.
    pub is_common: bool,
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
    /// is found. If thousands of stored texts share a place of the text, up to three for each of its shingles are compared:
    /// see [`Passage::is_common`] and [`Passages::common`]. Documents that were stored before the store kept
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
    /// [`InvalidQuery`](crate::Error::InvalidQuery) if the store keeps no fingerprints, or passages are to be
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
    /// [`Stopped`](crate::Error::Stopped), [`OtherProcess`](crate::Error::OtherProcess) in a fork.
    pub fn passages_all(&self, queries: &[PassageQuery<'_>]) -> Result<Vec<Result<Passages>>> {
        let PublishedCommit { snapshot, .. } = self.current()?;
        self.answer_all(queries, |query| self.passages_in(&snapshot, query))
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

/// The passages of a text. At most `most` contents are compared, and four for each shingle of the text.
fn find(
    snapshot: &Snapshot,
    shingler: &Shingler,
    query: &PassageQuery<'_>,
    most: usize,
) -> Result<Passages> {
    let least = query.least(&snapshot.schema)? as usize;
    let k = u32::from(snapshot.schema.shingling().k());
    let mut shingles = TextShingles::of(&shingler.in_order(query.text)?);
    if let Some(ignored) = query.ignored {
        shingles = shingles.ignoring(ignored);
    }
    // A long text has more fingerprints, and may have more contents.
    let most = most.saturating_add(shingles.distinct.len());
    let TextShingles {
        distinct, ignored, ..
    } = &shingles;
    let shared = SharedFingerprints::find(snapshot, distinct, ignored, most)?;
    let contents = shared.with_some_common(snapshot, distinct)?;
    // The number of shingles of the shortest passage.
    let long = least + 1 - k as usize;
    let mut comparer = PassageComparer::new(snapshot, &shingles, query.gap as usize, long);
    let (mut found, mut places) = (Vec::new(), None);
    for (content, only) in contents {
        // Most contents share a fingerprint, but no passage.
        let Some(packed) = comparer.candidate(content, only)? else {
            continue;
        };
        let names = snapshot.names(content)?;
        let names = names.filter(|name| !matches!(name, Ok(key) if query.except.contains(key)));
        let keys: Vec<String> = names.collect::<Result<_>>()?;
        if keys.is_empty() {
            continue;
        }
        let runs = comparer.runs(&packed)?;
        if !runs.iter().any(|run| run.places.len() >= long) {
            continue;
        }
        // The places of tokens take another pass over the text, so they are found once there is a passage.
        let places = places.get_or_insert_with(|| TokenPlaces::new(shingler, query.text));
        let is_long = |run: &ShingleRun| places.tokens_of(&run.places, k).len() >= least;
        let runs: Vec<ShingleRun> = runs.into_iter().filter(is_long).collect();
        if runs.is_empty() {
            continue;
        }
        let starts = comparer.starts(content, &runs)?;
        found.push(HoldingContent { keys, runs, starts });
    }
    let step = snapshot.schema.fingerprint_step().unwrap_or(1) as usize;
    let common = CommonPlaces::new(&shared.common, &shingles, step);
    // No content has a passage. Only the number of tokens and common places are to be said.
    let Some(places) = places else {
        let tokens = shingles.tokens(shingler, query.text, k);
        return Ok(Passages {
            common: common.outside(iter::empty(), k, tokens),
            ignored: shingles.ignored_tokens(k, tokens),
            tokens,
            ..Passages::default()
        });
    };
    let summed_up = summed_up(&found, &common, &places, k, query.limit);
    Ok(Passages {
        ignored: shingles.ignored_tokens(k, summed_up.tokens),
        ..summed_up
    })
}

/// The places of a text whose shingles are fingerprints of too many contents.
struct CommonPlaces {
    /// For each place, the number of contents, or 0 if all were compared. Empty if no place is common.
    contents: Vec<u64>,
    step: usize,
}

impl CommonPlaces {
    fn new(common: &[CommonFingerprint], shingles: &TextShingles, step: usize) -> CommonPlaces {
        let mut contents = Vec::new();
        if !common.is_empty() {
            let mut of_rank = vec![0; shingles.distinct.len()];
            for common in common {
                of_rank[common.rank] = common.contents as u64;
            }
            let ranks = shingles.ranks.iter();
            contents = ranks.map(|&rank| of_rank[rank as usize]).collect();
        }
        CommonPlaces { contents, step }
    }

    /// The number of contents that have one of the fingerprints of a run, if not all that have the run were compared.
    /// They were if the run has as many shingles in a row as there are from one fingerprint to the next, and none is
    /// common. Of joined runs, none may be.
    fn of_run(&self, run: &ShingleRun) -> Option<u64> {
        let contents = self.contents.get(run.places.clone())?;
        if run.is_joined() {
            let most = contents.iter().copied().max();
            return most.filter(|&most| most > 0);
        }
        // A stretch that long has a fingerprint, and all contents with it were compared.
        let mut compared = contents.split(|&contents| contents > 0);
        if compared.any(|places| places.len() >= self.step) {
            return None;
        }
        contents.iter().copied().max()
    }

    /// The tokens of common places outside all of `runs`, in a text of `count` tokens.
    fn outside<'a>(
        &self,
        runs: impl Iterator<Item = &'a Range<usize>>,
        k: u32,
        count: u32,
    ) -> Vec<Range<u32>> {
        let mut is_outside: Vec<bool> =
            self.contents.iter().map(|&contents| contents > 0).collect();
        for run in runs {
            is_outside[run.clone()].fill(false);
        }
        let mut outside: Vec<Range<u32>> = Vec::new();
        for (place, _) in is_outside
            .iter()
            .enumerate()
            .filter(|(_, outside)| **outside)
        {
            let tokens = tokens_of(&(place..place + 1), k, count);
            match outside.last_mut() {
                Some(last) if tokens.start <= last.end => last.end = tokens.end,
                _ => outside.push(tokens),
            }
        }
        outside
    }
}

/// Makes the answer of the contents with passages.
fn summed_up(
    found: &[HoldingContent],
    common: &CommonPlaces,
    places: &TokenPlaces<'_>,
    k: u32,
    limit: usize,
) -> Passages {
    let holders = Holders::of(found);
    let (mut passages, mut documents) = (Vec::new(), Vec::new());
    let mut covered = Cover::default();
    let mut common_runs = Vec::new();
    // For each content, what it covers of the text, and each of its runs as a passage of each of its documents.
    for HoldingContent { keys, runs, starts } in found {
        let mut own = Cover::default();
        let mut longest = 0;
        for (run, place) in runs.iter().zip(starts) {
            let tokens = places.tokens_of(&run.places, k);
            longest = longest.max(tokens.end - tokens.start);
            own.add(tokens.clone());
            covered.add(tokens.clone());
            let of_common = common.of_run(run);
            common_runs.extend(of_common.map(|_| &run.places));
            let compared = holders.of_run(&run.places);
            for key in keys {
                passages.push(Passage {
                    key: key.clone(),
                    tokens: tokens.clone(),
                    bytes: 0..0,
                    line: 0,
                    matched: tokens.end - tokens.start - low32(run.others as u64),
                    place: *place,
                    documents: of_common.map_or(compared, |contents| contents.max(compared)),
                    is_common: of_common.is_some(),
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
    // Bytes and lines are found for those passages only that are returned.
    passages.truncate(limit);
    for passage in &mut passages {
        passage.bytes = places.bytes(&passage.tokens);
        passage.line = places.line(&passage.tokens);
    }
    documents.sort_by(|a, b| b.covered.cmp(&a.covered).then_with(|| a.key.cmp(&b.key)));
    Passages {
        passages,
        common: common.outside(common_runs.into_iter(), k, places.count()),
        documents,
        tokens: places.count(),
        covered: covered.len(),
        ignored: 0,
    }
}

//! The passages that most documents have.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::places::TokenPlaces;
use super::query::PassageQuery;
use crate::error::Result;
use crate::pool::Pool;
use crate::storage::{BucketLists, Snapshot};
use crate::store::compare::{PublishedCommit, SpreadHasher};
use crate::store::handle::Store;
use crate::text::{ShingleSet, Shingler};

/// The number of fingerprints with the most contents that are looked at.
const LISTS: usize = 1 << 16;

/// The number of texts that are read again, and of passages that are counted, for each one that is wanted.
const CHOICE: usize = 4;

/// The number of documents that are named of each passage, and of each text.
const NAMED: usize = 3;

/// The number of contents that a thread looks at in a row.
const IN_A_ROW: u32 = 1 << 10;

/// A passage that several documents have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommonPassage {
    /// The number of documents that have all its shingles.
    pub documents: u64,
    /// The keys of at most three of them, those whose texts were added first.
    pub keys: Vec<String>,
    /// Its words, as one of the texts has them.
    pub text: String,
    /// The number of its tokens.
    pub tokens: u32,
}

/// A stored text that is to be read again, because a store keeps no texts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledText {
    /// The keys of at most three documents that have it.
    pub keys: Vec<String>,
    /// The blake3 hash of the text.
    pub hash: [u8; 32],
}

/// A stored content with common fingerprints.
struct SampledContent {
    shingles: ShingleSet,
    text: SampledText,
}

/// A passage before its documents are counted.
struct Candidate {
    /// Its distinct shingles, the rarest first.
    shingles: Vec<u32>,
    /// The number of documents with the rarest one.
    at_most: u64,
    text: String,
    tokens: u32,
}

/// How often a candidate was found.
#[derive(Clone, Default)]
struct Holding {
    documents: u64,
    /// The first contents that have it.
    first: Vec<u32>,
}

/// The number of documents with each shingle of the samples.
type ShingleCounts = HashMap<u32, u64, BuildHasherDefault<SpreadHasher>>;

impl Store {
    /// Finds the passages that most documents have, at most `limit` of them: navigation, licences, templates.
    ///
    /// A passage begins as `at_least` tokens of a text, by default [`Schema::passage`](crate::Schema::passage), each
    /// shingle of which several documents have, and grows in both directions as far as at least half as many have the
    /// next one. Those with the most documents come first, then the longest. A passage of which half is in one that comes
    /// before it is left out.
    ///
    /// It starts from fingerprints that several contents have. A passage of t tokens in more than w contents has one, for t
    /// and w = t - k + 1 of the [module](crate::overlap); one in fewer contents may have none.
    ///
    /// The store has no texts. `read` is called once with those that are needed, the texts of `limit` times four contents at
    /// most, and returns each, or `None` if it cannot be had: nothing is then known of its passages. All stored sets are read twice, by all threads.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::builder().passage(5).build()?)?;
    /// let text = |day: &str| format!("Dear {day}, you get this letter because you asked for it once. {day}!");
    /// for day in ["Monday", "Tuesday", "Sunday"] {
    ///     store.insert_unless_duplicate(day, text(day))?;
    /// }
    /// let found = store.common_passages(10, None, |texts| {
    ///     texts.iter().map(|stored| Some(text(&stored.keys[0]))).collect()
    /// })?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!(found[0].text, "you get this letter because you asked for it once");
    /// assert_eq!((found[0].documents, &found[0].keys[0]), (3, &"Monday".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::passages`], and [`Error::NoShingles`](crate::Error::NoShingles) if the store keeps none.
    pub fn common_passages(
        &self,
        limit: usize,
        at_least: Option<u32>,
        read: impl FnOnce(&[SampledText]) -> Vec<Option<String>>,
    ) -> Result<Vec<CommonPassage>> {
        let PublishedCommit { snapshot, .. } = self.current()?;
        let query = PassageQuery::text("");
        let query = at_least.map_or(query, |tokens| query.at_least(tokens));
        let least = query.least(&snapshot.schema)?;
        let search = CommonSearch {
            snapshot: &snapshot,
            shingler: snapshot.schema.shingler()?,
            pool: &self.shared.pool,
            documents: documents(&snapshot)?,
            least,
            limit,
        };
        let progress = &self.progress;
        progress.begin(3);
        // The samples are texts with the most common fingerprints. Their passages are cut from the texts themselves.
        let samples = search.samples(&snapshot.removed_contents()?)?;
        progress.step(1)?;
        let wanted: Vec<SampledText> = samples.iter().map(|sample| sample.text.clone()).collect();
        let texts = read(&wanted);
        let counts = search.counts(&samples)?;
        progress.step(1)?;
        let candidates = search.candidates(&texts, &counts)?;
        let found = search.counted(candidates)?;
        progress.step(1)?;
        Ok(found)
    }
}

/// The number of documents of each content.
fn documents(snapshot: &Snapshot) -> Result<Vec<u32>> {
    let mut documents = vec![0; snapshot.len as usize];
    for name in snapshot.all_names()? {
        let (content, _) = name?;
        if let Some(count) = documents.get_mut(content as usize) {
            *count += 1;
        }
    }
    Ok(documents)
}

/// A search for common passages in a snapshot.
struct CommonSearch<'a> {
    snapshot: &'a Snapshot,
    shingler: Shingler,
    pool: &'a Pool,
    /// The number of documents of each content.
    documents: Vec<u32>,
    /// The number of tokens of a passage.
    least: u32,
    limit: usize,
}

impl CommonSearch<'_> {
    /// The oldest content of each of the most common fingerprints that no content before it has.
    fn samples(&self, removed: &[u32]) -> Result<Vec<SampledContent>> {
        let Some(list) = BucketLists::of(&self.snapshot.schema).fingerprints() else {
            return Ok(Vec::new());
        };
        // Only the longest lists are kept, and cut off now and then.
        let mut lists: Vec<(Reverse<u64>, u32)> = Vec::new();
        self.snapshot
            .for_each_bucket(list, removed, |hash, contents| {
                if contents > 1 {
                    lists.push((Reverse(contents), hash));
                }
                if lists.len() == 2 * LISTS {
                    lists.sort_unstable();
                    lists.truncate(LISTS);
                }
            })?;
        lists.sort_unstable();
        let mut known = HashSet::<u32, BuildHasherDefault<SpreadHasher>>::default();
        let (mut samples, mut contents) = (Vec::new(), Vec::new());
        for (_, fingerprint) in lists {
            if samples.len() == self.limit.saturating_mul(CHOICE) {
                break;
            }
            // A text that is sampled already has this fingerprint, and so the passages with it.
            if known.contains(&fingerprint) {
                continue;
            }
            let all = usize::MAX;
            self.snapshot
                .with_fingerprint(fingerprint, all, &mut contents)?;
            // The oldest content that has a document.
            let is_named = |content: &&u32| self.documents[**content as usize] > 0;
            let Some(&content) = contents.iter().rev().find(is_named) else {
                continue;
            };
            let mut shingles = ShingleSet::default();
            self.snapshot.shingles(content, &mut shingles)?;
            known.extend(shingles.as_slice());
            samples.push(SampledContent {
                shingles,
                text: SampledText {
                    keys: self.keys(&[content])?,
                    hash: self.snapshot.content(content)?.hash,
                },
            });
        }
        Ok(samples)
    }

    /// The first keys of some contents.
    fn keys(&self, contents: &[u32]) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for &content in contents {
            for key in self.snapshot.names(content)?.take(NAMED - keys.len()) {
                keys.push(key?);
            }
        }
        Ok(keys)
    }

    /// Calls `look` with the set and the number of documents of each content that has some, on all threads. The results
    /// are in the order of the contents.
    fn of_all<T: Default + Send>(
        &self,
        look: impl Fn(&mut T, u32, &ShingleSet, u64) + Sync,
    ) -> Result<Vec<T>> {
        let parts = (0..self.snapshot.len).step_by(IN_A_ROW as usize);
        let parts = parts.map(|part| part..self.snapshot.len.min(part + IN_A_ROW));
        let work = |part: Range<u32>| {
            let (mut result, mut set) = (T::default(), ShingleSet::default());
            for content in part {
                let documents = self.documents[content as usize];
                if documents > 0 {
                    self.snapshot.shingles(content, &mut set)?;
                    look(&mut result, content, &set, documents.into());
                }
            }
            Ok(result)
        };
        self.pool.map(parts.collect(), work).into_iter().collect()
    }

    /// Counts the documents with each shingle of the samples.
    fn counts(&self, samples: &[SampledContent]) -> Result<ShingleCounts> {
        let sets = samples.iter().flat_map(|sample| sample.shingles.as_slice());
        let mut counts: ShingleCounts = sets.map(|shingle| (*shingle, 0)).collect();
        let found = self.of_all(|found: &mut ShingleCounts, _, set, documents| {
            for shingle in set.as_slice() {
                if counts.contains_key(shingle) {
                    *found.entry(*shingle).or_default() += documents;
                }
            }
        })?;
        // The sum does not depend on the order of the parts.
        for (shingle, documents) in found.into_iter().flatten() {
            *counts.entry(shingle).or_default() += documents;
        }
        Ok(counts)
    }

    /// The passages of the texts that most documents may have.
    fn candidates(
        &self,
        texts: &[Option<String>],
        counts: &ShingleCounts,
    ) -> Result<Vec<Candidate>> {
        let count = |shingle: u32| counts.get(&shingle).copied().unwrap_or_default();
        let mut candidates = Vec::new();
        let mut known = HashSet::new();
        let k = u32::from(self.snapshot.schema.shingling().k());
        let long = (self.least + 1).saturating_sub(k).max(1) as usize;
        for text in texts.iter().flatten() {
            let in_order = self.shingler.in_order(text)?;
            // For each place of the text, how many documents have its shingle.
            let of_place: Vec<u64> = in_order.iter().map(|shingle| count(*shingle)).collect();
            let places = TokenPlaces::new(&self.shingler, text);
            let runs = common_runs(&of_place, long).into_iter();
            let runs = runs.map(|run| (run.clone(), places.tokens_of(&run, k)));
            let is_long = |tokens: &Range<u32>| tokens.end - tokens.start >= self.least;
            for (run, tokens) in runs.filter(|(_, tokens)| is_long(tokens)).take(self.limit) {
                let mut shingles = in_order[run].to_vec();
                // Several texts have the same passage.
                if known.insert(shingles.clone()) {
                    shingles.sort_unstable_by_key(|shingle| (count(*shingle), *shingle));
                    shingles.dedup();
                    candidates.push(Candidate {
                        // No more documents have the passage than have its rarest shingle.
                        at_most: shingles.first().map_or(0, |rarest| count(*rarest)),
                        shingles,
                        text: text[places.bytes(&tokens)].to_owned(),
                        tokens: tokens.end - tokens.start,
                    });
                }
            }
        }
        candidates.sort_by_key(|candidate| Reverse(candidate.at_most));
        candidates.truncate(self.limit.saturating_mul(CHOICE));
        Ok(candidates)
    }

    /// Counts the documents of each candidate, and returns those with the most.
    fn counted(&self, candidates: Vec<Candidate>) -> Result<Vec<CommonPassage>> {
        let found = self.of_all(|found: &mut Vec<Holding>, content, set, documents| {
            found.resize(candidates.len(), Holding::default());
            for (candidate, holding) in candidates.iter().zip(found) {
                let has = |shingle: &u32| set.as_slice().binary_search(shingle).is_ok();
                if candidate.shingles.iter().all(has) {
                    holding.documents += documents;
                    if holding.first.len() < NAMED {
                        holding.first.push(content);
                    }
                }
            }
        })?;
        // The parts are in the order of the contents, so the first contents of each passage stay first.
        let mut held = vec![Holding::default(); candidates.len()];
        for part in found {
            for (all, holding) in held.iter_mut().zip(part) {
                all.documents += holding.documents;
                all.first.extend(holding.first);
            }
        }
        let mut counted: Vec<(Candidate, Holding)> = candidates.into_iter().zip(held).collect();
        counted.retain(|(_, holding)| holding.documents > 1);
        counted.sort_by_key(|(candidate, holding)| Reverse((holding.documents, candidate.tokens)));
        let mut passages = Vec::new();
        let mut known = HashSet::<u32, BuildHasherDefault<SpreadHasher>>::default();
        // A passage of which half is in a better one adds little.
        for (candidate, holding) in counted {
            let shingles = &candidate.shingles;
            let before = shingles.iter().filter(|shingle| known.contains(shingle));
            if passages.len() < self.limit && 2 * before.count() < shingles.len() {
                known.extend(shingles);
                passages.push(CommonPassage {
                    documents: holding.documents,
                    keys: self.keys(&holding.first)?,
                    text: candidate.text,
                    tokens: candidate.tokens,
                });
            }
        }
        Ok(passages)
    }
}

/// Runs of at least `long` places, those with the most documents first. A run begins as the `long` places of which the
/// rarest has the most documents, unless half of them are in earlier runs, and goes on in both directions as far as places
/// have at least half as many.
fn common_runs(documents: &[u64], long: usize) -> Vec<Range<usize>> {
    let mut starts: Vec<(Reverse<u64>, usize)> = least_of_windows(documents, long)
        .into_iter()
        .enumerate()
        .filter(|&(_, least)| least > 1)
        .map(|(start, least)| (Reverse(least), start))
        .collect();
    starts.sort_unstable();
    // The windows of the most common shingles first. A run that grows from one takes the windows beside it.
    let mut is_taken = vec![false; documents.len()];
    let mut runs = Vec::new();
    for (Reverse(least), first) in starts {
        let window = first..first + long;
        let taken = is_taken[window.clone()].iter().filter(|taken| **taken);
        if 2 * taken.count() >= long {
            continue;
        }
        let half = least.div_ceil(2).max(2);
        let goes_on = |place: &usize| documents[*place] >= half;
        let start = (0..first).rev().take_while(goes_on).last();
        let end = (window.end..documents.len()).take_while(goes_on).last();
        let run = start.unwrap_or(first)..end.map_or(window.end, |last| last + 1);
        is_taken[run.clone()].fill(true);
        runs.push(run);
    }
    runs
}

/// The least number of each `long` places in a row.
fn least_of_windows(numbers: &[u64], long: usize) -> Vec<u64> {
    // The places that are least of all from them on, ascending by place and number.
    let mut least: VecDeque<usize> = VecDeque::new();
    let mut of_windows = Vec::new();
    for (place, number) in numbers.iter().enumerate() {
        while least.back().is_some_and(|&last| numbers[last] >= *number) {
            least.pop_back();
        }
        least.push_back(place);
        if least.front().is_some_and(|&first| first + long <= place) {
            least.pop_front();
        }
        if place + 1 >= long {
            of_windows.extend(least.front().map(|&first| numbers[first]));
        }
    }
    of_windows
}

#[cfg(test)]
mod tests {
    use super::{common_runs, least_of_windows};

    #[test]
    fn a_run_ends_where_fewer_than_half_go_on() {
        assert_eq!(
            common_runs(&[1, 9, 5, 4, 4, 1, 2, 2], 1),
            [1..3, 1..5, 6..8]
        );
        assert_eq!(common_runs(&[1, 1], 1), []);
        assert_eq!(common_runs(&[3, 3, 3, 1], 1), vec![0..3]);
    }

    #[test]
    fn a_common_place_is_no_end_of_a_longer_run() {
        assert_eq!(common_runs(&[1, 2, 2, 9, 2, 2, 1], 4), vec![1..6]);
        // The second run shares a place with the first one.
        assert_eq!(common_runs(&[9, 9, 9, 9, 3, 3, 3, 1], 4), [0..4, 0..7]);
        assert_eq!(common_runs(&[9, 9, 1], 4), []);
    }

    #[test]
    fn the_least_of_a_window_is_that_of_all_its_places() {
        let numbers = [5, 3, 8, 8, 2, 9, 9, 9, 1];
        for long in 1..=10 {
            let expected: Vec<u64> = numbers
                .windows(long)
                .filter_map(|window| window.iter().min().copied())
                .collect();
            assert_eq!(least_of_windows(&numbers, long), expected);
        }
    }
}

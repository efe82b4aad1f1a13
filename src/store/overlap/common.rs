//! The passages that most documents have.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
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
    /// Its words, as one of the texts has them. `None` if no text with it could be read again: of such a text, only the
    /// shingle that most documents have is known.
    pub text: Option<String>,
    /// The number of its tokens; `None` without its words.
    pub tokens: Option<u32>,
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
    /// The fingerprint for which it was chosen.
    fingerprint: u32,
    shingles: ShingleSet,
    text: SampledText,
}

/// A passage before its documents are counted.
struct Candidate {
    /// Its distinct shingles, the rarest first.
    shingles: Vec<u32>,
    /// The number of documents with the rarest one.
    at_most: u64,
    text: Option<String>,
    tokens: Option<u32>,
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
    /// A passage grows from a shingle that several documents have, over the words of a text with it, as far as at least
    /// half of these documents have the shingles; it has `at_least` tokens, by default
    /// [`Schema::passage`](crate::Schema::passage). Those with the most documents come first, then the longest. A passage
    /// of which half is in one that comes before it is left out.
    ///
    /// It starts from fingerprints that several contents have. A passage of t tokens in more than w contents has one, for t
    /// and w = t - k + 1 of the [module](crate::overlap); one in fewer contents may have none.
    ///
    /// The store has no texts. `read` is called once with those that are needed, the texts of `limit` times four contents at
    /// most, and returns each, or `None` if it cannot be had. All stored sets are read twice, by all threads.
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
    /// assert_eq!(found[0].text.as_deref(), Some("you get this letter because you asked for it once"));
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
        let progress = &self.shared.progress;
        progress.begin(3);
        let samples = search.samples(&snapshot.removed_contents()?)?;
        progress.step(1);
        let wanted: Vec<SampledText> = samples.iter().map(|sample| sample.text.clone()).collect();
        let texts = read(&wanted);
        let counts = search.counts(&samples)?;
        progress.step(1);
        let candidates = search.candidates(&samples, &texts, &counts)?;
        let found = search.counted(candidates);
        progress.step(1);
        found
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
            if known.contains(&fingerprint) {
                continue;
            }
            let all = usize::MAX;
            self.snapshot
                .with_fingerprint(fingerprint, all, &mut contents)?;
            let is_named = |content: &&u32| self.documents[**content as usize] > 0;
            let Some(&content) = contents.iter().rev().find(is_named) else {
                continue;
            };
            let mut shingles = ShingleSet::default();
            self.snapshot.shingles(content, &mut shingles)?;
            known.extend(shingles.as_slice());
            samples.push(SampledContent {
                fingerprint,
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
        for (shingle, documents) in found.into_iter().flatten() {
            *counts.entry(shingle).or_default() += documents;
        }
        Ok(counts)
    }

    /// The passages of the texts that most documents may have; of a sample without its text, the fingerprint.
    fn candidates(
        &self,
        samples: &[SampledContent],
        texts: &[Option<String>],
        counts: &ShingleCounts,
    ) -> Result<Vec<Candidate>> {
        let count = |shingle: u32| counts.get(&shingle).copied().unwrap_or_default();
        let mut candidates = Vec::new();
        let mut known = HashSet::new();
        for (number, sample) in samples.iter().enumerate() {
            let Some(Some(text)) = texts.get(number) else {
                candidates.push(Candidate {
                    shingles: vec![sample.fingerprint],
                    at_most: count(sample.fingerprint),
                    text: None,
                    tokens: None,
                });
                continue;
            };
            let in_order = self.shingler.in_order(text)?;
            let of_place: Vec<u64> = in_order.iter().map(|shingle| count(*shingle)).collect();
            let places = TokenPlaces::new(&self.shingler, text);
            let k = u32::from(self.snapshot.schema.shingling().k());
            let runs = common_runs(&of_place).into_iter();
            let runs = runs.map(|run| (run.clone(), places.tokens_of(&run, k)));
            let is_long = |tokens: &Range<u32>| tokens.end - tokens.start >= self.least;
            for (run, tokens) in runs.filter(|(_, tokens)| is_long(tokens)).take(self.limit) {
                let mut shingles = in_order[run].to_vec();
                if known.insert(shingles.clone()) {
                    shingles.sort_unstable_by_key(|shingle| (count(*shingle), *shingle));
                    shingles.dedup();
                    candidates.push(Candidate {
                        at_most: shingles.first().map_or(0, |rarest| count(*rarest)),
                        shingles,
                        text: Some(text[places.bytes(&tokens)].to_owned()),
                        tokens: Some(tokens.end - tokens.start),
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

/// The runs of places around those with the most documents, as far as at least half as many have the next place.
fn common_runs(documents: &[u64]) -> Vec<Range<usize>> {
    let mut seeds: Vec<usize> = (0..documents.len()).collect();
    seeds.retain(|&place| documents[place] > 1);
    seeds.sort_by_key(|&place| Reverse(documents[place]));
    let mut is_taken = vec![false; documents.len()];
    let mut runs = Vec::new();
    for seed in seeds {
        if is_taken[seed] {
            continue;
        }
        let half = documents[seed].div_ceil(2).max(2);
        let is_in = |place: &usize| documents[*place] >= half && !is_taken[*place];
        let start = (0..seed).rev().take_while(is_in).last().unwrap_or(seed);
        let end = 1
            + (seed..documents.len())
                .take_while(is_in)
                .last()
                .unwrap_or(seed);
        is_taken[start..end].fill(true);
        runs.push(start..end);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::common_runs;

    #[test]
    fn a_run_ends_where_fewer_than_half_go_on() {
        assert_eq!(common_runs(&[1, 9, 5, 4, 4, 1, 2, 2]), [1..3, 3..5, 6..8]);
        assert_eq!(common_runs(&[1, 1]), []);
        assert_eq!(common_runs(&[3, 3, 3, 1]), vec![0..3]);
    }
}

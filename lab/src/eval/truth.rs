//! The true pairs of a store, found without its bands, and the pairs that share a bucket.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::draw::{invalid, rank};
use dedupdb::groups::PairQuery;
use dedupdb::sketching::ShingleSet;
use dedupdb::{Document, Progress, Query, Result, Store};
use rayon::prelude::*;

/// The number of texts to read before they are compared.
const CHUNK: usize = 4096;

/// The number of texts whose candidates are collected at a time.
const FEW: usize = 64;

/// A threshold that every pair with a common shingle reaches.
const ANY: f64 = f64::MIN_POSITIVE;

/// The default maximum number of pairs to process, true ones or candidates. Candidates come first and take no memory.
/// The join has the pairs of many texts in memory at a time.
const MOST_PAIRS: u64 = 50_000_000;

/// A pair of distinct texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SampledPair {
    pub(super) how: PairSource,
    /// Its exact similarity.
    pub(super) jaccard: f64,
    /// A number that identifies each of the two texts, in the same order whenever the pair occurs.
    pub(super) texts: [u64; 2],
}

/// How a pair was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairSource {
    /// It reaches the threshold.
    True,
    /// It shares a bucket and a shingle. The store finds it if it also reaches the threshold, because the store
    /// compares candidates exactly.
    Candidate,
}

/// Passes on all candidates, and all true pairs, which an exact join finds.
pub(super) fn joined(
    store: &Store,
    threshold: f64,
    most: Option<u64>,
    progress: &Progress,
    mut take: impl FnMut(SampledPair),
) -> Result<()> {
    let most = most.unwrap_or(MOST_PAIRS);
    let store = store.watched(progress);
    let mut each_pair = |query: PairQuery, how: PairSource| {
        for (pair, number) in store.pairs(query.fold_copies(true))?.zip(0_u64..) {
            let pair = pair?;
            if number == most {
                let reason = format!("there are more than {most}: ask about a sample of the texts");
                return Err(invalid("most pairs", reason));
            }
            let mut texts = [&pair.key_a, &pair.key_b].map(|key| told_by(key));
            texts.sort_unstable();
            take(SampledPair {
                how,
                jaccard: pair.jaccard.unwrap_or(pair.estimate.jaccard),
                texts,
            });
        }
        Ok(())
    };
    each_pair(PairQuery::new().threshold(ANY), PairSource::Candidate)?;
    let all = PairQuery::new().threshold(threshold).exhaustive(true);
    each_pair(all, PairSource::True)
}

/// Returns a number that identifies a text by the key of its first document.
fn told_by(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// A text of the sample.
struct TruthText {
    document: Document,
    set: ShingleSet,
}

/// Compares `count` texts, drawn with a seed, with all others. Passes on the pairs, each once.
pub(super) fn sampled(
    store: &Store,
    threshold: f64,
    (count, seed): (usize, u64),
    progress: &Progress,
    mut take: impl FnMut(SampledPair),
) -> Result<()> {
    let (drawn, texts) = drawn(store, count, seed)?;
    progress.begin(texts);
    let sample: HashSet<u32> = drawn.iter().map(|document| document.content).collect();
    for few in drawn.chunks(FEW) {
        let candidates = |document| candidates(store, document, &sample);
        for candidates in few.par_iter().map(candidates).collect::<Vec<_>>() {
            candidates?.into_iter().for_each(&mut take);
        }
        progress.go_on()?;
    }
    let asked = drawn
        .into_par_iter()
        .map(|document| TruthText::new(store, document))
        .collect::<Vec<_>>();
    let asked: Vec<TruthText> = asked.into_iter().collect::<Result<_>>()?;
    let mut documents = distinct(store)?.peekable();
    while documents.peek().is_some() {
        let chunk: Vec<Document> = documents.by_ref().take(CHUNK).collect::<Result<_>>()?;
        let compared = chunk
            .into_par_iter()
            .map(|document| -> Result<Vec<SampledPair>> {
                let set = store.shingles(&document)?;
                progress.step(1)?;
                let content = document.content;
                let others = asked
                    .iter()
                    .filter(|asked| counts(asked.document.content, content, &sample));
                let pairs = others.map(|asked| SampledPair {
                    how: PairSource::True,
                    jaccard: asked.set.jaccard(&set),
                    texts: [asked.document.content, content].map(u64::from),
                });
                Ok(pairs.filter(|pair| pair.jaccard >= threshold).collect())
            })
            .collect::<Vec<_>>();
        for pairs in compared {
            pairs?.into_iter().for_each(&mut take);
        }
    }
    Ok(())
}

/// Returns `count` documents with distinct texts, drawn with a seed, and the total number of texts.
fn drawn(store: &Store, count: usize, seed: u64) -> Result<(Vec<Document>, u64)> {
    let mut drawn: Vec<([u8; 32], Document)> = Vec::new();
    let mut texts = 0;
    for document in distinct(store)? {
        let document = document?;
        texts += 1;
        drawn.push((rank(seed, &document.key), document));
        if drawn.len() >= count.max(CHUNK).saturating_mul(2) {
            drawn.sort_unstable_by_key(|(rank, _)| *rank);
            drawn.truncate(count);
        }
    }
    drawn.sort_unstable_by_key(|(rank, _)| *rank);
    drawn.truncate(count);
    let documents = drawn.into_iter().map(|(_, document)| document);
    Ok((documents.collect(), texts))
}

/// Whether the pair of a text of the sample with another counts for the former. A pair of two texts of the sample
/// counts for the one with the smaller number.
fn counts(asked: u32, other: u32, sample: &HashSet<u32>) -> bool {
    other > asked || other < asked && !sample.contains(&other)
}

/// Returns the texts that share a bucket with a text of the sample, each pair once.
fn candidates(store: &Store, asked: &Document, sample: &HashSet<u32>) -> Result<Vec<SampledPair>> {
    let mut met = HashSet::new();
    let mut candidates = Vec::new();
    for found in store.query(&Query::key(&asked.key).threshold(ANY))? {
        let content = store.get(&found.key)?.map(|document| document.content);
        let counted = content.filter(|&content| counts(asked.content, content, sample));
        // Copies of the text are matches, too.
        if let Some(content) = counted.filter(|&content| met.insert(content)) {
            candidates.push(SampledPair {
                how: PairSource::Candidate,
                jaccard: found.jaccard.unwrap_or(found.estimate.jaccard),
                texts: [asked.content, content].map(u64::from),
            });
        }
    }
    Ok(candidates)
}

/// Returns the documents with shingles. Each distinct text occurs once, as the document with the first key.
fn distinct(store: &Store) -> Result<impl Iterator<Item = Result<Document>>> {
    let mut met = HashSet::new();
    let documents = store.documents()?;
    Ok(documents.filter_map(move |document| match document {
        Ok(document) => {
            let is_new = document.shingles > 0 && met.insert(document.content);
            is_new.then_some(Ok(document))
        }
        Err(error) => Some(Err(error)),
    }))
}

impl TruthText {
    fn new(store: &Store, document: Document) -> Result<TruthText> {
        let set = store.shingles(&document)?;
        Ok(TruthText { document, set })
    }
}

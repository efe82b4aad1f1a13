//! The true pairs of a store, found without its bands, beside those that share a bucket.

use std::collections::HashSet;

use anyhow::{Result, bail};
use dedupdb::{Document, PairQuery, Progress, Query, ShingleSet, Store};
use rayon::prelude::*;

use super::corpus::rank;
use crate::console::Console;
use crate::number::counted;
use crate::watch::{Unit, Watch};

/// Texts that are read before they are compared.
const CHUNK: usize = 4096;

/// Texts whose candidates are collected at a time.
const FEW: usize = 64;

/// A threshold that every pair with a shingle in common reaches.
const ANY: f64 = f64::MIN_POSITIVE;

/// Pairs that are gone through at most, true ones or others; so many take some minutes. The candidates
/// come first and take no memory; the join has the pairs of many texts in memory at a time.
const MOST_PAIRS: u64 = 50_000_000;

/// A pair of distinct texts, by its exact similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// It reaches the threshold.
    True(f64),
    /// It shares a bucket, and a shingle. The store finds it if it reaches the threshold, too: it
    /// compares what shares a bucket exactly.
    Candidate(f64),
}

/// Hands over all true pairs, which an exact join finds, and all candidates.
pub(super) fn joined(
    store: &Store,
    threshold: f64,
    console: &Console,
    mut take: impl FnMut(Seen),
) -> Result<()> {
    let watch = Watch::new(console, "compared", Unit::Step, store.progress());
    let candidates = PairQuery::new().threshold(ANY);
    each_pair(store, candidates, |jaccard| take(Seen::Candidate(jaccard)))?;
    drop(watch);
    let _watch = Watch::new(console, "joined", Unit::Step, store.progress());
    let all = PairQuery::new().threshold(threshold).exhaustive(true);
    each_pair(store, all, |jaccard| take(Seen::True(jaccard)))
}

fn each_pair(store: &Store, query: PairQuery, mut take: impl FnMut(f64)) -> Result<()> {
    for (pair, number) in store.pairs(query.fold_copies(true))?.zip(0..) {
        let pair = pair?;
        if number == MOST_PAIRS {
            bail!(
                "more than {}, which take long to compare: ask about some texts with --sample N",
                counted(MOST_PAIRS, "pair", "pairs")
            );
        }
        take(pair.jaccard.unwrap_or(pair.estimate.jaccard));
    }
    Ok(())
}

/// A text that is asked about.
struct Asked {
    document: Document,
    set: ShingleSet,
}

/// Hands over the pairs of so many texts with all others, each compared, and each once.
pub(super) fn sampled(
    store: &Store,
    threshold: f64,
    count: usize,
    seed: u64,
    console: &Console,
    mut take: impl FnMut(Seen),
) -> Result<()> {
    let progress = Progress::new();
    let _watch = Watch::new(console, "compared", Unit::Document, &progress);
    let mut drawn: Vec<([u8; 32], Document)> = Vec::new();
    let mut texts = 0;
    for document in distinct(store)? {
        let document = document?;
        texts += 1;
        drawn.push((rank(seed, &document.key), document));
        if drawn.len() >= 2 * count.max(CHUNK) {
            drawn.sort_unstable_by_key(|(rank, _)| *rank);
            drawn.truncate(count);
        }
    }
    drawn.sort_unstable_by_key(|(rank, _)| *rank);
    drawn.truncate(count);
    progress.begin(texts);
    let drawn: Vec<Document> = drawn.into_iter().map(|(_, document)| document).collect();
    let sample: HashSet<u32> = drawn.iter().map(|document| document.content).collect();
    for few in drawn.chunks(FEW) {
        let candidates: Vec<Vec<f64>> = few
            .par_iter()
            .map(|document| candidates(store, document, &sample))
            .collect::<Result<_>>()?;
        candidates
            .concat()
            .into_iter()
            .for_each(|jaccard| take(Seen::Candidate(jaccard)));
    }
    let asked: Vec<Asked> = drawn
        .into_par_iter()
        .map(|document| Asked::new(store, document))
        .collect::<Result<_>>()?;
    let mut documents = distinct(store)?.peekable();
    while documents.peek().is_some() {
        let chunk: Vec<Document> = documents.by_ref().take(CHUNK).collect::<Result<_>>()?;
        let compared: Vec<Vec<f64>> = chunk
            .par_iter()
            .map(|document| {
                let set = store.shingles(document)?;
                progress.step(1);
                let content = document.content;
                let others = asked
                    .iter()
                    .filter(|asked| counts(asked.document.content, content, &sample));
                let jaccards = others.map(|asked| asked.set.jaccard(&set));
                Ok(jaccards.filter(|jaccard| *jaccard >= threshold).collect())
            })
            .collect::<Result<_>>()?;
        compared
            .into_iter()
            .flatten()
            .for_each(|jaccard| take(Seen::True(jaccard)));
    }
    Ok(())
}

/// Whether the pair of a text of the sample and another is counted with the former: of two of the
/// sample, with the one that has the smaller number.
fn counts(asked: u32, other: u32, sample: &HashSet<u32>) -> bool {
    other > asked || other < asked && !sample.contains(&other)
}

/// The similarities of the texts that share a bucket with one of the sample, each pair once.
fn candidates(store: &Store, asked: &Document, sample: &HashSet<u32>) -> Result<Vec<f64>> {
    let mut met = HashSet::new();
    let mut jaccards = Vec::new();
    for found in store.query(&Query::key(&asked.key).threshold(ANY))? {
        let content = store.get(&found.key)?.map(|document| document.content);
        let counted = content.filter(|&content| counts(asked.content, content, sample));
        // Its copies are matches, too.
        if counted.is_some_and(|content| met.insert(content)) {
            jaccards.push(found.jaccard.unwrap_or(found.estimate.jaccard));
        }
    }
    Ok(jaccards)
}

/// The documents with shingles, each distinct text once, as the one whose key comes first.
fn distinct(store: &Store) -> Result<impl Iterator<Item = Result<Document>>> {
    let mut met = HashSet::new();
    let documents = store.documents()?;
    Ok(documents.filter_map(move |document| match document {
        Ok(document) => {
            let is_new = document.shingles > 0 && met.insert(document.content);
            is_new.then_some(Ok(document))
        }
        Err(error) => Some(Err(error.into())),
    }))
}

impl Asked {
    fn new(store: &Store, document: Document) -> Result<Asked> {
        let set = store.shingles(&document)?;
        Ok(Asked { document, set })
    }
}

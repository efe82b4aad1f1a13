//! The true pairs of a store, found without its bands, beside those that the store finds.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use dedupdb::{Document, PairQuery, Progress, Query, ShingleSet, Store};
use rayon::prelude::*;

use super::corpus::rank;
use crate::console::Console;
use crate::watch::{Unit, Watch};

/// Texts that are read before they are compared.
const CHUNK: usize = 4096;

/// A pair of distinct texts that is true, or listed by the store, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) jaccard: f64,
    pub(super) is_true: bool,
    pub(super) listed: bool,
}

/// All pairs at or above a threshold, by an exact join.
pub(super) fn joined(store: &Store, threshold: f64, console: &Console) -> Result<Vec<Seen>> {
    let query = || PairQuery::new().threshold(threshold).fold_copies(true);
    let watch = Watch::new(console, "compared", Unit::Step, store.progress());
    let mut listed: HashMap<[u8; 16], f64> = HashMap::new();
    for pair in store.pairs(query())? {
        let pair = pair?;
        let jaccard = pair.jaccard.unwrap_or(pair.estimate.jaccard);
        listed.insert(name(&pair.key_a, &pair.key_b), jaccard);
    }
    drop(watch);
    let _watch = Watch::new(console, "joined", Unit::Step, store.progress());
    let mut seen = Vec::new();
    for pair in store.pairs(query().exhaustive(true))? {
        let pair = pair?;
        let found = listed.remove(&name(&pair.key_a, &pair.key_b));
        seen.push(Seen {
            jaccard: pair.jaccard.unwrap_or(pair.estimate.jaccard),
            is_true: true,
            listed: found.is_some(),
        });
    }
    // What is left is listed and not true. Its order means nothing once it is sorted.
    let mut wrong: Vec<f64> = listed.into_values().collect();
    wrong.sort_by(f64::total_cmp);
    seen.extend(wrong.into_iter().map(|jaccard| Seen {
        jaccard,
        is_true: false,
        listed: true,
    }));
    Ok(seen)
}

/// A pair of keys in 16 bytes, which no two pairs share but by a chance of one in 2^128.
fn name(a: &str, b: &str) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(a.len() as u64).to_le_bytes());
    hasher.update(a.as_bytes());
    hasher.update(b.as_bytes());
    let hash = hasher.finalize();
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// A text that is asked about.
struct Asked {
    document: Document,
    set: ShingleSet,
    /// Keys that the store answers with.
    answers: HashSet<String>,
}

/// The pairs of so many texts with all others, each compared.
pub(super) fn sampled(
    store: &Store,
    threshold: f64,
    count: usize,
    seed: u64,
    console: &Console,
) -> Result<Vec<Seen>> {
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
    let asked: Vec<Asked> = drawn
        .into_par_iter()
        .map(|(_, document)| ask(store, document, threshold))
        .collect::<Result<_>>()?;
    let mut seen = Vec::new();
    let mut documents = distinct(store)?.peekable();
    while documents.peek().is_some() {
        let chunk: Vec<Document> = documents.by_ref().take(CHUNK).collect::<Result<_>>()?;
        let compared: Vec<Vec<Seen>> = chunk
            .par_iter()
            .map(|document| {
                let set = store.shingles(document)?;
                progress.step(1);
                let pairs = asked
                    .iter()
                    .filter_map(|asked| asked.pair(document, &set, threshold));
                Ok(pairs.collect())
            })
            .collect::<Result<_>>()?;
        seen.extend(compared.into_iter().flatten());
    }
    Ok(seen)
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

fn ask(store: &Store, document: Document, threshold: f64) -> Result<Asked> {
    let matches = store.query(&Query::key(&document.key).threshold(threshold))?;
    Ok(Asked {
        set: store.shingles(&document)?,
        answers: matches.into_iter().map(|found| found.key).collect(),
        document,
    })
}

impl Asked {
    /// The pair with another text, if it is true or listed.
    fn pair(&self, other: &Document, set: &ShingleSet, threshold: f64) -> Option<Seen> {
        if self.document.content == other.content {
            return None;
        }
        let jaccard = self.set.jaccard(set);
        let is_true = jaccard >= threshold;
        let listed = self.answers.contains(&other.key);
        (is_true || listed).then_some(Seen {
            jaccard,
            is_true,
            listed,
        })
    }
}

//! What a document has of an item.

use std::ops::Range;

use super::benchmark::BenchmarkItem;
use super::index::{FoundItem, ItemIndex};
use super::rule::K;
use crate::Origin;

/// A document that has an item of a benchmark.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Hit<'a> {
    /// The document.
    pub document: &'a Origin,
    /// The item.
    pub item: &'a BenchmarkItem,
    /// What the document has of it.
    pub overlap: &'a Overlap,
}

/// What a document has of an item: a passage, or a stretch of text with much of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overlap {
    /// The number of words of the longest passage that both have.
    pub longest: u32,
    /// The share of the item's words that are in shingles of this part of the document, above 0 and at most 1.
    pub coverage: f64,
    /// The share of the document's words that this part of it has, above 0 and at most 1.
    pub share: f64,
    /// The part of the document's text, in bytes from 0.
    pub bytes: Range<usize>,
    /// The part of the item that is in it: numbers of words, from 0.
    pub item_words: Range<u32>,
    /// The part of the document's text.
    pub text: String,
}

/// A document as the index compares it.
pub(super) struct ComparedText<'a> {
    pub(super) text: &'a str,
    pub(super) shingles: &'a [u32],
    /// The bytes of each word.
    pub(super) words: Vec<Range<usize>>,
}

impl Overlap {
    /// Looks at what was found. `None` if the words of the text are others than those of its shingles.
    pub(super) fn of(
        found: &FoundItem,
        compared: &ComparedText<'_>,
        index: &ItemIndex,
    ) -> Option<Overlap> {
        let item = index.item(found.item);
        let k = usize::from(K);
        let mut is_found = vec![false; item.set.len()];
        for shingle in compared.shingles.get(found.places.clone())? {
            if let Ok(rank) = item.set.binary_search(shingle) {
                is_found[rank] = true;
            }
        }
        let has = |shingle: &u32| {
            let rank = item.set.binary_search(shingle);
            rank.is_ok_and(|rank| is_found[rank])
        };
        let first = item.order.iter().position(has)?;
        let last = item.order.iter().rposition(has)? + k;
        let words = compared
            .words
            .get(found.places.start..found.places.end + k - 1)?;
        let bytes = words.first()?.start..words.last()?.end;
        let run = index.longest_run(found.item, compared.shingles)?;
        Some(Overlap {
            longest: run.shingles + u32::from(K) - 1,
            coverage: f64::from(item.covered(|rank| is_found[rank])) / item.words() as f64,
            share: words.len() as f64 / compared.words.len() as f64,
            text: compared.text.get(bytes.clone())?.to_owned(),
            bytes,
            item_words: u32::try_from(first).ok()?..u32::try_from(last).ok()?,
        })
    }
}

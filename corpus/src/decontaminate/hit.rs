//! What a document has of an item.

use std::ops::Range;

use super::benchmark::BenchmarkItem;
use super::index::{FoundItem, ItemIndex, Window};
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
    /// The part of the item that the document has.
    pub overlap: &'a Overlap,
}

/// The part of an item that a document has: a passage, or a stretch of text with much of the item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overlap {
    /// The number of words of the longest passage that both have.
    pub longest: u32,
    /// The share of the item's words that are in shingles of this part of the document, above 0 and at most 1. Ignored
    /// words do not count. What the item repeats counts at most as often as this part of the document has it.
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

impl Overlap {
    /// Looks at what was found in a text with these shingles, whose words are at these bytes. `None` if there are fewer
    /// words than the shingles have.
    pub(super) fn of(
        found: &FoundItem,
        text: &str,
        shingles: &[u32],
        words: &[Range<usize>],
        index: &ItemIndex,
    ) -> Option<Overlap> {
        let item = index.item(found.item);
        let window = Window::of(item, shingles, found.places.clone());
        let of_item = window.item_words()?;
        let part = words.get(found.places.start..found.places.end + usize::from(K) - 1)?;
        let bytes = part.first()?.start..part.last()?.end;
        let (run, _) = item.longest_run(shingles)?;
        Some(Overlap {
            longest: run + u32::from(K) - 1,
            coverage: window.covered() as f64 / item.counted_words as f64,
            share: part.len() as f64 / words.len() as f64,
            text: text.get(bytes.clone())?.to_owned(),
            bytes,
            item_words: u32::try_from(of_item.start).ok()?..u32::try_from(of_item.end).ok()?,
        })
    }
}

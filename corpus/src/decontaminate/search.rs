//! Looks for items in texts.

use std::collections::HashMap;

use rayon::prelude::*;

use super::hit::Overlap;
use super::index::{HashedText, IndexedItem, ItemIndex};
use super::rule::{K, Rule};
use crate::dedup::{Error, Result};

/// The items of a benchmark in memory, which are looked for in texts.
///
/// ```
/// use dedupdb_corpus::decontaminate::{ItemSearch, Rule};
///
/// let items = ["Who painted the harbour crane in the colours of a parrot?", "yes"];
/// let search = ItemSearch::new(&items, &Rule::new())?;
/// let found = search.find("It asks: who painted the harbour crane in the colours of a parrot.")?;
/// assert_eq!(found.len(), 1);
/// let (item, overlap) = &found[0];
/// assert_eq!((*item, overlap.longest, overlap.coverage), (0, 11, 1.0));
/// // What has too few words is never found.
/// assert_eq!((search.words(), search.unchecked()), (&[11, 1][..], vec![1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ItemSearch {
    index: ItemIndex,
    /// The numbers of the items that have the words of each indexed one.
    named: Vec<Vec<u32>>,
    words: Vec<u32>,
}

/// The shingles of an item's text, and hashes of its words, in order.
pub(super) struct ShingledItem {
    order: Vec<u32>,
    words: Vec<u32>,
    /// Whether it has words and shingles enough to be looked for.
    pub(super) is_checked: bool,
}

impl ShingledItem {
    /// # Errors
    ///
    /// Those of the shingler.
    pub(super) fn new(text: &str, rule: &Rule) -> Result<ShingledItem, dedupdb::Error> {
        let order = Rule::shingler()?.in_order(text)?;
        let words = Rule::word_hasher()?.in_order(text)?;
        // What is left of an item is as long as any item, without the words of what is ignored.
        let mut own = vec![true; words.len()];
        for (place, &shingle) in order.iter().enumerate() {
            if !rule.counts(shingle) {
                let end = words.len().min(place + Rule::FEWEST_WORDS);
                own[place..end].fill(false);
            }
        }
        let own = own.into_iter().filter(|is_own| *is_own).count();
        Ok(ShingledItem {
            is_checked: own >= Rule::FEWEST_WORDS,
            order,
            words,
        })
    }

    /// The number of its words.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }
}

impl ItemSearch {
    /// Makes the search for these texts. About 40 bytes of memory are taken for each word; equal texts are one.
    ///
    /// # Errors
    ///
    /// [`Error::Benchmark`] if a number of the rule is out of its range.
    pub fn new<T: AsRef<str>>(items: &[T], rule: &Rule) -> Result<ItemSearch, Error> {
        let shingled = items
            .iter()
            .map(|item| ShingledItem::new(item.as_ref(), rule));
        ItemSearch::of(shingled.collect::<Result<_, _>>()?, rule)
    }

    /// # Errors
    ///
    /// Those of [`ItemSearch::new`].
    pub(super) fn of(items: Vec<ShingledItem>, rule: &Rule) -> Result<ItemSearch> {
        rule.check()?;
        // Equal items are searched as one, and found as all of them.
        let mut numbers = HashMap::new();
        let (mut named, mut indexed) = (Vec::<Vec<u32>>::new(), Vec::new());
        let mut words = Vec::with_capacity(items.len());
        for (number, item) in (0..).zip(items) {
            words.push(u32::try_from(item.words()).unwrap_or(u32::MAX));
            if !item.is_checked {
                continue;
            }
            if let Some(&same) = numbers.get(&item.words) {
                let same: &mut Vec<u32> = &mut named[same];
                same.push(number);
                continue;
            }
            numbers.insert(item.words.clone(), named.len());
            named.push(vec![number]);
            indexed.push(IndexedItem::new(item.order, item.words, rule));
        }
        let index = ItemIndex::new(Rule::shingler()?, indexed, rule);
        Ok(ItemSearch {
            index,
            named,
            words,
        })
    }

    /// Returns the number of words of each item. An item with fewer than [`Rule::FEWEST_WORDS`] words, not counting
    /// those that [`Rule::ignore`] takes out, is never found.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the numbers of the items that are never found, in order.
    pub fn unchecked(&self) -> Vec<u32> {
        let mut is_checked = vec![false; self.words.len()];
        for &number in self.named.iter().flatten() {
            is_checked[number as usize] = true;
        }
        let numbers = (0..).zip(is_checked);
        let unchecked = numbers.filter(|(_, is_checked)| !is_checked);
        unchecked.map(|(number, _)| number).collect()
    }

    /// Returns what a text has of each item that it has, with the number of the item, from 0, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::Defect`] only.
    pub fn find(&self, text: &str) -> Result<Vec<(u32, Overlap)>, Error> {
        let mut hits = Vec::new();
        let shingles = self.index.shingler().in_order(text)?;
        let found = self.index.find(&shingles);
        if found.is_empty() {
            return Ok(hits);
        }
        let words = Rule::word_hasher()?.in_order(text)?;
        if words.len() < usize::from(K) {
            // Its one shingle is of fewer words.
            return Ok(hits);
        }
        let hashed = HashedText {
            shingles: &shingles,
            words: &words,
        };
        let places = self.index.shingler().places(text);
        // Shingles are hashes, so what was found is compared by another hash of its words.
        for found in found {
            let Some((found, confirmed)) = self.index.confirmed(found, &hashed) else {
                continue;
            };
            let shingles = confirmed.as_deref().unwrap_or(&shingles);
            let overlap = Overlap::of(&found, text, shingles, &places, &self.index);
            let what = "an overlap has no place in its text";
            let overlap = overlap.ok_or(Error::Defect { what })?;
            let named = &self.named[found.item as usize];
            hits.extend(named.iter().map(|&number| (number, overlap.clone())));
        }
        hits.sort_unstable_by_key(|(number, _)| *number);
        Ok(hits)
    }

    /// Looks in many texts as [`ItemSearch::find`] does, on the threads of rayon's pool.
    ///
    /// # Errors
    ///
    /// Those of [`ItemSearch::find`].
    pub fn find_all<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
    ) -> Result<Vec<Vec<(u32, Overlap)>>, Error> {
        let texts = texts.par_iter();
        texts.map(|text| self.find(text.as_ref())).collect()
    }
}

//! Finds which items of a benchmark a text has.

use std::ops::Range;

use dedupdb::sketching::Shingler;

use super::rule::{K, Rule, fewest_words};

/// The items of a benchmark by their shingles.
///
/// An item that a stretch of a text contains has at least `fewest` of its shingles there, so at least one of any
/// `n - fewest + 1` of its `n` shingles. The rarest ones of the benchmark are its anchors (Chaudhuri, Ganti and Kaushik,
/// "A Primitive Operator for Similarity Joins in Data Cleaning", 2006, section 4.1): only around these is a text compared
/// with it.
#[derive(Debug)]
pub(super) struct ItemIndex {
    shingler: Shingler,
    items: Vec<IndexedItem>,
    /// The number of shingles of a passage that is a hit.
    run: u32,
    /// A bit for the hash of each shingle.
    filter: Vec<u64>,
    /// The distinct shingles, which ascend, and where the postings of each begin; one more for the end.
    shingles: Vec<u32>,
    starts: Vec<u32>,
    /// By item, then by place.
    postings: Vec<Posting>,
}

/// The shingles of an item in its order, and what counts for it.
#[derive(Debug)]
pub(super) struct IndexedItem {
    pub(super) order: Vec<u32>,
    /// The distinct ones, ascending.
    pub(super) set: Vec<u32>,
    /// The number of shingles that a stretch has at least.
    fewest: u32,
}

/// A place of an item.
#[derive(Clone, Copy, Debug)]
struct Posting {
    item: u32,
    place: u32,
    is_anchor: bool,
}

/// A run of shingles that a text and an item have in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedRun {
    item: u32,
    /// The place of its last shingle in the item.
    last: u32,
    /// The number of its shingles, and the place of the first one in the text.
    pub(super) shingles: u32,
    pub(super) start: usize,
}

/// What a text has of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundItem {
    pub(super) item: u32,
    /// The places of the text with the most shingles of the item, from the first to the last that the item has; of an
    /// item that is hit by a passage alone, those of the passage.
    pub(super) places: Range<usize>,
}

impl IndexedItem {
    pub(super) fn new(order: Vec<u32>, rule: &Rule) -> IndexedItem {
        let mut set = order.clone();
        set.sort_unstable();
        set.dedup();
        let fewest = rule.fewest(set.len());
        IndexedItem { order, set, fewest }
    }

    /// The number of its words.
    pub(super) fn words(&self) -> usize {
        self.order.len() + usize::from(K) - 1
    }

    /// The number of shingles in a stretch of twice its words.
    fn stretch(&self) -> usize {
        2 * self.words() - usize::from(K) + 1
    }

    /// The number of its words inside those of its shingles that `is_found`, which are numbered in the order of the set.
    pub(super) fn covered(&self, is_found: impl Fn(usize) -> bool) -> u32 {
        let (mut covered, mut end) = (0, 0);
        for (place, shingle) in self.order.iter().enumerate() {
            if self.set.binary_search(shingle).is_ok_and(&is_found) {
                covered += place + usize::from(K) - end.max(place);
                end = place + usize::from(K);
            }
        }
        u32::try_from(covered).unwrap_or(u32::MAX)
    }

    /// The stretch around one of these `anchors`, which ascend, with the most shingles of the item, if it has as many as
    /// the rule says.
    fn fullest(&self, anchors: impl Iterator<Item = usize>, text: &[u32]) -> Option<Range<usize>> {
        let stretch = self.stretch();
        let mut best: Option<(u32, Range<usize>)> = None;
        // How often the stretch has each shingle, and how many it has at all.
        let mut counts = vec![0_u32; self.set.len()];
        let mut distinct = 0;
        let rank = |place: usize| self.set.binary_search(&text[place]).ok();
        let mut window = 0..0;
        let words = fewest_words(self.words());
        for anchor in anchors {
            let begin = (anchor + 1).saturating_sub(stretch);
            if begin > window.end {
                counts.fill(0);
                distinct = 0;
                window = begin..begin;
            }
            let end = (anchor + stretch).min(text.len());
            for place in window.end..end {
                if place - window.start == stretch {
                    if let Some(rank) = rank(window.start) {
                        counts[rank] -= 1;
                        distinct -= u32::from(counts[rank] == 0);
                    }
                    window.start += 1;
                }
                window.end = place + 1;
                let Some(rank) = rank(place) else { continue };
                counts[rank] += 1;
                if counts[rank] > 1 {
                    continue;
                }
                distinct += 1;
                let is_more = best.as_ref().is_none_or(|(most, _)| distinct > *most);
                if is_more
                    && distinct >= self.fewest
                    && self.covered(|rank| counts[rank] > 0) as usize >= words
                {
                    best = Some((distinct, window.clone()));
                }
            }
        }
        let (_, mut places) = best?;
        while rank(places.start).is_none() {
            places.start += 1;
        }
        Some(places)
    }
}

impl ItemIndex {
    /// Indexes items, of which each has at least one shingle and no two have the same shingles in the same order.
    pub(super) fn new(shingler: Shingler, items: Vec<IndexedItem>, rule: &Rule) -> ItemIndex {
        let mut all: Vec<(u32, u32, u32)> = Vec::new();
        for (number, item) in (0..).zip(&items) {
            let places = (0..).zip(&item.order);
            all.extend(places.map(|(place, &shingle)| (shingle, number, place)));
        }
        all.sort_unstable();
        let (mut shingles, mut starts) = (Vec::new(), Vec::new());
        for (at, &(shingle, ..)) in (0..).zip(&all) {
            if shingles.last() != Some(&shingle) {
                shingles.push(shingle);
                starts.push(at);
            }
        }
        starts.push(u32::try_from(all.len()).unwrap_or(u32::MAX));
        let postings = all.into_iter().map(|(_, item, place)| Posting {
            item,
            place,
            is_anchor: false,
        });
        let mut index = ItemIndex {
            shingler,
            run: rule.passage - u32::from(K) + 1,
            filter: filter(&shingles),
            shingles,
            starts,
            postings: postings.collect(),
            items,
        };
        index.choose_anchors();
        index
    }

    fn choose_anchors(&mut self) {
        for number in 0..self.items.len() {
            let item = &self.items[number];
            let anchors = item.set.len() - item.fewest as usize + 1;
            let mut by_rarity = item.set.clone();
            by_rarity.sort_by_key(|&shingle| (self.list(shingle).len(), shingle));
            for shingle in by_rarity.into_iter().take(anchors) {
                let list = self.list(shingle);
                let own = self.postings[list.clone()]
                    .partition_point(|posting| (posting.item as usize) < number);
                self.postings[list.start + own].is_anchor = true;
            }
        }
    }

    /// The places of the postings of a shingle.
    fn list(&self, shingle: u32) -> Range<usize> {
        if !self.may_have(shingle) {
            return 0..0;
        }
        match self.shingles.binary_search(&shingle) {
            Ok(at) => self.starts[at] as usize..self.starts[at + 1] as usize,
            Err(_) => 0..0,
        }
    }

    fn may_have(&self, shingle: u32) -> bool {
        let bit = filter_bit(&self.filter, shingle);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1
    }

    pub(super) fn item(&self, number: u32) -> &IndexedItem {
        &self.items[number as usize]
    }

    pub(super) fn shingler(&self) -> &Shingler {
        &self.shingler
    }

    /// The items that a text with these shingles has, in the order of the items.
    pub(super) fn find(&self, text: &[u32]) -> Vec<FoundItem> {
        let (mut anchors, mut passages) = (Vec::new(), Vec::new());
        let (mut runs, mut longer) = (Vec::new(), Vec::new());
        for (place, &shingle) in text.iter().enumerate() {
            let list = &self.postings[self.list(shingle)];
            if list.is_empty() && runs.is_empty() {
                continue;
            }
            let here = list.iter().filter(|posting| posting.is_anchor);
            anchors.extend(here.map(|posting| (posting.item, place)));
            extend(&runs, list, place, &mut longer);
            let long = longer.iter().filter(|run| run.shingles >= self.run);
            passages.extend(long.copied());
            std::mem::swap(&mut runs, &mut longer);
        }
        anchors.sort_unstable();
        let mut found = Vec::new();
        for of_item in anchors.chunk_by(|a, b| a.0 == b.0) {
            let (item, _) = of_item[0];
            let places = of_item.iter().map(|&(_, place)| place);
            if let Some(places) = self.item(item).fullest(places, text) {
                found.push(FoundItem { item, places });
            }
        }
        // The longest one of each item, the first of several.
        passages.sort_unstable_by_key(|run| (run.item, u32::MAX - run.shingles, run.start));
        passages.dedup_by_key(|run| run.item);
        for run in passages {
            if let Err(at) = found.binary_search_by_key(&run.item, |found| found.item) {
                let places = run.start..run.start + run.shingles as usize;
                let item = run.item;
                found.insert(at, FoundItem { item, places });
            }
        }
        found
    }

    /// The longest run of shingles that a text and an item have in the same order.
    pub(super) fn longest_run(&self, item: u32, text: &[u32]) -> Option<SharedRun> {
        let of_item = |shingle: u32| {
            let list = self.list(shingle);
            let own = self.postings[list].iter();
            own.filter(|posting| posting.item == item)
        };
        let (mut runs, mut longer) = (Vec::new(), Vec::new());
        let mut longest: Option<SharedRun> = None;
        for (place, &shingle) in text.iter().enumerate() {
            let list: Vec<Posting> = of_item(shingle).copied().collect();
            extend(&runs, &list, place, &mut longer);
            for run in &longer {
                if longest.is_none_or(|longest| run.shingles > longest.shingles) {
                    longest = Some(*run);
                }
            }
            std::mem::swap(&mut runs, &mut longer);
        }
        longest
    }
}

/// Makes the runs that end at `place` of those that end before it and the postings of its shingle.
fn extend(before: &[SharedRun], list: &[Posting], place: usize, runs: &mut Vec<SharedRun>) {
    runs.clear();
    let mut before = before.iter().peekable();
    for posting in list {
        let ends_before = |run: &&&SharedRun| {
            (run.item, run.last.saturating_add(1)) < (posting.item, posting.place)
        };
        while before.next_if(|run| ends_before(&run)).is_some() {}
        let continued =
            before.next_if(|run| (run.item, run.last + 1) == (posting.item, posting.place));
        runs.push(SharedRun {
            item: posting.item,
            last: posting.place,
            shingles: continued.map_or(1, |run| run.shingles + 1),
            start: continued.map_or(place, |run| run.start),
        });
    }
}

/// A filter of 8 to 16 bits a shingle.
fn filter(shingles: &[u32]) -> Vec<u64> {
    let words = (shingles.len() / 8).next_power_of_two();
    let mut filter = vec![0; words];
    for &shingle in shingles {
        let bit = filter_bit(&filter, shingle);
        filter[bit / 64] |= 1 << (bit % 64);
    }
    filter
}

/// The bit of a shingle. Its upper bits are as random as any.
fn filter_bit(filter: &[u64], shingle: u32) -> usize {
    let bits = filter.len() as u64 * 64;
    usize::try_from((u64::from(shingle) * bits) >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every stretch and every run of a text with an item.
    fn is_hit(item: &IndexedItem, text: &[u32], rule: &Rule) -> bool {
        let run = (rule.passage - u32::from(K) + 1) as usize;
        let has_run = item.order.windows(run).any(|of_item| {
            let mut of_text = text.windows(run);
            of_text.any(|of_text| of_text == of_item)
        });
        let stretches = (0..text.len()).map(|start| {
            let end = text.len().min(start + item.stretch());
            &text[start..end]
        });
        has_run
            || stretches.into_iter().any(|stretch| {
                let has = |rank: usize| stretch.contains(&item.set[rank]);
                let shared = (0..item.set.len()).filter(|&rank| has(rank)).count();
                shared >= item.fewest as usize
                    && item.covered(has) as usize >= fewest_words(item.words())
            })
    }

    #[test]
    fn the_index_finds_what_a_comparison_of_everything_finds() {
        let shingler = Rule::shingler().unwrap();
        let mut random = 7_u64;
        let mut below = |end: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % end
        };
        let (mut hits, mut misses) = (0, 0);
        for round in 0..2_000_u32 {
            // Few words, so that shingles repeat and are shared, or many.
            let words = u64::from(3 + round % 40);
            let items: Vec<Vec<u64>> = (0..6)
                .map(|number| (0..5 + 4 * number).map(|_| below(words)).collect())
                .collect();
            // Each item with some words replaced, left out or put in, or in parts of one shingle.
            let mut document = Vec::new();
            for item in &items {
                let is_in_parts = below(2) == 0;
                for (number, word) in item.iter().enumerate() {
                    match below(10) {
                        _ if is_in_parts && number % 5 == 0 => {
                            document.extend([below(words), *word]);
                        }
                        _ if is_in_parts => document.push(*word),
                        0 => document.push(below(words)),
                        1 => {}
                        2 => document.extend([below(words), *word]),
                        _ => document.push(*word),
                    }
                }
            }
            let shingles = |words: &[u64]| {
                let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
                shingler.in_order(&words.join(" ")).unwrap()
            };
            let rule = Rule {
                passage: 6 + round % 9,
                containment: f64::from(1 + round % 10) / 10.0,
            };
            let mut orders: Vec<Vec<u32>> = items.iter().map(|item| shingles(item)).collect();
            orders.sort();
            orders.dedup();
            let indexed = orders
                .iter()
                .map(|order| IndexedItem::new(order.clone(), &rule));
            let index = ItemIndex::new(shingler.clone(), indexed.collect(), &rule);
            let document = shingles(&document);
            let found: Vec<u32> = index.find(&document).iter().map(|it| it.item).collect();
            let numbers = (0..).zip(&orders).map(|(number, _)| number);
            let expected = numbers.filter(|&item| is_hit(index.item(item), &document, &rule));
            let expected: Vec<u32> = expected.collect();
            assert_eq!(found, expected, "round {round}");
            hits += expected.len();
            misses += orders.len() - expected.len();
        }
        assert!(
            hits > 2_000 && misses > 2_000,
            "{hits} hits, {misses} misses"
        );
    }

    #[test]
    fn a_stretch_is_twice_as_long_as_the_item() {
        // An item of 20 words, of which 14 are in the first shingle and five others.
        let rule = Rule {
            containment: 0.1,
            ..Rule::default()
        };
        let item = IndexedItem::new((1..=16).collect(), &rule);
        let text = |length: usize| [&[1][..], &vec![0; length - 6], &[8, 9, 10, 11, 12]].concat();
        for (length, found) in [(36, Some(0..36)), (37, None)] {
            let last = length - 1;
            for anchors in [&[0][..], &[last], &[0, last]] {
                let anchors = anchors.iter().copied();
                assert_eq!(item.fullest(anchors, &text(length)), found);
            }
        }
    }
}

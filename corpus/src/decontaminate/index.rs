//! Finds which items of a benchmark a text has.

use std::collections::{HashMap, VecDeque};
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
    postings: Vec<ItemPosting>,
    /// A hash that is no shingle.
    absent: u32,
}

/// The shingles of an item in its order, and what counts for it.
#[derive(Debug)]
pub(super) struct IndexedItem {
    pub(super) order: Vec<u32>,
    /// The distinct ones, ascending. The number of one is its rank.
    pub(super) set: Vec<u32>,
    /// The places of each rank, one rank after another, and where those of each begin; one more for the end.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// A hash of each word, of another function than the shingles.
    words: Vec<u32>,
    /// The number of words in shingles that count.
    pub(super) counted_words: usize,
    /// The number of shingles that a stretch has at least.
    fewest: u32,
}

/// A place of an item.
#[derive(Clone, Copy, Debug)]
struct ItemPosting {
    item: u32,
    place: u32,
    is_anchor: bool,
}

/// A run of shingles that a text and an item have in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ItemRun {
    item: u32,
    /// The place of its last shingle in the item.
    last: u32,
    /// The number of its shingles, and the place of the first one in the text.
    shingles: u32,
    start: usize,
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
    /// An item with the shingles and the hashes of the words of a text, both in its order.
    pub(super) fn new(order: Vec<u32>, words: Vec<u32>, rule: &Rule) -> IndexedItem {
        let counts = |place: &u32| rule.counts(order[*place as usize]);
        let mut places: Vec<u32> = (0..).take(order.len()).filter(counts).collect();
        // Words in several of these shingles count once.
        let (mut counted_words, mut end) = (0, 0);
        for &place in &places {
            let after = place as usize + usize::from(K);
            counted_words += after - end.max(place as usize);
            end = after;
        }
        // By shingle, so that the places of a rank are side by side, in the order of the item.
        places.sort_by_key(|&place| order[place as usize]);
        let (mut set, mut starts) = (Vec::new(), Vec::new());
        for (at, &place) in (0..).zip(&places) {
            let shingle = order[place as usize];
            if set.last() != Some(&shingle) {
                set.push(shingle);
                starts.push(at);
            }
        }
        starts.push(u32::try_from(places.len()).unwrap_or(u32::MAX));
        let fewest = rule.fewest(set.len());
        IndexedItem {
            order,
            set,
            places,
            starts,
            words,
            counted_words,
            fewest,
        }
    }

    /// The number of its words.
    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    /// The number of shingles in a stretch of twice its words.
    fn stretch(&self) -> usize {
        2 * self.words() - usize::from(K) + 1
    }

    pub(super) fn rank(&self, shingle: u32) -> Option<usize> {
        self.set.binary_search(&shingle).ok()
    }

    /// The places of a rank.
    fn places(&self, rank: usize) -> &[u32] {
        &self.places[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }

    /// Whether the item has these words, whose shingle has this rank. Other words may have the same shingle, because
    /// shingles are hashes.
    fn has_words(&self, rank: usize, words: &[u32]) -> bool {
        let mut places = self.places(rank).iter().map(|&place| place as usize);
        places.any(|place| self.words[place..].starts_with(words))
    }

    /// Puts `other` in the place of shingles that are those of other words.
    fn without_collisions(&self, text: &HashedText<'_>, other: u32) -> Option<Vec<u32>> {
        let mut shingles: Option<Vec<u32>> = None;
        let k = usize::from(K);
        for (place, &shingle) in text.shingles.iter().enumerate() {
            let Some(rank) = self.rank(shingle) else {
                continue;
            };
            let words = text.words.get(place..place + k);
            if !words.is_some_and(|words| self.has_words(rank, words)) {
                shingles.get_or_insert_with(|| text.shingles.to_vec())[place] = other;
            }
        }
        shingles
    }

    /// The stretch around one of these `anchors`, which ascend, with the most shingles of the item, if it has as much as
    /// the rule says.
    fn fullest(&self, anchors: impl Iterator<Item = usize>, text: &[u32]) -> Option<Range<usize>> {
        let stretch = self.stretch();
        let mut best: Option<(u32, Range<usize>)> = None;
        let mut window = Window::new(self, text);
        let words = fewest_words(self.counted_words);
        // Every stretch with an anchor is looked at. Those of near anchors overlap, so one window goes through them.
        for anchor in anchors {
            let begin = (anchor + 1).saturating_sub(stretch);
            if begin > window.places.end {
                window = Window::new(self, text);
                window.places = begin..begin;
            }
            let end = (anchor + stretch).min(text.len());
            while window.places.end < end {
                if window.places.len() == stretch {
                    window.leave();
                }
                let is_shared = window.enter();
                let distinct = window.distinct;
                let is_more = best.as_ref().is_none_or(|(most, _)| distinct > *most);
                if is_shared && is_more && distinct >= self.fewest && window.covered() >= words {
                    best = Some((distinct, window.places.clone()));
                }
            }
        }
        let (_, mut places) = best?;
        // The window may begin before the first shingle that the item has.
        while self.rank(text[places.start]).is_none() {
            places.start += 1;
        }
        Some(places)
    }

    /// The longest run of shingles that a text and the item have in the same order, and where it begins in the text; the
    /// first of several.
    pub(super) fn longest_run(&self, text: &[u32]) -> Option<(u32, usize)> {
        let (mut runs, mut longer): (Vec<ItemRun>, Vec<ItemRun>) = (Vec::new(), Vec::new());
        let mut longest: Option<(u32, usize)> = None;
        for (place, &shingle) in text.iter().enumerate() {
            let places = self.rank(shingle).map_or(&[][..], |rank| self.places(rank));
            let list = places.iter().map(|&place| (0, place));
            extend(&runs, list, place, &mut longer);
            for run in &longer {
                if longest.is_none_or(|(shingles, _)| run.shingles > shingles) {
                    longest = Some((run.shingles, run.start));
                }
            }
            std::mem::swap(&mut runs, &mut longer);
        }
        longest
    }
}

/// A text as it is compared: its shingles, and a hash of each word, of another function.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashedText<'a> {
    pub(super) shingles: &'a [u32],
    pub(super) words: &'a [u32],
}

/// Consecutive shingles of a text, and what they have of an item.
#[derive(Debug)]
pub(super) struct Window<'a> {
    item: &'a IndexedItem,
    text: &'a [u32],
    places: Range<usize>,
    /// How often each rank is there, and how many are.
    counts: Vec<u32>,
    distinct: u32,
    /// In how many of these shingles each word of the item is, and how many words are in one.
    of_words: Vec<u32>,
    item_words: usize,
    /// The places of the text with a shingle of the item, and the number of words in these.
    shared: VecDeque<usize>,
    text_words: usize,
}

impl<'a> Window<'a> {
    pub(super) fn new(item: &'a IndexedItem, text: &'a [u32]) -> Window<'a> {
        Window {
            item,
            text,
            places: 0..0,
            counts: vec![0; item.set.len()],
            distinct: 0,
            of_words: vec![0; item.words()],
            item_words: 0,
            shared: VecDeque::new(),
            text_words: 0,
        }
    }

    /// All of these places.
    pub(super) fn of(item: &'a IndexedItem, text: &'a [u32], places: Range<usize>) -> Window<'a> {
        let mut window = Window::new(item, text);
        window.places = places.start..places.start;
        while window.places.end < places.end {
            window.enter();
        }
        window
    }

    /// The number of words of the item in shingles that are there, or of words of the text in these if they are fewer, as
    /// where the item repeats itself.
    pub(super) fn covered(&self) -> usize {
        self.item_words.min(self.text_words)
    }

    /// The words of the item from the first to the last that is in a shingle that is there.
    pub(super) fn item_words(&self) -> Option<Range<usize>> {
        let is_there = |count: &u32| *count > 0;
        let first = self.of_words.iter().position(is_there)?;
        let last = self.of_words.iter().rposition(is_there)?;
        Some(first..last + 1)
    }

    /// Takes in the next place. Returns whether the item has its shingle.
    fn enter(&mut self) -> bool {
        let place = self.places.end;
        self.places.end += 1;
        let Some(rank) = self.item.rank(self.text[place]) else {
            return false;
        };
        let k = usize::from(K);
        // Words that the last shared shingle has do not count again.
        self.text_words += self.shared.back().map_or(k, |last| k.min(place - last));
        self.shared.push_back(place);
        self.counts[rank] += 1;
        if self.counts[rank] > 1 {
            return true;
        }
        self.distinct += 1;
        for &place in self.item.places(rank) {
            for count in &mut self.of_words[place as usize..place as usize + k] {
                self.item_words += usize::from(*count == 0);
                *count += 1;
            }
        }
        true
    }

    /// Leaves out the first place.
    fn leave(&mut self) {
        let place = self.places.start;
        self.places.start += 1;
        let Some(rank) = self.item.rank(self.text[place]) else {
            return;
        };
        let k = usize::from(K);
        self.shared.pop_front();
        self.text_words -= self.shared.front().map_or(k, |next| k.min(next - place));
        self.counts[rank] -= 1;
        if self.counts[rank] > 0 {
            return;
        }
        self.distinct -= 1;
        for &place in self.item.places(rank) {
            for count in &mut self.of_words[place as usize..place as usize + k] {
                *count -= 1;
                self.item_words -= usize::from(*count == 0);
            }
        }
    }
}

impl ItemIndex {
    /// Indexes items. Each has at least one shingle, and no two have the same shingles in the same order.
    pub(super) fn new(shingler: Shingler, items: Vec<IndexedItem>, rule: &Rule) -> ItemIndex {
        // All shingles that count, by shingle, then by item and place, which is the order of the postings.
        let mut all: Vec<(u32, u32, u32)> = Vec::new();
        for (number, item) in (0..).zip(&items) {
            let places = (0..).zip(&item.order);
            let places = places.filter(|(_, shingle)| rule.counts(**shingle));
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
        let postings = all.into_iter().map(|(_, item, place)| ItemPosting {
            item,
            place,
            is_anchor: false,
        });
        let mut index = ItemIndex {
            shingler,
            run: rule.passage - u32::from(K) + 1,
            absent: (0..=u32::MAX)
                .find(|hash| shingles.binary_search(hash).is_err())
                .unwrap_or(0),
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
            // Of any so large part of its shingles, a text with the item has one.
            let anchors = item.set.len() - item.fewest as usize + 1;
            let mut by_rarity = item.set.clone();
            by_rarity.sort_by_key(|&shingle| (self.list(shingle).len(), shingle));
            for shingle in by_rarity.into_iter().take(anchors) {
                let list = self.list(shingle);
                // One posting is enough, because an anchor only leads to the item.
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

    /// Returns the items that a text may have, in their order, assuming that equal shingles come from equal words.
    pub(super) fn find(&self, text: &[u32]) -> Vec<FoundItem> {
        let mut anchors = Vec::new();
        // The longest run of each item with a passage, and where it begins; the first of several.
        let mut passages: HashMap<u32, (u32, usize)> = HashMap::new();
        let (mut runs, mut longer): (Vec<ItemRun>, Vec<ItemRun>) = (Vec::new(), Vec::new());
        // One pass finds the passages, by runs that go on from place to place, and the anchors of each item.
        for (place, &shingle) in text.iter().enumerate() {
            let list = &self.postings[self.list(shingle)];
            if list.is_empty() && runs.is_empty() {
                continue;
            }
            let here = list.iter().filter(|posting| posting.is_anchor);
            anchors.extend(here.map(|posting| (posting.item, place)));
            let places = list.iter().map(|posting| (posting.item, posting.place));
            extend(&runs, places, place, &mut longer);
            for of_item in longer.chunk_by(|a, b| a.item == b.item) {
                let longest = of_item.iter().map(|run| (run.shingles, run.start)).max();
                let Some(longest) = longest.filter(|(shingles, _)| *shingles >= self.run) else {
                    continue;
                };
                let before = passages.entry(of_item[0].item).or_insert(longest);
                if longest.0 > before.0 {
                    *before = longest;
                }
            }
            std::mem::swap(&mut runs, &mut longer);
        }
        // Around its anchors, an item is compared with stretches of the text.
        anchors.sort_unstable();
        let mut found = Vec::new();
        for of_item in anchors.chunk_by(|a, b| a.0 == b.0) {
            let (item, _) = of_item[0];
            let places = of_item.iter().map(|&(_, place)| place);
            if let Some(places) = self.item(item).fullest(places, text) {
                // An item is found once: by the stretch, if there is one.
                passages.remove(&item);
                found.push(FoundItem { item, places });
            }
        }
        // The others have a passage alone.
        found.extend(passages.into_iter().map(|(item, (shingles, start))| {
            let places = start..start + shingles as usize;
            FoundItem { item, places }
        }));
        found.sort_unstable_by_key(|found| found.item);
        found
    }

    /// What a text has of an item that was [found](ItemIndex::find), with the shingles by which it has it: those of other
    /// words are others.
    pub(super) fn confirmed(
        &self,
        found: FoundItem,
        text: &HashedText<'_>,
    ) -> Option<(FoundItem, Option<Vec<u32>>)> {
        let item = self.item(found.item);
        let Some(shingles) = item.without_collisions(text, self.absent) else {
            return Some((found, None));
        };
        // Without the shingles of other words, the item may be elsewhere in the text, or nowhere.
        let all = (0..shingles.len()).filter(|&place| item.rank(shingles[place]).is_some());
        let places = item.fullest(all, &shingles).or_else(|| {
            let (run, start) = item.longest_run(&shingles)?;
            (run >= self.run).then(|| start..start + run as usize)
        })?;
        let item = found.item;
        Some((FoundItem { item, places }, Some(shingles)))
    }
}

/// Makes the runs that end at `place` of those that end before it and the items and places of its shingle, which ascend.
fn extend(
    before: &[ItemRun],
    list: impl Iterator<Item = (u32, u32)>,
    place: usize,
    runs: &mut Vec<ItemRun>,
) {
    runs.clear();
    let mut before = before.iter().peekable();
    for (item, last) in list {
        let next = |run: &ItemRun| (run.item, run.last.saturating_add(1));
        // Both are in order, so runs that no place continues are passed over.
        while before.next_if(|run| next(run) < (item, last)).is_some() {}
        let continued = before.next_if(|run| next(run) == (item, last));
        runs.push(ItemRun {
            item,
            last,
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
        let k = usize::from(K);
        let run = rule.passage as usize - k + 1;
        let has_run = item.order.windows(run).any(|of_item| {
            let mut of_text = text.windows(run);
            of_text.any(|of_text| of_text == of_item)
        });
        // The number of words in shingles that `other` has.
        let words = |shingles: &[u32], other: &[u32]| {
            let mut is_in = vec![false; shingles.len() + k - 1];
            for (place, shingle) in shingles.iter().enumerate() {
                if other.contains(shingle) {
                    is_in[place..place + k].fill(true);
                }
            }
            is_in.into_iter().filter(|&is_in| is_in).count()
        };
        let stretches = (0..text.len()).map(|start| {
            let end = text.len().min(start + item.stretch());
            &text[start..end]
        });
        has_run
            || stretches.into_iter().any(|stretch| {
                let shared = item.set.iter().filter(|shingle| stretch.contains(shingle));
                let covered = words(&item.order, stretch).min(words(stretch, &item.order));
                shared.count() >= item.fewest as usize && covered >= fewest_words(item.words())
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
            let rule = Rule::new().passage(6 + round % 9);
            let rule = rule.containment(f64::from(1 + round % 10) / 10.0);
            let mut orders: Vec<Vec<u32>> = items.iter().map(|item| shingles(item)).collect();
            orders.sort();
            orders.dedup();
            let indexed = orders.iter().map(|order| {
                let words = vec![0; order.len() + usize::from(K) - 1];
                IndexedItem::new(order.clone(), words, &rule)
            });
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
        let rule = Rule::new().containment(0.1);
        let item = IndexedItem::new((1..=16).collect(), vec![0; 20], &rule);
        let text = |length: usize| [&[1][..], &vec![0; length - 6], &[8, 9, 10, 11, 12]].concat();
        for (length, found) in [(36, Some(0..36)), (37, None)] {
            let last = length - 1;
            for anchors in [&[0][..], &[last], &[0, last]] {
                let anchors = anchors.iter().copied();
                assert_eq!(item.fullest(anchors, &text(length)), found);
            }
        }
    }

    #[test]
    fn equal_hashes_of_other_words_are_no_hit() {
        let rule = Rule::default();
        let item = IndexedItem::new(vec![7], vec![1, 2, 3, 4, 5], &rule);
        let index = ItemIndex::new(Rule::shingler().unwrap(), vec![item], &rule);
        let confirmed = |shingles: &[u32], words: &[u32]| {
            let mut found = index.find(shingles);
            assert_eq!(found.len(), 1);
            let text = HashedText { shingles, words };
            let confirmed = index.confirmed(found.remove(0), &text);
            confirmed.map(|(found, _)| found.places)
        };
        assert_eq!(confirmed(&[7], &[1, 2, 3, 4, 5]), Some(0..1));
        assert_eq!(confirmed(&[7], &[1, 2, 3, 4, 6]), None);
        // Once by chance and once by its words.
        let words = [9, 2, 3, 4, 5, 1, 2, 3, 4, 5];
        let shingles = [7, 8, 8, 8, 8, 7];
        assert_eq!(confirmed(&shingles, &words), Some(5..6));
    }

    #[test]
    fn an_item_that_repeats_itself_needs_as_many_words() {
        let rule = Rule::default();
        let item = IndexedItem::new(vec![7; 96], vec![1; 100], &rule);
        let anchors = || (0..70).map(|place| 2 * place);
        let text = |length: usize| [&vec![7; length][..], &[0; 70]].concat();
        assert_eq!(item.fullest(anchors(), &text(1)), None);
        assert_eq!(item.fullest(anchors(), &text(65)), None);
        assert_eq!(item.fullest(anchors(), &text(66)), Some(0..66));
    }
}

//! The join itself, step by step.

use std::cmp::Reverse;
use std::ops::Range;
use std::rc::Rc;

use super::bounds::JoinBounds;
use super::index::{PrefixIndex, PrefixPosting};
use super::rarity::ShingleFrequencies;
use crate::error::Result;
use crate::pool::Pool;
use crate::store::compare::DecodedSets;
use crate::text::{ShingleSet, share};

/// The most bytes that a posting of the index takes.
const POSTING_BYTES: u64 = 22;

/// A part of the index is made in this many steps at least: the postings of a step are in memory twice.
const STEPS: usize = 8;

/// Sets that are looked up before their pairs are returned, at most and at least.
const MOST_SETS: usize = 1 << 13;
const LEAST_SETS: usize = 1 << 7;

/// The number of pairs to find at a time, about.
const PAIRS: usize = 1 << 16;

/// The same for sets that may be represented by one of them: what is found of these is of no use.
const MOST_REPRESENTATIVES: usize = 1 << 9;
const LEAST_REPRESENTATIVES: usize = 1 << 3;

/// Tasks per thread in a round of work.
const TASKS: usize = 8;

/// Sets of shingles, by number.
pub(crate) trait SetSource: Sync {
    /// Replaces `shingles` with those of a set.
    fn read(&self, set: u32, shingles: &mut ShingleSet) -> Result<()>;
}

/// Two sets that reach the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JoinedPair {
    /// The one with more shingles; if both have the same number, the one with the higher set number.
    pub(crate) larger: u32,
    pub(crate) smaller: u32,
    /// Whether both have the same number of shingles.
    pub(crate) same_size: bool,
    /// Exact Jaccard similarity.
    pub(crate) jaccard: f64,
    /// The share of the smaller one's shingles that the larger one has.
    pub(crate) containment: f64,
}

/// A join in progress.
///
/// It takes 12 bytes per set and 8 more per thread, and about a megabyte per thread for sets that were read lately. Of the
/// memory that it is given, 1 to 2 bytes per shingle are for the order, at most a quarter of it, and at most 22 bytes per
/// indexed shingle. At a threshold of 0.8, a ninth of the shingles is indexed, or a fifth for containment. If that is too
/// many, sets are indexed in parts, by size; for each part, the sets that may match it are looked up.
#[derive(Debug)]
pub(crate) struct ExactJoin {
    bounds: JoinBounds,
    /// Shingles of each set; 0 for one that is left out.
    sizes: Vec<u32>,
    /// The sets that are not left out, by size and number, and the rank of each set among them.
    ranked: Vec<u32>,
    ranks: Vec<u32>,
    rarity: ShingleFrequencies,
    index: PrefixIndex,
    /// The ranks that are indexed.
    indexed: Range<usize>,
    /// The number of postings in a part. A part has at least one set.
    postings: usize,
    /// The sets to look up, the last one first.
    waiting: Vec<u32>,
    /// The number of them to take next.
    next: usize,
}

/// Scratch memory of a task.
#[derive(Debug, Default)]
struct JoinScratch {
    set: Rc<ShingleSet>,
    /// Sets that were read lately: those of about one size are compared with each other.
    read: DecodedSets,
    places: Vec<u64>,
    near: Vec<(u32, usize, usize)>,
    /// The indexed sets that were met. For each indexed set, the number of common shingles so far, and a bound on the
    /// number that may follow.
    touched: Vec<u32>,
    tallies: Vec<(u32, u32)>,
}

impl ExactJoin {
    /// Prepares the join of sets of these sizes within `memory` bytes. A set of size 0 matches nothing.
    pub(crate) fn new(
        bounds: JoinBounds,
        sizes: Vec<u32>,
        memory: u64,
        sets: &dyn SetSource,
        pool: &Pool,
    ) -> Result<ExactJoin> {
        // How often each shingle occurs decides the order of all shingles, so all sets are read once.
        let numbered = (0..).zip(&sizes).filter(|&(_, &size)| size > 0);
        let mut ranked: Vec<u32> = numbered.map(|(set, _)| set).collect();
        let shingles = sizes.iter().map(|&size| u64::from(size)).sum();
        let rarity = ShingleFrequencies::new(shingles, memory / 4);
        let rarity = counted(rarity, &ranked, &sizes, sets, pool)?;
        let postings = (memory - memory / 4) / POSTING_BYTES;
        // A stable sort: sets of the same size stay ordered by number.
        ranked.sort_by_key(|&set| sizes[set as usize]);
        let mut ranks = vec![0; sizes.len()];
        for (rank, &set) in (0..).zip(&ranked) {
            ranks[set as usize] = rank;
        }
        Ok(ExactJoin {
            bounds,
            sizes,
            ranked,
            ranks,
            rarity,
            index: PrefixIndex::default(),
            indexed: 0..0,
            postings: usize::try_from(postings).unwrap_or(usize::MAX),
            waiting: Vec::new(),
            next: MOST_SETS,
        })
    }

    /// Returns about how many sets were looked up, and the number of all.
    pub(crate) fn looked_up(&self) -> (usize, usize) {
        let waiting = self.waiting.len().min(self.indexed.len());
        (self.indexed.end - waiting, self.ranked.len())
    }

    /// Finds more pairs; the list may be empty. None when all are found.
    ///
    /// Within each part of the index, pairs are ordered by the larger set and then by the smaller one.
    pub(crate) fn find(
        &mut self,
        sets: &dyn SetSource,
        pool: &Pool,
    ) -> Result<Option<Vec<JoinedPair>>> {
        // The index covers the next sets by size, and the sets that wait are those that may match one of them.
        if self.waiting.is_empty() {
            if self.indexed.end == self.ranked.len() {
                return Ok(None);
            }
            self.index_part(sets, pool)?;
        }
        let rest = self.waiting.len().saturating_sub(self.next);
        let mut taken = self.waiting.split_off(rest);
        taken.reverse();
        let found = self.look_up_all(&taken, sets, pool, &|_| true)?;
        // As many sets next as give about the wanted number of pairs, if they have as many as these.
        let fitting = taken.len() * PAIRS / found.len().max(1);
        self.next = fitting.clamp(LEAST_SETS, MOST_SETS);
        Ok(Some(found))
    }

    /// Finds the representative of each set: the set itself, or the first one that represents itself and of which
    /// `is_linked` is true, the largest sets first, and of the same size the one with the lower number. In a pair, that
    /// one is the larger one.
    ///
    /// A set that has a representative is not looked up, and not compared again. So of m sets that are nearly the same,
    /// one is compared with the others.
    pub(crate) fn representatives(
        mut self,
        sets: &dyn SetSource,
        pool: &Pool,
        is_linked: impl Fn(&JoinedPair) -> bool,
    ) -> Result<Vec<u32>> {
        // By size, and of the same size the lower number last, because the sets are taken from the end: the first is
        // the largest.
        let sizes = std::mem::take(&mut self.sizes);
        let rank = |&set: &u32| (sizes[set as usize], Reverse(set));
        self.ranked.sort_unstable_by_key(rank);
        self.sizes = sizes;
        for (rank, &set) in (0..).zip(&self.ranked) {
            self.ranks[set as usize] = rank;
        }
        let numbers = 0..u32::try_from(self.sizes.len()).unwrap_or(u32::MAX);
        let mut representatives: Vec<u32> = numbers.collect();
        let mut start = self.ranked.len();
        while start > 0 {
            start = self.index_part_before(start, sets, pool)?;
            let (mut rank, mut next) = (self.ranked.len(), LEAST_REPRESENTATIVES);
            while rank > start {
                // The next sets that are not yet represented. The fewer there are in a round, the fewer are compared
                // for nothing.
                let mut taken = Vec::new();
                while rank > start && taken.len() < next {
                    rank -= 1;
                    let set = self.ranked[rank];
                    if representatives[set as usize] == set {
                        taken.push(set);
                    }
                }
                let is_open = |set: u32| representatives[set as usize] == set;
                let found = self.look_up_all(&taken, sets, pool, &is_open)?;
                let fitting = taken.len() * PAIRS / found.len().max(1);
                next = fitting.clamp(LEAST_REPRESENTATIVES, MOST_REPRESENTATIVES.min(2 * next));
                // The pairs of the largest sets come first. A set that has a representative by now represents no other
                // one.
                for joined in found.iter().filter(|joined| is_linked(joined)) {
                    let is_own = |set: u32| representatives[set as usize] == set;
                    if is_own(joined.larger) && is_own(joined.smaller) {
                        representatives[joined.smaller as usize] = joined.larger;
                    }
                }
            }
        }
        Ok(representatives)
    }

    /// The pairs of these sets with smaller indexed ones for which `is_open` is true.
    fn look_up_all(
        &self,
        taken: &[u32],
        sets: &dyn SetSource,
        pool: &Pool,
        is_open: &(dyn Fn(u32) -> bool + Sync),
    ) -> Result<Vec<JoinedPair>> {
        let found = pool.map(tasks(taken, pool), |task| {
            let mut scratch = JoinScratch {
                tallies: vec![(0, 0); self.indexed.len()],
                ..JoinScratch::default()
            };
            let mut found = Vec::new();
            for &set in task {
                self.look_up(set, sets, is_open, &mut scratch, &mut found)?;
            }
            Ok(found)
        });
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Indexes the part of the sets that ends before a rank. Returns its first rank.
    fn index_part_before(
        &mut self,
        end: usize,
        sets: &dyn SetSource,
        pool: &Pool,
    ) -> Result<usize> {
        // Frees the old index first.
        self.index = PrefixIndex::default();
        let (mut start, mut postings) = (end, self.room_for(self.ranked[..end].iter().rev()));
        while start > 0 && self.has_room(&postings) {
            // In steps, because the postings of a step are in memory twice.
            let (last, mut most) = (start, 0);
            while start > 0 && (start == last || most < self.postings / STEPS) {
                start -= 1;
                most += self.bounds.indexed(self.size(self.ranked[start]));
            }
            self.index_ranks(start..last, sets, pool, &mut postings)?;
        }
        self.indexed = start..end;
        self.index = PrefixIndex::new(postings, pool);
        Ok(start)
    }

    /// Indexes the next part, and finds the sets that may match it.
    fn index_part(&mut self, sets: &dyn SetSource, pool: &Pool) -> Result<()> {
        // Frees the old index first.
        self.index = PrefixIndex::default();
        let start = self.indexed.end;
        let (mut end, mut postings) = (start, self.room_for(self.ranked[start..].iter()));
        while end < self.ranked.len() && self.has_room(&postings) {
            end = self.index_more(end, sets, pool, &mut postings)?;
        }
        self.indexed = start..end;
        let largest = self.size(self.ranked[end - 1]);
        // Larger sets may match those of the part as well, until even the largest of these is too small for them.
        let may_match = |&set: &u32| self.bounds.least_size(self.size(set)) <= largest;
        let after = self.ranked[end..].partition_point(may_match);
        self.waiting = self.ranked[start..end + after].to_vec();
        // In the order of their numbers, which is that of the result. They are taken from the end.
        self.waiting.sort_unstable_by(|a, b| b.cmp(a));
        self.index = PrefixIndex::new(postings, pool);
        Ok(())
    }

    /// An empty list for a part that begins with these sets. It never grows, so its old place is not kept beside a new one.
    fn room_for<'s>(&self, sets: impl Iterator<Item = &'s u32>) -> Vec<PrefixPosting> {
        let mut most = 0;
        for &set in sets {
            most += self.bounds.indexed(self.size(set));
            if most >= self.postings {
                break;
            }
        }
        Vec::with_capacity(most)
    }

    /// Whether a part with these postings takes another step.
    fn has_room(&self, postings: &[PrefixPosting]) -> bool {
        postings.is_empty() || postings.len() + self.postings / STEPS <= self.postings
    }

    /// Appends the postings of sets from the rank `start` on, in any order: of one set, and of more up to those of a step.
    /// Returns the rank after them.
    fn index_more(
        &self,
        start: usize,
        sets: &dyn SetSource,
        pool: &Pool,
        postings: &mut Vec<PrefixPosting>,
    ) -> Result<usize> {
        let (mut end, mut most) = (start, 0);
        while end < self.ranked.len() && (end == start || most < self.postings / STEPS) {
            most += self.bounds.indexed(self.size(self.ranked[end]));
            end += 1;
        }
        self.index_ranks(start..end, sets, pool, postings)?;
        Ok(end)
    }

    /// Appends the postings of sets with these ranks, in any order.
    fn index_ranks(
        &self,
        ranks: Range<usize>,
        sets: &dyn SetSource,
        pool: &Pool,
        postings: &mut Vec<PrefixPosting>,
    ) -> Result<()> {
        let count = |set: u32| self.bounds.indexed(self.size(set));
        let mut part = self.ranked[ranks].to_vec();
        // In the order in which the sets are stored.
        part.sort_unstable();
        let made = pool.map(tasks(&part, pool), |task| {
            let (mut shingles, mut places) = (ShingleSet::default(), Vec::new());
            let mut postings = Vec::new();
            for &set in task {
                sets.read(set, &mut shingles)?;
                let first = self
                    .rarity
                    .first(count(set), shingles.as_slice(), &mut places);
                postings.extend(first.map(|(position, shingle)| PrefixPosting {
                    shingle,
                    rank: self.ranks[set as usize],
                    position,
                }));
            }
            Ok(postings)
        });
        for made in made {
            postings.append(&mut made?);
        }
        Ok(())
    }

    /// Appends the pairs of a set with smaller indexed sets for which `is_open` is true.
    fn look_up(
        &self,
        set: u32,
        sets: &dyn SetSource,
        is_open: &dyn Fn(u32) -> bool,
        scratch: &mut JoinScratch,
        found: &mut Vec<JoinedPair>,
    ) -> Result<()> {
        scratch.set = scratch.read.of(set, |own| sets.read(set, own))?;
        match self.bounds {
            JoinBounds::Jaccard(_) => self.meet(set, scratch),
            JoinBounds::Containment(_) => self.meet_any(set, scratch),
        }
        let size = self.size(set);
        let before = found.len();
        // What was met in the index is compared only if the bound says that it may have enough in common.
        for rank in scratch.touched.drain(..) {
            let rank = rank as usize;
            let smaller = self.ranked[rank];
            let partner = self.size(smaller);
            let tally = &mut scratch.tallies[rank - self.indexed.start];
            let (common, more) = std::mem::take(tally);
            let needed = self.bounds.overlap(size, partner);
            if ((common + more) as usize) < needed || !is_open(smaller) {
                continue;
            }
            let other = scratch
                .read
                .of(smaller, |other| sets.read(smaller, other))?;
            let common = scratch.set.intersection_reaching(&other, needed);
            found.extend(common.map(|common| JoinedPair {
                larger: set,
                smaller,
                same_size: size == partner,
                jaccard: share(common, size + partner - common),
                containment: share(common, partner),
            }));
        }
        found[before..].sort_unstable_by_key(|joined| joined.smaller);
        Ok(())
    }

    /// Tallies the smaller sets that have one of the first shingles of a set among their indexed ones.
    fn meet(&self, set: u32, scratch: &mut JoinScratch) {
        let (size, own) = (self.size(set), self.ranks[set as usize]);
        // Sets below this size cannot reach the threshold.
        let least = self.bounds.least_size(size);
        let smallest = self.ranked.partition_point(|&set| self.size(set) < least);
        let count = self.bounds.looked_up(size);
        let first = self
            .rarity
            .first(count, scratch.set.as_slice(), &mut scratch.places);
        for (position, shingle) in first {
            let postings = self.index.of(shingle);
            let start = postings.partition_point(|posting| (posting.rank as usize) < smallest);
            let smaller = postings[start..].iter();
            for posting in smaller.take_while(|posting| posting.rank < own) {
                let rank = posting.rank as usize;
                let tally = &mut scratch.tallies[rank - self.indexed.start];
                if tally.0 == 0 {
                    scratch.touched.push(posting.rank);
                }
                // After this shingle, no more can be common than the one with fewer members left has.
                let of_set = self.sizes[set as usize] - position - 1;
                let of_partner = self.sizes[self.ranked[rank] as usize] - posting.position - 1;
                *tally = (tally.0 + 1, of_set.min(of_partner));
            }
        }
    }

    /// Marks the smaller sets that have any shingle of a set among their indexed ones.
    fn meet_any(&self, set: u32, scratch: &mut JoinScratch) {
        let own = self.ranks[set as usize];
        let (tallies, touched) = (&mut scratch.tallies, &mut scratch.touched);
        let mark = |postings: &[PrefixPosting]| {
            for posting in postings.iter().take_while(|posting| posting.rank < own) {
                let tally = &mut tallies[posting.rank as usize - self.indexed.start];
                if tally.0 == 0 {
                    touched.push(posting.rank);
                }
                // The order in which its shingles are met says nothing about those that may follow.
                *tally = (1, u32::MAX - 1);
            }
        };
        self.index
            .each_of(scratch.set.as_slice(), &mut scratch.near, mark);
    }

    fn size(&self, set: u32) -> usize {
        self.sizes[set as usize] as usize
    }
}

/// Counts the shingles of these sets.
fn counted(
    mut rarity: ShingleFrequencies,
    mut rest: &[u32],
    sizes: &[u32],
    sets: &dyn SetSource,
    pool: &Pool,
) -> Result<ShingleFrequencies> {
    while !rest.is_empty() {
        let mut shingles = 0;
        let fits = |set: &&u32| {
            let fits = shingles < rarity.at_once();
            shingles += sizes[**set as usize] as usize;
            fits
        };
        let (some, others) = rest.split_at(rest.iter().take_while(fits).count());
        rest = others;
        let sorted = pool.map(tasks(some, pool), |task| {
            let (mut shingles, mut parts) = (ShingleSet::default(), rarity.parts());
            for &set in task {
                sets.read(set, &mut shingles)?;
                rarity.sort(shingles.as_slice(), &mut parts);
            }
            Ok(parts)
        });
        rarity.count(&sorted.into_iter().collect::<Result<Vec<_>>>()?, pool);
    }
    Ok(rarity)
}

/// Splits the items into enough tasks to keep all threads busy.
fn tasks<'i>(items: &'i [u32], pool: &Pool) -> Vec<&'i [u32]> {
    let tasks = items.len().div_ceil(TASKS * pool.threads());
    items.chunks(tasks.max(1)).collect()
}

#[cfg(test)]
mod tests {
    /// More than any set here has.
    const POSTINGS: usize = 1 << 25;

    use proptest::prelude::*;

    use super::*;

    impl SetSource for Vec<ShingleSet> {
        fn read(&self, set: u32, shingles: &mut ShingleSet) -> Result<()> {
            shingles.clone_from(&self[set as usize]);
            Ok(())
        }
    }

    /// Sets of members spread over all integers, some of them equal or nearly so. The small ones have tails, some of
    /// which differ.
    fn sets() -> impl Strategy<Value = Vec<ShingleSet>> {
        let set = prop::collection::btree_set(0_u32..60, 0..40);
        let picks = prop::collection::vec((any::<prop::sample::Index>(), 0_u32..60), 0..40);
        (prop::collection::vec(set, 1..20), picks).prop_map(|(mut sets, picks)| {
            for (index, member) in picks {
                let mut near = index.get(&sets).clone();
                if !near.remove(&member) && member > 20 {
                    near.insert(member);
                }
                sets.push(near);
            }
            let spread = |member: u32| member.wrapping_mul(0x9e37_79b9);
            let sets = (0_u32..).zip(sets).map(|(number, set)| {
                let mut set: Vec<u32> = set.into_iter().map(spread).collect();
                set.sort_unstable();
                let tail =
                    |hash: &u32| u32::from((hash ^ number.wrapping_mul(7)).is_multiple_of(16));
                let tails = if set.len() <= ShingleSet::SMALL {
                    set.iter().map(tail).collect()
                } else {
                    Vec::new()
                };
                ShingleSet::from_parts(set, tails)
            });
            sets.collect()
        })
    }

    fn joined(
        bounds: JoinBounds,
        sets: &Vec<ShingleSet>,
        postings: usize,
        threads: usize,
    ) -> Vec<JoinedPair> {
        let pool = Pool::new(threads);
        let sizes = sets.iter().map(|set| u32::try_from(set.len()).unwrap());
        let mut join = ExactJoin::new(bounds, sizes.collect(), 1 << 30, sets, &pool).unwrap();
        join.postings = postings;
        let mut all = Vec::new();
        let (mut before, sets_in_all) = join.looked_up();
        assert_eq!(before, 0);
        while let Some(found) = join.find(sets, &pool).unwrap() {
            all.extend(found);
            let (looked_up, in_all) = join.looked_up();
            assert!(looked_up >= before && in_all == sets_in_all);
            before = looked_up;
        }
        let counted = sets.iter().filter(|set| !set.is_empty()).count();
        assert_eq!((before, sets_in_all), (counted, counted));
        all
    }

    /// Compares all with all, in the order of the join in one part.
    fn brute_force(bounds: JoinBounds, sets: &[ShingleSet]) -> Vec<JoinedPair> {
        let mut pairs = Vec::new();
        for (larger, a) in (0..).zip(sets) {
            for (smaller, b) in (0..).zip(sets) {
                let (jaccard, containment) = (a.jaccard(b), b.containment_in(a));
                let reaches = match bounds {
                    JoinBounds::Jaccard(least) => jaccard >= least,
                    JoinBounds::Containment(least) => containment >= least,
                };
                if (b.len(), smaller) < (a.len(), larger) && reaches {
                    pairs.push(JoinedPair {
                        larger,
                        smaller,
                        same_size: a.len() == b.len(),
                        jaccard,
                        containment,
                    });
                }
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_join_finds_what_comparing_all_with_all_finds(
            sets in sets(),
            threshold in prop_oneof![
                0.1_f64..1.0,
                prop::sample::select(vec![0.1, 0.2, 1.0 / 3.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0]),
            ],
            of in prop::sample::select(vec![JoinBounds::Jaccard, JoinBounds::Containment]),
            threads in 1_usize..4,
            postings in 1_usize..200,
        ) {
            let bounds = of(threshold);
            let expected = brute_force(bounds, &sets);
            prop_assert_eq!(&joined(bounds, &sets, POSTINGS, threads), &expected);
            let in_parts = joined(bounds, &sets, postings, threads);
            prop_assert_eq!(&in_parts, &joined(bounds, &sets, postings, 1));
            let mut sorted = in_parts;
            sorted.sort_by_key(|joined| (joined.larger, joined.smaller));
            prop_assert_eq!(sorted, expected);
        }

        #[test]
        fn each_set_has_the_first_representative_that_is_linked(
            sets in sets(),
            (least, jaccard) in (0.1_f64..=1.0, 0.1_f64..=1.0),
            threads in 1_usize..4,
            postings in 1_usize..200,
        ) {
            let mut ranked: Vec<u32> = (0..).zip(&sets).map(|(number, _)| number).collect();
            ranked.sort_by_key(|&set| (Reverse(sets[set as usize].len()), set));
            let mut expected = vec![u32::MAX; sets.len()];
            for &set in &ranked {
                let own = &sets[set as usize];
                let is_linked = |&other: &u32| {
                    let other = &sets[other as usize];
                    let reaches = own.containment_in(other) >= least || own.jaccard(other) >= jaccard;
                    !own.is_empty() && reaches
                };
                let of_itself = ranked.iter().take_while(|other| **other != set);
                let mut of_itself = of_itself.filter(|other| expected[**other as usize] == **other);
                expected[set as usize] = of_itself.find(|other| is_linked(other)).map_or(set, |it| *it);
            }
            for postings in [postings, POSTINGS] {
                let pool = Pool::new(threads);
                let sizes = sets.iter().map(|set| u32::try_from(set.len()).unwrap());
                let bounds = JoinBounds::Containment(least.min(jaccard));
                let mut join = ExactJoin::new(bounds, sizes.collect(), 1 << 30, &sets, &pool).unwrap();
                join.postings = postings;
                let linked = |it: &JoinedPair| it.containment >= least || it.jaccard >= jaccard;
                let found = join.representatives(&sets, &pool, linked).unwrap();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}

//! The postings of recent contents, in memory, until a merge moves them into the band tables.
//!
//! With tables alone, a small commit would have to rewrite one leaf of every band for each content. Instead, the
//! contents at or above the watermark `banded` are found here. Nothing here is stored: the postings are derived from
//! the content and signature columns, and are rebuilt on open.

use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::chains::{ChainLink, HashChains};
use super::filters::Filters;
use super::fingerprint_chains::FingerprintChains;
use super::leaf::Posting;
use crate::codec::low32;
use crate::pool::Pool;

/// The minimum factor by which a full table grows.
const GROWTH: usize = 2;

/// The minimum number of contents that a new [`RecentPostings`] has room for.
const MIN_CONTENTS: usize = 1024;

/// With fewer contents than this, waking other threads does not pay.
const PARALLEL_CONTENTS: usize = 64;

/// The number of lists of a content, or contents of a list, that are looked up together.
const TOGETHER: usize = 32;

/// Chained hash tables from hash to content ids, one for each list.
///
/// One writer inserts contents in the order of their ids, several lists in parallel. Any number of readers look up at
/// the same time without locks. A reader ignores ids at or above the length of its snapshot.
///
/// # Invariant
///
/// An entry is written before the head that leads to it is stored with release ordering, and is never written again. A
/// reader loads the head with acquire ordering.
#[derive(Debug)]
pub(crate) struct RecentPostings {
    base: u32,
    /// The number of contents that there is room for.
    room: usize,
    /// The copies and the bands.
    lists: Vec<HashChains>,
    fingerprints: FingerprintChains,
    /// The number of contents inserted.
    len: AtomicU32,
}

/// The hashes of a content: one in list 0, either one in each band or none at all, and any number of fingerprints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentHashes<'a> {
    pub(crate) first: u32,
    pub(crate) others: &'a [u32],
    pub(crate) fingerprints: &'a [u32],
}

impl ContentHashes<'_> {
    fn of(&self, list: usize) -> Option<u32> {
        match list.checked_sub(1) {
            None => Some(self.first),
            Some(other) => self.others.get(other).copied(),
        }
    }
}

impl RecentPostings {
    /// Creates an empty set for contents from `base` on, each with up to `lists` hashes besides fingerprints.
    ///
    /// It has room for `contents` contents and `fingerprints` fingerprints.
    pub(crate) fn new(
        base: u32,
        lists: usize,
        contents: usize,
        fingerprints: usize,
    ) -> RecentPostings {
        let room = contents.max(MIN_CONTENTS);
        RecentPostings {
            base,
            room,
            lists: (0..lists).map(|_| HashChains::new(room)).collect(),
            fingerprints: FingerprintChains::new(fingerprints),
            len: AtomicU32::new(0),
        }
    }

    /// The lowest id that belongs here.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// The memory in bytes that the contents take. Room for more is not counted: what a commit empties is filled again.
    pub(crate) fn bytes(&self) -> u64 {
        let lists: u64 = self.lists.iter().map(HashChains::bytes).sum();
        lists * u64::from(self.len()) / self.room as u64 + self.fingerprints.bytes()
    }

    /// The number of contents inserted.
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Ordering::Acquire)
    }

    /// Whether there is room for `more` further contents, and for this many fingerprints of theirs.
    pub(crate) fn has_room(&self, more: usize, fingerprints: usize) -> bool {
        self.room - self.len() as usize >= more && self.fingerprints.room() >= fingerprints
    }

    /// Returns a copy with room for `more` further contents, and for this many fingerprints of theirs.
    pub(crate) fn grown(&self, more: usize, fingerprints: usize, pool: &Pool) -> RecentPostings {
        let len = self.len() as usize;
        let grown = |len: usize, room: usize, more: usize| {
            if room - len >= more {
                room
            } else {
                (len * GROWTH).max(len + more)
            }
        };
        let own = self.fingerprints.len();
        let fingerprints = grown(own, own + self.fingerprints.room(), fingerprints);
        self.copied(self.base, grown(len, self.room, more), fingerprints, pool)
    }

    /// Returns a copy without the contents below `base`, which must not be above the next one.
    pub(crate) fn after(&self, base: u32, pool: &Pool) -> RecentPostings {
        let fingerprints = self.fingerprints.len() + self.fingerprints.room();
        self.copied(base, self.room, fingerprints, pool)
    }

    fn copied(&self, base: u32, room: usize, fingerprints: usize, pool: &Pool) -> RecentPostings {
        let (first, len) = ((base - self.base) as usize, self.len() as usize);
        // In their order, so that the chains have the youngest contents first, as before.
        let copied = |list: &HashChains| {
            let copy = HashChains::new(room);
            for place in first..len {
                copy.push(place - first, list.hash(place));
            }
            copy
        };
        let (fingerprints, lists) = pool.beside(
            || self.fingerprints.copied(base, fingerprints),
            || pool.map(self.lists.iter().collect(), copied),
        );
        RecentPostings {
            base,
            room,
            lists,
            fingerprints,
            len: AtomicU32::new(low32((len - first) as u64)),
        }
    }

    /// Inserts the next content. The caller must be the only writer and have checked that there is room.
    pub(crate) fn push(&self, hashes: ContentHashes<'_>) {
        let place = self.len() as usize;
        for (number, list) in self.lists.iter().enumerate() {
            list.push(place, hashes.of(number));
        }
        let id = self.base + low32(place as u64);
        self.fingerprints.push(id, hashes.fingerprints);
        self.len.store(low32(place as u64) + 1, Ordering::Release);
    }

    /// Inserts the next contents, several lists in parallel, and returns for each the bands, ascending, in which it has
    /// company.
    ///
    /// Company is an earlier content with the same hash, or a possible one in the tables, according to their filters.
    /// The caller must be the only writer and have checked that there is room.
    pub(crate) fn fill(
        &self,
        contents: &[ContentHashes<'_>],
        filters: &Filters,
        pool: &Pool,
    ) -> Vec<Vec<u32>> {
        let start = self.len() as usize;
        let enter = |(number, list): (u32, &HashChains)| {
            let mut met = Vec::new();
            for (first, contents) in (0..).step_by(TOGETHER).zip(contents.chunks(TOGETHER)) {
                let mut hashes = [None; TOGETHER];
                for (hash, content) in hashes.iter_mut().zip(contents) {
                    *hash = content.of(number as usize);
                }
                let hashes = &hashes[..contents.len()];
                // Read all heads before any chain, as in `youngest_met`.
                list.approach(hashes);
                let mut links = [ChainLink::NONE; TOGETHER];
                for ((place, &hash), link) in (start + first..).zip(hashes).zip(&mut links) {
                    *link = list.push(place, hash);
                }
                if number == 0 {
                    continue;
                }
                list.approach_entries(&links);
                filters.approach(&hashes.iter().flatten().map(|&hash| (number, hash)));
                let is_held = |hash| filters.holders(number, hash).any();
                for ((index, &hash), link) in (first..).zip(hashes).zip(links) {
                    let is_met = |hash| list.next(hash, link).is_some() || is_held(hash);
                    if hash.is_some_and(is_met) {
                        met.push(index);
                    }
                }
            }
            met
        };
        let enter_fingerprints = || {
            for (place, content) in (start..).zip(contents) {
                let id = self.base + low32(place as u64);
                self.fingerprints.push(id, content.fingerprints);
            }
        };
        // The fingerprints are a task of their own, and the first, since a content has many.
        let lists = (0..).zip(&self.lists);
        let met = if contents.len() < PARALLEL_CONTENTS {
            enter_fingerprints();
            lists.map(enter).collect()
        } else {
            let lists: Vec<_> = std::iter::once(None).chain(lists.map(Some)).collect();
            let mut met = pool.map(lists, |list| {
                if let Some(list) = list {
                    return enter(list);
                }
                enter_fingerprints();
                Vec::new()
            });
            met.remove(0);
            met
        };
        // From contents by band to bands by content.
        let mut company = vec![Vec::new(); contents.len()];
        // List 0 is that of the copies, which is not checked for shared buckets.
        for (band, met) in (0..).zip(met.into_iter().skip(1)) {
            for index in met {
                company[index].push(band);
            }
        }
        let end = low32((start + contents.len()) as u64);
        self.len.store(end, Ordering::Release);
        company
    }

    /// Returns the youngest content that has one of the hashes, which are those of the lists from 1 on.
    pub(crate) fn youngest_met(&self, hashes: &[u32]) -> Option<u32> {
        let lists = self.lists.get(1..).unwrap_or_default().chunks(TOGETHER);
        let youngest = lists.zip(hashes.chunks(TOGETHER)).map(|(lists, hashes)| {
            let mut links = [ChainLink::NONE; TOGETHER];
            // Read all heads before any chain: memory serves many reads concurrently if none waits for another.
            for ((link, list), &hash) in links.iter_mut().zip(lists).zip(hashes) {
                *link = list.first(hash);
            }
            let chains = links.iter().zip(lists).zip(hashes);
            // The youngest content of a bucket comes first.
            let first = |((&link, list), &hash)| self.ids_of(list, hash, link).next();
            chains.filter_map(first).max()
        });
        youngest.flatten().max()
    }

    /// The ids in `list` whose hash is `hash`, youngest first.
    pub(crate) fn ids(&self, list: usize, hash: u32) -> ChainIds<'_> {
        let list = &self.lists[list];
        self.ids_of(list, hash, list.first(hash))
    }

    /// The ids in `list` whose hash is `hash`, youngest first, resuming at a position from [`ChainIds::rest`].
    pub(crate) fn ids_from(&self, list: usize, hash: u32, at: ChainLink) -> ChainIds<'_> {
        self.ids_of(&self.lists[list], hash, at)
    }

    fn ids_of<'a>(&self, list: &'a HashChains, hash: u32, at: ChainLink) -> ChainIds<'a> {
        ChainIds {
            base: self.base,
            list,
            hash,
            at,
        }
    }

    /// The postings of some contents in a list, by content. Those of fingerprints may come more than once.
    pub(crate) fn postings(
        &self,
        list: u32,
        ids: Range<u32>,
    ) -> impl Iterator<Item = Posting> + '_ {
        let chains = self.lists.get(list as usize);
        let fingerprints = match chains {
            Some(_) => 0..0,
            None => self.fingerprints.places(&ids),
        };
        let of_chains = chains.into_iter().flat_map(move |chains| {
            let ids = ids.clone();
            ids.filter_map(|id| {
                let hash = chains.hash((id - self.base) as usize)?;
                Some(Posting::new(hash, id))
            })
        });
        of_chains.chain(fingerprints.map(|place| self.fingerprints.posting(place)))
    }

    /// Appends to `found` the ids below `end` of the contents with a fingerprint, youngest first, until it holds `most`.
    pub(crate) fn with_fingerprint(
        &self,
        fingerprint: u32,
        end: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) {
        for id in self.fingerprints.ids(fingerprint) {
            if found.len() >= most {
                return;
            }
            // A content that has the fingerprint more than once has its entries side by side.
            if id < end && found.last() != Some(&id) {
                found.push(id);
            }
        }
    }

    /// Reads the memory that looking up these fingerprints needs first.
    pub(crate) fn approach_fingerprints(&self, fingerprints: impl Iterator<Item = u32>) {
        let chains = &self.fingerprints.chains;
        let heads = fingerprints.map(|fingerprint| chains.head(fingerprint).0);
        black_box(heads.fold(0, |all, head| all ^ head.load(Ordering::Relaxed)));
    }
}

/// The ids of one list and hash, youngest first.
#[derive(Debug)]
pub(crate) struct ChainIds<'a> {
    base: u32,
    list: &'a HashChains,
    hash: u32,
    at: ChainLink,
}

impl ChainIds<'_> {
    /// The position from which the remaining ids follow.
    pub(crate) fn rest(&self) -> ChainLink {
        self.at
    }
}

impl Iterator for ChainIds<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let found = self.list.next(self.hash, self.at);
        self.at = found.map_or(ChainLink::NONE, |(_, rest)| rest);
        found.map(|(place, _)| self.base + low32(place as u64))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::storage::index::Meta;
    use crate::storage::postings::{Filter, FilterName, LevelAge};

    /// The hashes of a content in three lists. Every tenth content is in the first list only.
    fn hashes(content: u32) -> (u32, Vec<u32>) {
        let others = if content.is_multiple_of(10) {
            vec![]
        } else {
            vec![content % 7, content]
        };
        (content % 4, others)
    }

    #[test]
    fn the_youngest_content_that_is_met_is_that_of_any_list() {
        let lists = TOGETHER + 9;
        let recent = RecentPostings::new(50, lists + 1, 0, 0);
        let band = |content: u32, list: u32| content.wrapping_mul(list + 3) % 97 + 1000 * list;
        let bands = |content| (0..low32(lists as u64)).map(move |list| band(content, list));
        for content in 0..60 {
            let others: Vec<u32> = bands(content).collect();
            recent.push(ContentHashes {
                first: 0,
                others: &others,
                fingerprints: &[],
            });
        }
        let mut met = 0;
        for content in 0..400 {
            // One band may be met, or two, or none.
            for two in [[0, TOGETHER - 1], [TOGETHER, lists - 1], [3, lists - 1]] {
                let mut hashes = vec![u32::MAX; lists];
                for list in two {
                    hashes[list] = band(content, low32(list as u64));
                }
                let ids = two.map(|list| recent.ids(list + 1, hashes[list]).next());
                let youngest = recent.youngest_met(&hashes);
                assert_eq!(youngest, ids.into_iter().max().flatten());
                met += u32::from(youngest.is_some());
            }
        }
        assert!((300..1200).contains(&met), "{met}");
    }

    #[test]
    fn ids_are_found_in_their_list_youngest_first_however_they_came() {
        let pool = Pool::new(2);
        let pushed = RecentPostings::new(100, 3, 0, 3000);
        let contents: Vec<(u32, Vec<u32>)> = (0..1000).map(hashes).collect();
        let rows: Vec<ContentHashes<'_>> = contents
            .iter()
            .map(|(first, others)| ContentHashes {
                first: *first,
                others,
                // The first contents have a fingerprint twice.
                fingerprints: others,
            })
            .collect();
        for row in &rows {
            pushed.push(*row);
        }
        let filled = RecentPostings::new(100, 3, 0, 3000);
        filled.fill(&rows[..300], &Filters::default(), &pool);
        filled.push(rows[300]);
        filled.fill(&rows[301..], &Filters::default(), &pool);
        for index in [&pushed, &filled, &pushed.grown(5000, 5000, &pool)] {
            for hash in 0..8 {
                for list in 0..3 {
                    let expected: Vec<u32> = (0..1000_u32)
                        .rev()
                        .filter(|c| list == 0 || c % 10 != 0)
                        .filter(|c| [c % 4, c % 7, *c][list] == hash)
                        .map(|c| 100 + c)
                        .collect();
                    let found: Vec<u32> = index.ids(list, hash).collect();
                    assert_eq!(found, expected, "list {list}, hash {hash}");
                    let mut ids = index.ids(list, hash);
                    let mut parts: Vec<u32> = ids.by_ref().take(3).collect();
                    parts.extend(index.ids_from(list, hash, ids.rest()));
                    assert_eq!(parts, expected, "list {list}, hash {hash}, in two parts");
                }
            }
            let of = |list, ids| index.postings(list, ids).collect::<Vec<_>>();
            assert_eq!(of(0, 110..111), [Posting::new(2, 110)]);
            assert_eq!(of(2, 110..112), [Posting::new(11, 111)]);
            let fingerprints = [Posting::new(4, 111), Posting::new(11, 111)];
            assert_eq!(of(3, 110..112), fingerprints);
            assert_eq!(index.len(), 1000);
            for fingerprint in 0..8_u32 {
                let has =
                    |c: &u32| !c.is_multiple_of(10) && (c % 7 == fingerprint || *c == fingerprint);
                let expected: Vec<u32> = (0..1000).rev().filter(has).map(|c| 100 + c).collect();
                for (end, most) in [(u32::MAX, usize::MAX), (700, 5)] {
                    let mut found = Vec::new();
                    index.with_fingerprint(fingerprint, end, most, &mut found);
                    let expected = expected.iter().filter(|&&id| id < end).take(most);
                    assert!(found.iter().eq(expected), "{fingerprint}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_content_has_company_in_a_band_where_an_earlier_one_or_a_table_has_its_hash() {
        let (pool, folder) = (Pool::new(2), tempfile::tempdir().unwrap());
        let mut meta = Meta::default();
        meta.set_banded(1);
        let name = FilterName::of(Path::new("index"), &meta, 1).unwrap();
        let filter = Filter::create(folder.path(), name, 300).unwrap();
        filter.insert(2, &[Posting::new(77, 0)]);
        let mut filters = Filters::default();
        filters.set(LevelAge::Old, &meta, Some(Arc::new(filter)));
        let recent = RecentPostings::new(0, 3, 0, 0);
        let fill = |rows: &[(u32, [u32; 2])]| {
            let rows: Vec<ContentHashes<'_>> = rows
                .iter()
                .map(|(first, others)| ContentHashes {
                    first: *first,
                    others,
                    fingerprints: &[],
                })
                .collect();
            recent.fill(&rows, &filters, &pool)
        };
        // The same hash in another list, or that of a copy, is not company.
        let first = fill(&[(1, [10, 20]), (1, [20, 10]), (2, [10, 30]), (3, [40, 77])]);
        assert_eq!(first, [vec![], vec![], vec![0], vec![1]]);
        let second = fill(&[(4, [77, 50]), (5, [60, 30]), (6, [61, 50])]);
        assert_eq!(second, [vec![], vec![1], vec![1]]);
        let third = fill(&[(6, [10, 77]), (7, [61, 99])]);
        assert_eq!(third, [vec![0, 1], vec![0]]);
    }
}

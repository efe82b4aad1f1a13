//! The postings of recent contents, in memory, until a merge moves them into the band tables.
//!
//! A small commit would have to rewrite one leaf of every band for each content. Instead the
//! contents at or above the watermark `banded` are found here. Nothing of it is stored: the
//! postings follow from the content and signature columns, and are rebuilt on open.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::codec::low32;

/// No entry: the end of a chain. Links are places plus one, so that fresh, zeroed memory is a table
/// without entries; it takes up room only as it is written to.
const NONE: u32 = 0;

/// How much larger a table becomes when it is full.
const GROWTH: usize = 4;

/// Contents that a new index has room for.
const MIN_CONTENTS: usize = 1024;

/// A chained hash table from (list, hash) to content ids, where a list is a band or the copies.
///
/// One writer inserts contents in the order of their ids; any number of readers look up at the
/// same time without locks. A reader ignores ids at or above the length of its snapshot.
///
/// # Invariant
///
/// An entry is written before the head that leads to it is stored with release ordering, and never
/// again afterwards; a reader loads the head with acquire ordering.
#[derive(Debug)]
pub(crate) struct Recent {
    base: u32,
    lists: usize,
    /// Contents that there is room for.
    room: usize,
    /// One entry for each list and content, in that order: the entries of a bucket lie close together.
    entries: Box<[Entry]>,
    heads: Box<[AtomicU32]>,
    /// Contents inserted.
    len: AtomicU32,
}

#[derive(Debug, bytemuck::Zeroable)]
struct Entry {
    hash: AtomicU32,
    next: AtomicU32,
}

impl Recent {
    /// An index for contents from `base` on, each with up to `lists` hashes, with room for
    /// `contents` of them.
    pub(crate) fn new(base: u32, lists: usize, contents: usize) -> Recent {
        debug_assert!(contents <= most_contents(lists) as usize);
        let room = contents.max(MIN_CONTENTS);
        let entries = room * lists;
        let heads = entries.next_power_of_two();
        Recent {
            base,
            lists,
            room,
            entries: bytemuck::zeroed_slice_box(entries),
            heads: bytemuck::zeroed_slice_box(heads),
            len: AtomicU32::new(0),
        }
    }

    /// The first id that belongs here.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&*self.entries) + size_of_val(&*self.heads)) as u64
    }

    /// Number of contents inserted.
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Ordering::Acquire)
    }

    /// Whether there is room for another content.
    pub(crate) fn has_room(&self) -> bool {
        (self.len() as usize) < self.room
    }

    /// Whether no other content fits, for entries are numbered with 32 bits.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= most_contents(self.lists)
    }

    /// A copy with more room; the caller has made sure that another content fits.
    pub(crate) fn grown(&self) -> Recent {
        let len = self.len() as usize;
        let most = most_contents(self.lists) as usize;
        let grown = Recent::new(self.base, self.lists, most.min(len * GROWTH));
        for content in 0..len {
            for list in 0..self.lists {
                match self.entry_hash(content, list) {
                    Some(hash) => grown.link(content, list, hash),
                    None => grown.leave_out(content, list),
                }
            }
        }
        grown.len.store(low32(len as u64), Ordering::Release);
        grown
    }

    /// Inserts the next content: its hash in list 0, and one in each other list or in none.
    ///
    /// The caller is the only writer and has made sure that there is room.
    pub(crate) fn push(&self, first: u32, others: &[u32]) {
        let content = self.len() as usize;
        self.link(content, 0, first);
        for (list, &hash) in others.iter().enumerate() {
            self.link(content, list + 1, hash);
        }
        for list in others.len() + 1..self.lists {
            self.leave_out(content, list);
        }
        self.len.store(low32(content as u64) + 1, Ordering::Release);
    }

    /// The ids in `list` whose hash is `hash`, youngest first.
    pub(crate) fn ids(&self, list: usize, hash: u32) -> Ids<'_> {
        let head = self.heads[self.place(list, hash)].load(Ordering::Acquire);
        self.ids_from(list, hash, Link(head))
    }

    /// The ids in `list` whose hash is `hash`, youngest first, from where [`Ids::rest`] said that they
    /// go on.
    pub(crate) fn ids_from(&self, list: usize, hash: u32, at: Link) -> Ids<'_> {
        Ids {
            recent: self,
            first: self.index(0, list),
            hash,
            at,
        }
    }

    /// The hash of content `id` in `list`, if it takes part in it.
    pub(crate) fn hash(&self, id: u32, list: u32) -> Option<u32> {
        self.entry_hash((id - self.base) as usize, list as usize)
    }

    fn entry_hash(&self, content: usize, list: usize) -> Option<u32> {
        let index = self.index(content, list);
        let entry = &self.entries[index];
        let left_out = entry.next.load(Ordering::Relaxed) == link_to(index);
        (!left_out).then(|| entry.hash.load(Ordering::Relaxed))
    }

    fn link(&self, content: usize, list: usize, hash: u32) {
        let index = self.index(content, list);
        let head = &self.heads[self.place(list, hash)];
        let entry = &self.entries[index];
        entry.hash.store(hash, Ordering::Relaxed);
        entry
            .next
            .store(head.load(Ordering::Relaxed), Ordering::Relaxed);
        head.store(link_to(index), Ordering::Release);
    }

    /// Marks the entry as one that no chain holds: its `next` is itself.
    fn leave_out(&self, content: usize, list: usize) {
        let index = self.index(content, list);
        self.entries[index]
            .next
            .store(link_to(index), Ordering::Relaxed);
    }

    /// Where the entry of a content in a list is.
    fn index(&self, content: usize, list: usize) -> usize {
        list * self.room + content
    }

    fn place(&self, list: usize, hash: u32) -> usize {
        let mixed = (u64::from(hash) << 8 | list as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.heads.len() - 1)
    }
}

/// A place in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u32);

/// Ids of one list and hash, youngest first.
#[derive(Debug)]
pub(crate) struct Ids<'a> {
    recent: &'a Recent,
    /// Where the entries of the list begin.
    first: usize,
    hash: u32,
    at: Link,
}

impl Ids<'_> {
    /// Where those that were not taken go on.
    pub(crate) fn rest(&self) -> Link {
        self.at
    }
}

impl Iterator for Ids<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.at.0 != NONE {
            let index = self.at.0 as usize - 1;
            let entry = &self.recent.entries[index];
            self.at = Link(entry.next.load(Ordering::Relaxed));
            // Chains of several hashes and lists may have one head.
            let content = index.wrapping_sub(self.first);
            if content < self.recent.room && entry.hash.load(Ordering::Relaxed) == self.hash {
                return Some(self.recent.base + low32(content as u64));
            }
        }
        None
    }
}

/// Contents that a table of so many lists has room for: links to all their entries fit.
pub(crate) fn most_contents(lists: usize) -> u32 {
    low32(u64::from(u32::MAX) / lists as u64)
}

/// The link to an entry of a content below [`most_contents`].
fn link_to(index: usize) -> u32 {
    low32(index as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_all_entries_fit() {
        for lists in [1, 2, 18, 61, 1025, 16385] {
            let entries = most_contents(lists) as usize * lists;
            assert_eq!(link_to(entries - 1) as usize, entries);
            assert!(entries + lists > u32::MAX as usize);
        }
    }

    #[test]
    fn ids_are_found_in_their_list_youngest_first_also_after_growing() {
        let recent = Recent::new(100, 3, 0);
        for content in 0..1000_u32 {
            if content % 10 == 0 {
                recent.push(content % 4, &[]);
            } else {
                recent.push(content % 4, &[content % 7, content]);
            }
        }
        for index in [&recent, &recent.grown()] {
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
            assert_eq!(index.hash(110, 0), Some(2));
            assert_eq!(index.hash(110, 2), None);
            assert_eq!(index.hash(111, 2), Some(11));
            assert_eq!(index.len(), 1000);
        }
    }
}

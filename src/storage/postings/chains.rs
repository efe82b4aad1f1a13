//! Chained hash tables from hash to place.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::codec::low32;

/// No entry: the end of a chain.
///
/// Links are places plus one, so that freshly zeroed memory is a table without entries. The memory of entries becomes
/// resident only when it is written.
const NONE: u32 = 0;

/// The bits of a head that hold the link.
const LINK: u64 = 0xffff_ffff;

/// The approximate number of entries per chain when a table is full.
const CHAIN: usize = 2;

/// The chains of one list.
#[derive(Debug)]
pub(super) struct HashChains {
    /// One entry for each content, in their order.
    entries: Box<[LinkedContent]>,
    /// For each chain, the link to its youngest entry below 32 filter bits.
    ///
    /// Each hash in the chain sets two of the bits. If one of a hash's two bits is not set, the entries, which are
    /// scattered in memory, need not be read.
    heads: Box<[AtomicU64]>,
}

#[derive(Debug, bytemuck::Zeroable)]
struct LinkedContent {
    hash: AtomicU32,
    next: AtomicU32,
}

impl HashChains {
    pub(super) fn new(room: usize) -> HashChains {
        HashChains {
            entries: bytemuck::zeroed_slice_box(room),
            heads: written(bytemuck::zeroed_slice_box(
                (room.next_power_of_two() / CHAIN).max(1),
            )),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        (size_of_val(&*self.entries) + size_of_val(&*self.heads)) as u64
    }

    /// The head of the chain of a hash, and the bits of the hash in the head.
    pub(super) fn head(&self, hash: u32) -> (&AtomicU64, u64) {
        // The upper half of the product is well mixed: its low bits choose the head, its top ten the two filter bits.
        let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let head = &self.heads[(mixed >> 32) as usize & (self.heads.len() - 1)];
        let bit = |five: u64| 1 << (32 + five % 32);
        (head, bit(mixed >> 59) | bit(mixed >> 54))
    }

    /// Reads the heads of hashes to bring them into the cache.
    ///
    /// Memory serves many reads concurrently if little is done between them.
    pub(super) fn approach(&self, hashes: &[Option<u32>]) {
        let heads = hashes.iter().flatten().map(|&hash| self.head(hash).0);
        black_box(heads.fold(0, |all, head| all ^ head.load(Ordering::Relaxed)));
    }

    /// Reads the first entries of chains, likewise.
    pub(super) fn approach_entries(&self, links: &[ChainLink]) {
        let links = links.iter().filter(|link| link.0 != NONE);
        let entries = links.map(|link| &self.entries[link.0 as usize - 1]);
        black_box(entries.fold(0, |all, entry| all ^ entry.hash.load(Ordering::Relaxed)));
    }

    /// The link to the first entry that may have a hash.
    pub(super) fn first(&self, hash: u32) -> ChainLink {
        let (head, bits) = self.head(hash);
        ChainLink::of(head.load(Ordering::Acquire), bits)
    }

    /// Enters the hash of the next content, at `place`, if it is in the list.
    ///
    /// Returns the link to the earlier entries that may have the hash.
    pub(super) fn push(&self, place: usize, hash: Option<u32>) -> ChainLink {
        let entry = &self.entries[place];
        let Some(hash) = hash else {
            // No chain holds this entry, which is marked by a link to itself.
            entry.next.store(link_to(place), Ordering::Relaxed);
            return ChainLink(NONE);
        };
        let (head, bits) = self.head(hash);
        let chain = head.load(Ordering::Relaxed);
        // The entry is complete before the head leads to it, so a reader that sees the head sees the entry.
        entry.hash.store(hash, Ordering::Relaxed);
        entry.next.store(low32(chain), Ordering::Relaxed);
        let chain_after = (chain | bits) & !LINK | u64::from(link_to(place));
        head.store(chain_after, Ordering::Release);
        ChainLink::of(chain, bits)
    }

    pub(super) fn hash(&self, place: usize) -> Option<u32> {
        let entry = &self.entries[place];
        let left_out = entry.next.load(Ordering::Relaxed) == link_to(place);
        (!left_out).then(|| entry.hash.load(Ordering::Relaxed))
    }

    /// The next content with a hash, and the link to those after it.
    pub(super) fn next(&self, hash: u32, mut at: ChainLink) -> Option<(usize, ChainLink)> {
        while at.0 != NONE {
            let place = at.0 as usize - 1;
            let entry = &self.entries[place];
            at = ChainLink(entry.next.load(Ordering::Relaxed));
            // Several hashes may share a head.
            if entry.hash.load(Ordering::Relaxed) == hash {
                return Some((place, at));
            }
        }
        None
    }
}

/// Writes to each memory page of `heads`.
///
/// Heads are used in random order, so all of them are used soon. A page that is read before it is written costs a
/// second fault, and an interrupt on every core.
fn written(heads: Box<[AtomicU64]>) -> Box<[AtomicU64]> {
    const PAGE: usize = 4096 / size_of::<AtomicU64>();
    for head in heads.iter().step_by(PAGE) {
        head.store(0, Ordering::Relaxed);
    }
    heads
}

/// A position in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainLink(u32);

impl ChainLink {
    /// The end of a chain.
    pub(super) const NONE: ChainLink = ChainLink(NONE);

    /// Where to begin in a chain with this head for a hash with these bits.
    fn of(head: u64, bits: u64) -> ChainLink {
        let is_there = head & bits == bits;
        ChainLink(if is_there { low32(head) } else { NONE })
    }
}

/// The link to the entry at a place. It cannot overflow, because ids have 32 bits and there are fewer contents than
/// links.
fn link_to(place: usize) -> u32 {
    low32(place as u64 + 1)
}

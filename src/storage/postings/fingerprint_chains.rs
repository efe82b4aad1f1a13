//! The chains of fingerprints.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::chains::HashChains;
use super::leaf::Posting;
use crate::codec::low32;

/// The chains of fingerprints, of which a content has any number.
#[derive(Debug)]
pub(super) struct FingerprintChains {
    /// One entry for each fingerprint, content by content, each in the order of its text.
    pub(super) chains: HashChains,
    /// The content of each entry.
    owners: Box<[AtomicU32]>,
    /// The number of entries.
    len: AtomicU32,
}

impl FingerprintChains {
    pub(super) fn new(room: usize) -> FingerprintChains {
        let room = room.min(u32::MAX as usize - 1);
        FingerprintChains {
            chains: HashChains::new(room),
            owners: bytemuck::zeroed_slice_box(room),
            len: AtomicU32::new(0),
        }
    }

    /// The memory in bytes that the entries take, without room for more.
    pub(super) fn bytes(&self) -> u64 {
        let all = self.chains.bytes() + size_of_val(&*self.owners) as u64;
        all * self.len() as u64 / self.owners.len().max(1) as u64
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }

    /// The number of entries for which there is room.
    pub(super) fn room(&self) -> usize {
        self.owners.len() - self.len()
    }

    /// Inserts the fingerprints of the next content.
    pub(super) fn push(&self, id: u32, fingerprints: &[u32]) {
        let start = self.len();
        for (place, &fingerprint) in (start..).zip(fingerprints) {
            self.owners[place].store(id, Ordering::Relaxed);
            self.chains.push(place, Some(fingerprint));
        }
        let end = low32((start + fingerprints.len()) as u64);
        self.len.store(end, Ordering::Release);
    }

    /// A copy without the contents below `base`.
    pub(super) fn copied(&self, base: u32, room: usize) -> FingerprintChains {
        let copy = FingerprintChains::new(room);
        for (to, from) in self.places(&(base..u32::MAX)).enumerate() {
            copy.owners[to].store(self.owner(from), Ordering::Relaxed);
            copy.chains.push(to, self.chains.hash(from));
            copy.len.store(low32(to as u64 + 1), Ordering::Release);
        }
        copy
    }

    fn owner(&self, place: usize) -> u32 {
        self.owners[place].load(Ordering::Relaxed)
    }

    /// The places of the entries of some contents.
    pub(super) fn places(&self, ids: &Range<u32>) -> Range<usize> {
        let entries = &self.owners[..self.len()];
        let place = |id: u32| entries.partition_point(|owner| owner.load(Ordering::Relaxed) < id);
        place(ids.start)..place(ids.end)
    }

    pub(super) fn posting(&self, place: usize) -> Posting {
        let hash = self.chains.hash(place).unwrap_or_default();
        Posting::new(hash, self.owner(place))
    }

    /// The contents with a fingerprint, youngest first, each as often as it has it.
    pub(super) fn ids(&self, fingerprint: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.chains.first(fingerprint);
        std::iter::from_fn(move || {
            let (place, rest) = self.chains.next(fingerprint, at)?;
            at = rest;
            Some(self.owner(place))
        })
    }
}

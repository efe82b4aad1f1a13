//! An index of the prefixes of some contents of a bucket.

use std::ops::Range;

use super::prefixes::Prefixes;
use crate::error::Result;

/// Finds the contents whose prefixes have an element.
#[derive(Debug)]
pub(super) struct PrefixCandidates {
    /// The place of the first indexed content, and the place after the last one.
    start: usize,
    end: usize,
    /// An element, and a content's place relative to `start`; sorted.
    entries: Vec<(u32, u32)>,
    /// For each value of an element's top bits, where its entries begin.
    starts: Vec<usize>,
    /// The number of bits below the top bits of an element.
    low_bits: u32,
}

impl PrefixCandidates {
    /// Indexes `contents` from the place `start` on: as many as fit into `room` entries, and at least one.
    pub(super) fn new(
        prefixes: &Prefixes<'_>,
        contents: &[u32],
        start: usize,
        room: usize,
    ) -> Result<Self> {
        let mut entries = Vec::new();
        let mut prefix = Vec::new();
        let mut end = start;
        for (place, &content) in (0_u32..).zip(&contents[start..]) {
            prefixes.of(content, &mut prefix)?;
            if place > 0 && entries.len() + prefix.len() > room {
                break;
            }
            entries.extend(prefix.iter().map(|&element| (element, place)));
            end += 1;
        }
        Ok(PrefixCandidates::of_entries(start..end, entries))
    }

    /// Indexes the contents at these places, from their elements and their places relative to the first.
    fn of_entries(places: Range<usize>, mut entries: Vec<(u32, u32)>) -> PrefixCandidates {
        // Sorted by element. The top bits lead to a short part of the entries, in which a binary search finds the
        // element.
        entries.sort_unstable();
        let low_bits = 32 - entries.len().max(1).ilog2().min(24);
        let mut starts = vec![0; (1 << (32 - low_bits)) + 1];
        for (element, _) in &entries {
            starts[top(*element, low_bits) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        PrefixCandidates {
            start: places.start,
            end: places.end,
            entries,
            starts,
            low_bits,
        }
    }

    /// The place after the last content that is indexed.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Replaces `places` with those of the contents before `limit` that may match one with this prefix, ascending.
    /// Returns whether there are more than `most`. If so, some are left out, preferably those at the front.
    pub(super) fn of(
        &self,
        prefix: &[u32],
        limit: usize,
        most: usize,
        places: &mut Vec<usize>,
    ) -> bool {
        places.clear();
        let all = self.start..self.end.min(limit);
        // This number of places is all of them, or too many.
        let enough = all.len().min(most.saturating_add(1));
        for &element in prefix {
            let top = top(element, self.low_bits);
            let alike = &self.entries[self.starts[top]..self.starts[top + 1]];
            let from = alike.partition_point(|entry| entry.0 < element);
            let is_before = |&(e, place): &(u32, u32)| e == element && (place as usize) < all.len();
            // Only the last ones: the entries of an element ascend by place, and those nearest to the content are
            // preferred.
            let found = &alike[from..][..alike[from..].partition_point(is_before)];
            let found = &found[found.len().saturating_sub(enough)..];
            places.extend(found.iter().map(|&(_, place)| self.start + place as usize));
            if places.len() >= all.len() && all.len() <= most {
                // Elements as frequent as this one exclude nothing.
                places.clear();
                places.extend(all);
                return false;
            }
            // Doubles are removed only when there may be enough without them.
            if places.len() / 2 >= enough {
                places.sort_unstable();
                places.dedup();
                if places.len() >= enough {
                    break;
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        let left_out = places.len().saturating_sub(most);
        places.drain(..left_out);
        left_out > 0
    }
}

fn top(element: u32, low_bits: u32) -> usize {
    element.checked_shr(low_bits).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const START: usize = 7;

    proptest! {
        #[test]
        fn candidates_share_an_element_or_are_all(
            prefixes in prop::collection::vec(prop::collection::btree_set(0..50_u32, 0..4), 1..30),
            probe in prop::collection::btree_set(0..50_u32, 0..4),
            limit in 0..45_usize,
            most in prop_oneof![Just(usize::MAX), 1..12_usize],
            spread in prop_oneof![Just(1_u32), Just(0x9E37_79B1)],
        ) {
            let spread = |element: &u32| element.wrapping_mul(spread);
            let entries = (0..).zip(&prefixes).flat_map(|(place, prefix)| {
                prefix.iter().map(move |element| (spread(element), place))
            });
            let end = START + prefixes.len();
            let candidates = PrefixCandidates::of_entries(START..end, entries.collect());
            let shared = |prefix: &BTreeSet<u32>| prefix.intersection(&probe).count();
            let before: Vec<(usize, usize)> = prefixes
                .iter()
                .enumerate()
                .map(|(place, prefix)| (START + place, shared(prefix)))
                .filter(|&(place, _)| place < limit)
                .collect();
            let entries: usize = before.iter().map(|(_, shared)| shared).sum();
            let all = entries >= before.len() && before.len() <= most;
            let expected = before.into_iter().filter(|&(_, shared)| all || shared > 0);
            let expected: Vec<usize> = expected.map(|(place, _)| place).collect();
            let probe: Vec<u32> = probe.iter().map(spread).collect();
            let mut places = vec![1];
            let are_too_many = candidates.of(&probe, limit, most, &mut places);
            prop_assert_eq!(are_too_many, expected.len() > most);
            if are_too_many {
                prop_assert_eq!(places.len(), most);
                prop_assert!(places.is_sorted() && places.iter().all(|p| expected.contains(p)));
            } else {
                prop_assert_eq!(places, expected);
            }
        }
    }
}

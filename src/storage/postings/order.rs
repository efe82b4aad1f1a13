//! Sorting of postings.

use super::leaf::Posting;

/// With fewer postings than this, a comparison sort is as fast.
const FEW: usize = 1 << 10;

/// The number of bits of a hash that one pass sorts by.
const DIGIT: u32 = 11;

/// Sorts postings in which equal hashes come with ascending ids.
///
/// This is a radix sort by hash, least significant digit first. Each pass is stable.
pub(crate) fn sort(mut postings: Vec<Posting>) -> Vec<Posting> {
    if postings.len() < FEW {
        postings.sort_unstable();
        return postings;
    }
    let mut sorted = vec![Posting::new(0, 0); postings.len()];
    for shift in (0..u32::BITS).step_by(DIGIT as usize) {
        let digit = |posting: &Posting| (posting.hash() >> shift) as usize % (1 << DIGIT);
        // How many postings have each digit, and from that the place of the first of them.
        let mut next = [0_usize; 1 << DIGIT];
        for posting in &postings {
            next[digit(posting)] += 1;
        }
        let mut place = 0;
        for next in &mut next {
            place += std::mem::replace(next, place);
        }
        // In their present order, so that the order by lower digits stays among equal ones.
        for posting in &postings {
            let next = &mut next[digit(posting)];
            sorted[*next] = *posting;
            *next += 1;
        }
        std::mem::swap(&mut postings, &mut sorted);
    }
    debug_assert!(postings.is_sorted());
    postings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorting_is_sorting(
            hashes in prop::collection::vec(
                prop_oneof![any::<u32>(), 0..4_u32, Just(u32::MAX)],
                0..3 * FEW,
            ),
            in_tables in 0..2 * FEW,
        ) {
            let mut postings: Vec<Posting> =
                (0..).zip(&hashes).map(|(id, &hash)| Posting::new(hash, id)).collect();
            // Postings from tables are already sorted, and those after them have higher ids.
            let in_tables = in_tables.min(postings.len());
            postings[..in_tables].sort_unstable();
            let mut expected = postings.clone();
            expected.sort_unstable();
            prop_assert!(sort(postings) == expected);
        }
    }
}

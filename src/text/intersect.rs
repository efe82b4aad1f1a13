//! The number of values that two sorted slices share.

/// The number of values that are compared all against all in one step.
const BLOCK: usize = 8;

/// From this ratio of sizes on, looking up each value of the smaller slice beats walking the
/// larger one.
const GALLOP: usize = 32;

/// The number of values of one slice to intersect before checking whether the rest can be enough.
const STRETCH: usize = 64;

/// Counts the values that two sorted slices of distinct values have in common.
pub(super) fn intersection_len(a: &[u32], b: &[u32]) -> usize {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if small.len() <= large.len() / GALLOP {
        gallop(small, large)
    } else {
        walk(small, large)
    }
}

/// The number of values that two sorted slices of distinct values have in common, if it is at least `least`. Gives up
/// as soon as that is impossible.
pub(super) fn intersection_reaching(mut a: &[u32], mut b: &[u32], least: usize) -> Option<usize> {
    let mut common = 0;
    while let Some((part, after)) = a.split_at_checked(STRETCH) {
        let end = part[STRETCH - 1];
        let (within, beyond) = b.split_at(b.partition_point(|&value| value <= end));
        common += intersection_len(part, within);
        (a, b) = (after, beyond);
        if common + a.len().min(b.len()) < least {
            return None;
        }
    }
    common += intersection_len(a, b);
    (common >= least).then_some(common)
}

/// Walks both slices in blocks.
///
/// Equal blocks, as most blocks of near-copies are, count as a whole. Of two other blocks, all pairs are compared,
/// without branches. Then both slices are cut after the lower maximum, so that the next blocks begin at the same value
/// and can be equal again.
fn walk(mut a: &[u32], mut b: &[u32]) -> usize {
    let mut equal = 0;
    // No lane overflows: there are 2^32 values in all, and each lane sees every eighth.
    let mut common = [0u32; BLOCK];
    while let (Some(block_a), Some(block_b)) = (a.first_chunk::<BLOCK>(), b.first_chunk::<BLOCK>())
    {
        if block_a == block_b {
            equal += BLOCK;
            (a, b) = (&a[BLOCK..], &b[BLOCK..]);
            continue;
        }
        for y in block_b {
            for (common, x) in common.iter_mut().zip(block_a) {
                *common += u32::from(x == y);
            }
        }
        let last = block_a[BLOCK - 1].min(block_b[BLOCK - 1]);
        (a, b) = (&a[up_to(block_a, last)..], &b[up_to(block_b, last)..]);
    }
    equal + common.iter().map(|&lane| lane as usize).sum::<usize>() + merge(a, b)
}

/// The number of values of a block that are at most `last`.
fn up_to(block: &[u32; BLOCK], last: u32) -> usize {
    let within = block.iter().map(|&value| u32::from(value <= last));
    within.sum::<u32>() as usize
}

/// Walks both slices value by value.
fn merge(a: &[u32], b: &[u32]) -> usize {
    let (mut at_a, mut at_b, mut common) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (a[at_a], b[at_b]);
        common += usize::from(x == y);
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    common
}

/// Looks up each value of `small` in the rest of `large`, in steps that double.
fn gallop(small: &[u32], mut large: &[u32]) -> usize {
    let mut common = 0;
    for &value in small {
        let mut step = 1;
        while large.get(step).is_some_and(|&other| other < value) {
            step *= 2;
        }
        let reach = &large[..large.len().min(step + 1)];
        large = &large[reach.partition_point(|&other| other < value)..];
        common += usize::from(large.first() == Some(&value));
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_intersection_is_counted_if_it_is_large_enough(
            a in prop::collection::btree_set(0_u32..900, 0..600),
            b in prop::collection::btree_set(0_u32..900, 0..600),
            off in -2_isize..3,
        ) {
            let common = a.intersection(&b).count();
            let (a, b): (Vec<u32>, Vec<u32>) = (a.into_iter().collect(), b.into_iter().collect());
            for least in [0, common.saturating_add_signed(off), a.len(), a.len() + 1] {
                let expected = (common >= least).then_some(common);
                prop_assert_eq!(intersection_reaching(&a, &b, least), expected);
            }
        }
    }
}

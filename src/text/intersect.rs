//! The number of values two sorted slices share.

/// Values compared all against all in one step.
const BLOCK: usize = 8;

/// From this ratio of sizes on, looking up each value of the smaller slice beats walking the
/// larger one.
const GALLOP: usize = 32;

/// Counts the values that two sorted slices of distinct values have in common.
///
/// # Examples
///
/// ```
/// assert_eq!(dedupdb::intersection_len(&[1, 3, 5, 7], &[3, 4, 5]), 2);
/// ```
pub fn intersection_len(a: &[u32], b: &[u32]) -> usize {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if small.len() <= large.len() / GALLOP {
        gallop(small, large)
    } else {
        walk(small, large)
    }
}

/// Walks both slices in blocks. All pairs of two blocks are compared, without branches; then the
/// block with the lower maximum, which can match nothing later, moves on.
fn walk(mut a: &[u32], mut b: &[u32]) -> usize {
    // No lane overflows: there are 2^32 values in all, and each lane sees every eighth.
    let mut common = [0u32; BLOCK];
    while let (Some(block_a), Some(block_b)) = (a.first_chunk::<BLOCK>(), b.first_chunk::<BLOCK>())
    {
        for y in block_b {
            for (common, x) in common.iter_mut().zip(block_a) {
                *common += u32::from(x == y);
            }
        }
        let (last_a, last_b) = (block_a[BLOCK - 1], block_b[BLOCK - 1]);
        a = &a[if last_a <= last_b { BLOCK } else { 0 }..];
        b = &b[if last_b <= last_a { BLOCK } else { 0 }..];
    }
    common.iter().map(|&lane| lane as usize).sum::<usize>() + merge(a, b)
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

/// Looks each value of `small` up in what is left of `large`, in steps that double.
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

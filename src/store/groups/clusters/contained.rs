//! Trees of texts that are contained in others, and texts that represent what they contain.

use std::cmp::Reverse;

use crate::error::Result;
use crate::pool::Pool;
use crate::storage::Snapshot;
use crate::store::groups::exhaustive::ExhaustivePairs;
use crate::store::groups::join::JoinedPair;

/// The root of each content. A content hangs on the largest one that contains it, or is a root.
///
/// Contents are ranked by size, the largest first, and then by id. Each hangs on the first in this order, among those
/// that come before it.
pub(super) fn roots(
    mut search: ExhaustivePairs,
    snapshot: &Snapshot,
    pool: &Pool,
) -> Result<Vec<u32>> {
    let mut ranked = Vec::with_capacity(snapshot.len as usize);
    for content in 0..snapshot.len {
        let size = snapshot.content(content)?.shingle_count;
        ranked.push((Reverse(size), content));
    }
    // Each content hangs on itself at first, and then on the first in rank of those that contain it.
    let mut parents: Vec<u32> = (0..snapshot.len).collect();
    while let Some(found) = search.next(snapshot, pool)? {
        for joined in found {
            let (one, other) = (
                ranked[joined.larger as usize],
                ranked[joined.smaller as usize],
            );
            let (outer, inner) = (one.min(other), one.max(other));
            let parent = &mut parents[inner.1 as usize];
            *parent = outer.min(ranked[*parent as usize]).1;
        }
    }
    ranked.sort_unstable();
    // The root of a parent is known before those that hang on it are reached.
    for (_, content) in ranked {
        parents[content as usize] = parents[parents[content as usize] as usize];
    }
    Ok(parents)
}

/// The representative of each content: the largest one that represents itself and contains this share of it, or reaches
/// the threshold with it.
pub(super) fn representatives(
    search: ExhaustivePairs,
    least: f64,
    threshold: Option<f64>,
    snapshot: &Snapshot,
    pool: &Pool,
) -> Result<Vec<u32>> {
    search.representatives(snapshot, pool, |joined: &JoinedPair| {
        let reaches = threshold.is_some_and(|threshold| joined.jaccard >= threshold);
        reaches || joined.containment >= least
    })
}

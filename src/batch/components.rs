//! What pairs connect.

use rayon::prelude::*;

use super::forest::Forest;
use crate::error::{Error, Result};

/// Returns the connected components of pairs: each id that is in a pair, ascending, with the lowest
/// id that it is connected to, which names its component. That one is there, with itself.
///
/// The result depends on the pairs as a set. What is returned are pairs in turn, so machines may each
/// connect a part of the pairs, and one of them what all returned: the components of everything.
/// An id is a number or whatever is ordered, such as a hash. Memory is two ids for each end of a pair. The threads are those of the rayon pool that the call is
/// made in.
///
/// # Errors
///
/// [`Error::InvalidColumn`] for more than 2^32 - 1 distinct ids.
///
/// ```
/// use dedupdb::batch::components;
///
/// let found = components(&[(30, 20), (7, 8), (10, 20)])?;
/// assert_eq!(found, [(7, 7), (8, 7), (10, 10), (20, 10), (30, 10)]);
///
/// // In two parts.
/// let (one, other) = (components(&[(30, 20)])?, components(&[(7, 8), (10, 20)])?);
/// assert_eq!(components(&[one, other].concat())?, found);
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn components<T: Copy + Ord + Send + Sync>(pairs: &[(T, T)]) -> Result<Vec<(T, T)>> {
    let mut ids: Vec<T> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    ids.par_sort_unstable();
    ids.dedup();
    let count = u32::try_from(ids.len()).map_err(|_| Error::InvalidColumn {
        column: "pairs",
        row: pairs.len(),
        reason: format!(
            "there are {} distinct ids, and 2^32 - 1 are taken",
            ids.len()
        ),
    })?;
    let forest = Forest::new(count);
    // Each is there, and there are no more than 2^32 - 1.
    let place = |id| u32::try_from(ids.partition_point(|&other| other < id)).unwrap_or_default();
    pairs
        .par_iter()
        .for_each(|&(a, b)| forest.join(place(a), place(b)));
    // Ids ascend, so the lowest place of a set is that of its lowest id.
    let named = ids.iter().zip(0..count);
    Ok(named
        .map(|(&id, place)| (id, ids[forest.root(place) as usize]))
        .collect())
}

//! The connected components of pairs.

use rayon::slice::ParallelSliceMut;

use super::forest::Forest;
use crate::error::{Error, Result};
use crate::parallel;

/// Pairs per task.
const CHUNK: usize = 1024;

/// Returns the connected components of pairs: each id of a pair, ascending, with the lowest id of its component. The
/// lowest id itself is included.
///
/// The result depends only on the set of pairs. It is itself a list of pairs: machines may each connect a part, and one
/// of them then connects all results. An id can have any ordered type, such as a number or a hash. Takes memory for two
/// ids for each end of a pair. Uses the threads of the current rayon pool.
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
    // Every id is in the list, and there are at most 2^32 - 1.
    let place = |id| u32::try_from(ids.partition_point(|&other| other < id)).unwrap_or_default();
    parallel::map(pairs.chunks(CHUNK).collect(), |pairs: &[(T, T)]| {
        for &(a, b) in pairs {
            forest.join(place(a), place(b));
        }
    });
    // Ids ascend, so the lowest place in a set is that of its lowest id.
    let named = ids.iter().zip(0..count);
    Ok(named
        .map(|(&id, place)| (id, ids[forest.root(place) as usize]))
        .collect())
}

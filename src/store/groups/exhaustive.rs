//! The exact join over the contents of a snapshot.

use super::join::{Join, Joined, Sets};
use crate::error::Result;
use crate::pool::Pool;
use crate::storage::Snapshot;
use crate::text::ShingleSet;

/// The number of pairs to return at a time.
const PAIRS: usize = 1 << 16;

impl Sets for Snapshot {
    fn read(&self, content: u32, shingles: &mut ShingleSet) -> Result<()> {
        self.shingles(content, shingles)
    }
}

/// The pairs of contents that reach a threshold, a few at a time.
#[derive(Debug, Default)]
pub(crate) struct Exhaustive {
    /// None before the first pairs are requested.
    join: Option<Join>,
    /// Pairs that were found and not yet returned, the last one first.
    found: Vec<Joined>,
}

impl Exhaustive {
    /// The next pairs, which may be an empty list. None at the end. `removed` holds sorted
    /// contents.
    pub(crate) fn next(
        &mut self,
        snapshot: &Snapshot,
        threshold: f64,
        removed: &[u32],
        pool: &Pool,
    ) -> Result<Option<Vec<Joined>>> {
        if self.found.is_empty() {
            let join = if let Some(join) = &mut self.join {
                join
            } else {
                let sizes = sizes(snapshot, removed)?;
                let join = Join::new(threshold, sizes, snapshot, pool)?;
                self.join.insert(join)
            };
            let Some(found) = join.find(snapshot, pool)? else {
                return Ok(None);
            };
            self.found = found;
            self.found.reverse();
        }
        let rest = self.found.len().saturating_sub(PAIRS);
        let mut next = self.found.split_off(rest);
        next.reverse();
        Ok(Some(next))
    }
}

/// The number of shingles of each content, and 0 for the removed ones.
fn sizes(snapshot: &Snapshot, removed: &[u32]) -> Result<Vec<u32>> {
    let mut sizes = Vec::with_capacity(snapshot.len as usize);
    for content in 0..snapshot.len {
        sizes.push(snapshot.content(content)?.shingle_count);
    }
    for &content in removed {
        if let Some(size) = sizes.get_mut(content as usize) {
            *size = 0;
        }
    }
    Ok(sizes)
}

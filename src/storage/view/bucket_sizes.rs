//! The sizes of buckets.

use std::collections::BTreeMap;

use super::snapshot::Snapshot;
use crate::error::Result;

impl Snapshot {
    /// Calls `visit` with the hash of each bucket of a list and the number of its contents, without those in `removed`,
    /// which must be sorted.
    pub(crate) fn for_each_bucket(
        &self,
        list: u32,
        removed: &[u32],
        mut visit: impl FnMut(u32, u64),
    ) -> Result<()> {
        // The recent contents are few: they are counted first, and added to the buckets in tables.
        let mut recent: BTreeMap<u32, u64> = BTreeMap::new();
        for posting in self.recent_postings(list, removed) {
            *recent.entry(posting.hash()).or_default() += 1;
        }
        let mut run: Option<(u32, u64)> = None;
        let mut end = |run: Option<(u32, u64)>, recent: &mut BTreeMap<u32, u64>| {
            if let Some((hash, contents)) = run {
                visit(hash, contents + recent.remove(&hash).unwrap_or(0));
            }
        };
        // Equal hashes come one after another, but a bucket may go on in the next batch.
        self.for_each_without(list, removed, |postings| {
            for posting in postings {
                match &mut run {
                    Some((hash, contents)) if *hash == posting.hash() => *contents += 1,
                    _ => end(run.replace((posting.hash(), 1)), &mut recent),
                }
            }
        })?;
        end(run, &mut recent);
        // Buckets that only recent contents have.
        for (hash, contents) in recent {
            visit(hash, contents);
        }
        Ok(())
    }
}

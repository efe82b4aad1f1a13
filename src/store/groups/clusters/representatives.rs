//! Divides connected groups so that all members reach the threshold with their representative.

use std::collections::HashMap;

use crate::batch::Forest;
use crate::error::Result;
use crate::pool::Pool;
use crate::storage::Snapshot;
use crate::store::compare::{Allowance, Likeness, Matcher, StoredContent};

/// All threads work together on a group of at least this number of members.
const LARGE: usize = 1 << 12;

/// Members that are compared with earlier representatives at the same time.
const BLOCK: usize = 1 << 10;

/// Groups that are divided at a time.
const GROUPS: usize = 1 << 12;

/// Divides the connected contents of a forest into clusters whose members all reach the threshold
/// with the cluster's lowest content.
///
/// Contents are taken in the order of their ids. A content joins the most similar representative
/// that shares a bucket with it and reaches the threshold (on a tie, the one with the lowest id),
/// or becomes one itself. It is connected with all such representatives, so every connected group
/// is divided on its own. In each bucket, a content is compared with the youngest representatives,
/// up to the number of its allowed false candidates. Without an allowance, it is compared with all
/// representatives of its group.
pub(super) fn divide(
    snapshot: &Snapshot,
    pool: &Pool,
    allowance: Option<&Allowance>,
    threshold: f64,
    forest: &mut Forest,
) -> Result<()> {
    let members = forest.members();
    let groups: Vec<&[(u32, u32)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
    for groups in groups.chunks(GROUPS) {
        // A large group is divided with all threads, and small ones several at a time.
        let (large, small): (Vec<_>, Vec<_>) =
            groups.iter().partition(|group| group.len() >= LARGE);
        let divide = |group: &[(u32, u32)], pool| {
            Representatives::new(snapshot, allowance, threshold).divide(group, pool)
        };
        let mut divided = pool.map(small, |group| divide(group, None));
        divided.extend(large.into_iter().map(|group| divide(group, Some(pool))));
        for placed in divided {
            for (content, representative) in placed? {
                forest.place(content, representative);
            }
        }
    }
    Ok(())
}

/// The representatives of a connected group so far, by their buckets.
#[derive(Debug)]
struct Representatives<'a> {
    snapshot: &'a Snapshot,
    /// None if a group counts as one bucket.
    allowance: Option<&'a Allowance>,
    threshold: f64,
    /// The last entry of each bucket: a band and its hash.
    heads: HashMap<(u32, u32), usize>,
    /// A representative, and the entry before it in the same bucket, if any. There is an entry for
    /// each bucket of a representative; the representatives ascend.
    entries: Vec<(u32, Option<usize>)>,
}

/// The most similar representative of a content, after its similarity.
type BestRepresentative = Option<(f64, u32)>;

impl<'a> Representatives<'a> {
    fn new(
        snapshot: &'a Snapshot,
        allowance: Option<&'a Allowance>,
        threshold: f64,
    ) -> Representatives<'a> {
        Representatives {
            snapshot,
            allowance,
            threshold,
            heads: HashMap::new(),
            entries: Vec::new(),
        }
    }

    /// The representative of each content of a group; a representative is its own.
    fn divide(mut self, group: &[(u32, u32)], pool: Option<&Pool>) -> Result<Vec<(u32, u32)>> {
        let first = group.first().map(|&(root, _)| root);
        let rest = group.iter().map(|&(_, content)| content);
        let contents: Vec<u32> = first.into_iter().chain(rest).collect();
        let mut placed = Vec::with_capacity(contents.len());
        for block in contents.chunks(BLOCK) {
            // Representatives from before the block are compared in parallel. Those that the block adds come after, one
            // by one.
            let this = &self;
            let compare = |content| this.best(content, 0);
            let compared: Vec<Result<BestRepresentative>> = match pool {
                Some(pool) => pool.map(block.to_vec(), compare),
                None => block.iter().copied().map(compare).collect(),
            };
            for (&content, earlier) in block.iter().zip(compared) {
                let best = better(earlier?, self.best(content, block[0])?);
                let representative = match best {
                    Some((_, representative)) => representative,
                    None => self.add(content)?,
                };
                placed.push((content, representative));
            }
        }
        Ok(placed)
    }

    /// The most similar representative of a content, from the content `first` on.
    fn best(&self, content: u32, first: u32) -> Result<BestRepresentative> {
        let mut shared = Vec::new();
        let most = self
            .allowance
            .map_or(usize::MAX, Allowance::false_candidates);
        // The youngest representatives of each bucket, as many as may be false.
        for bucket in self.buckets(content)? {
            let mut at = self.heads.get(&bucket).copied();
            let full = shared.len().saturating_add(most);
            while let Some(&(representative, before)) = at.and_then(|at| self.entries.get(at)) {
                if representative < first {
                    break;
                }
                if shared.len() == full {
                    if let Some(allowance) = self.allowance {
                        allowance.cut();
                    }
                    break;
                }
                shared.push(representative);
                at = before;
            }
        }
        if shared.is_empty() {
            return Ok(None);
        }
        shared.sort_unstable();
        shared.dedup();
        let stored = StoredContent::read(self.snapshot, content)?;
        let mut matcher = Matcher::new(self.snapshot, stored.probe(), self.threshold);
        let mut best = None;
        for content in shared {
            let likeness = matcher.compare(content)?;
            let similarity = likeness.as_ref().map(Likeness::similarity);
            best = better(best, similarity.map(|similarity| (similarity, content)));
        }
        Ok(best)
    }

    /// Makes a content a representative.
    fn add(&mut self, content: u32) -> Result<u32> {
        for bucket in self.buckets(content)? {
            let before = self.heads.insert(bucket, self.entries.len());
            self.entries.push((content, before));
        }
        Ok(content)
    }

    /// The buckets of a content of the group: each band with its hash, or one that all contents share.
    fn buckets(&self, content: u32) -> Result<impl Iterator<Item = (u32, u32)> + use<>> {
        let mut hashes = Vec::new();
        if self.allowance.is_none() {
            hashes.push(0);
            return Ok((0..).zip(hashes));
        }
        let schema = &self.snapshot.schema;
        let shingles = self.snapshot.content(content)?.shingle_count as usize;
        let signature = self.snapshot.signature(content)?;
        schema.band_hashes(shingles, &signature, &mut hashes);
        Ok((0..).zip(hashes))
    }
}

/// The one of higher similarity, or the first on a tie.
fn better(one: BestRepresentative, other: BestRepresentative) -> BestRepresentative {
    match (one, other) {
        (Some(first), Some(second)) if second.0 > first.0 => other,
        (None, _) => other,
        _ => one,
    }
}

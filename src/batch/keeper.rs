//! Decides which contents of a connected group are kept.

use std::collections::HashMap;

use crate::error::Result;
use crate::schema::check_threshold;
use crate::text::{ShingleSet, sizes_fit};

/// By default, a content is compared with at most this number of kept contents that do not match.
const MOST: usize = 4000;

/// Decides, content by content, which ones to keep: those that match no kept content.
///
/// Give it the contents of each group in order; on a cluster, this is the order of the documents' keys. Groups are the
/// [`components()`](super::components()) of verified pairs. Only the kept contents of one group are in memory, with
/// their shingles. A content is compared with the kept ones that share a band key with it. So the verdicts are those of
/// a store that gets the same texts in the same order.
///
/// ```
/// use dedupdb::batch::{Keeper, Verdict};
/// use dedupdb::sketching::ShingleSet;
///
/// let set = |from: u32| ShingleSet::from_hashes((from..from + 100).collect());
/// let mut keeper = Keeper::new(0.8)?;
/// assert_eq!(keeper.judge(&[7, 8], set(0)), Verdict::Kept(0));
/// assert_eq!(keeper.judge(&[7, 9], set(5)), Verdict::Like(0, 95.0 / 105.0));
/// assert_eq!(keeper.judge(&[7, 9], set(12)), Verdict::Kept(1));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Keeper {
    threshold: f64,
    most: usize,
    kept: Vec<ShingleSet>,
    /// The kept contents of each bucket, ascending.
    buckets: HashMap<u64, Vec<usize>>,
    cut_short: u64,
}

/// The verdict on a content.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is kept. The number counts the kept contents of its group, from 0.
    Kept(usize),
    /// It is dropped in favour of the kept content with this number, at this Jaccard similarity: the most similar
    /// one, or the first of several.
    Like(usize, f64),
}

impl Keeper {
    /// Drops contents that reach this threshold with a kept one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQuery`](crate::Error::InvalidQuery) if the threshold is not above 0 and at most 1.
    pub fn new(threshold: f64) -> Result<Keeper> {
        check_threshold(threshold)?;
        Ok(Keeper {
            threshold,
            most: MOST,
            kept: Vec::new(),
            buckets: HashMap::new(),
            cut_short: 0,
        })
    }

    /// Stops comparing a content after this number of kept ones that do not match; 4,000 by default.
    #[must_use]
    pub fn most(mut self, contents: usize) -> Keeper {
        self.most = contents;
        self
    }

    /// Starts another group, and forgets the kept contents.
    pub fn begin(&mut self) {
        self.kept.clear();
        self.buckets.clear();
    }

    /// Judges the next content of the group, by its band keys and shingles.
    pub fn judge(&mut self, keys: &[u64], shingles: ShingleSet) -> Verdict {
        if let Some((kept, jaccard)) = self.best(keys, &shingles) {
            return Verdict::Like(kept, jaccard);
        }
        let number = self.kept.len();
        self.kept.push(shingles);
        for &key in keys {
            self.buckets.entry(key).or_default().push(number);
        }
        Verdict::Kept(number)
    }

    /// Returns the number of contents that were not compared with every kept one that shares a bucket
    /// ([`Keeper::most`]).
    pub fn cut_short(&self) -> u64 {
        self.cut_short
    }

    /// The most similar kept content that matches. Those that share the most buckets are compared first.
    fn best(&mut self, keys: &[u64], shingles: &ShingleSet) -> Option<(usize, f64)> {
        let mut shared: Vec<usize> = Vec::new();
        for key in keys {
            shared.extend(self.buckets.get(key).into_iter().flatten());
        }
        // A content stands once for each bucket that it shares. Most buckets come first, then the earlier content.
        shared.sort_unstable();
        let mut ranked: Vec<(usize, usize)> = shared
            .chunk_by(|a, b| a == b)
            .map(|same| (usize::MAX - same.len(), same[0]))
            .collect();
        ranked.sort_unstable();
        let (mut best, mut left): (Option<(usize, f64)>, usize) = (None, self.most);
        for (_, kept) in ranked {
            if left == 0 {
                self.cut_short += 1;
                break;
            }
            let jaccard = self.jaccard(&self.kept[kept], shingles);
            if jaccard < self.threshold {
                left -= 1;
                continue;
            }
            let is_better = |(other, highest): (usize, f64)| {
                jaccard > highest || (jaccard >= highest && kept < other)
            };
            if best.is_none_or(is_better) {
                best = Some((kept, jaccard));
            }
        }
        best
    }

    /// Exact Jaccard similarity, or 0 if the sizes show that it is below the threshold.
    fn jaccard(&self, a: &ShingleSet, b: &ShingleSet) -> f64 {
        let (small, large) = (a.len().min(b.len()), a.len().max(b.len()));
        if !sizes_fit(small, large, self.threshold) {
            return 0.0;
        }
        a.jaccard(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(from: u32) -> ShingleSet {
        ShingleSet::from_hashes((from..from + 100).collect())
    }

    #[test]
    fn of_equally_similar_contents_the_first_one_is_named() {
        let mut keeper = Keeper::new(0.6).unwrap();
        assert_eq!(keeper.judge(&[1], set(0)), Verdict::Kept(0));
        assert_eq!(keeper.judge(&[2, 3], set(50)), Verdict::Kept(1));
        // The second one shares more buckets, so it is compared first.
        assert_eq!(keeper.judge(&[1, 2, 3], set(25)), Verdict::Like(0, 0.6));
        assert_eq!(
            keeper.judge(&[1, 2, 3], set(26)),
            Verdict::Like(1, 76.0 / 124.0)
        );
    }

    #[test]
    fn what_shares_most_buckets_is_compared_first() {
        let mut keeper = Keeper::new(0.6).unwrap().most(1);
        assert_eq!(keeper.judge(&[1, 9], set(0)), Verdict::Kept(0));
        assert_eq!(keeper.judge(&[1, 2], set(500)), Verdict::Kept(1));
        assert_eq!(
            keeper.judge(&[1, 2], set(501)),
            Verdict::Like(1, 99.0 / 101.0)
        );
        // The first one does not match, and no other one is compared.
        assert_eq!(keeper.judge(&[1, 9], set(502)), Verdict::Kept(2));
        assert_eq!(keeper.cut_short(), 1);
    }
}

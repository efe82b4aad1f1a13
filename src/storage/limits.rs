//! Limits at which the store switches to another method.

/// The sizes of batches, and the thresholds above which another method pays.
///
/// None of this is stored, and a store written with some limits can be read with any others. Tests set low limits, so
/// that small stores take every path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum of the average number of postings in a leaf of a bucket table.
    pub(crate) leaf_postings: u64,
    /// The minimum number of recent contents that are merged into tables: merging fewer does not pay.
    pub(crate) merged: u64,
    /// The maximum number of postings in a part of a list that is merged at a time.
    pub(crate) merged_part: u64,
    /// A merge is spread over the commits of at least this many contents.
    pub(crate) merge_spread: u64,
    /// A level takes in all younger contents once their number times this reaches the number of its own.
    pub(crate) level_ratio: u64,
    /// A level with fewer contents than this takes them in at once: rewriting it is cheap, and another table would slow
    /// down every query.
    pub(crate) small_level: u64,
    /// The number of contents that a rebuild takes over at a time.
    pub(crate) taken_over: u32,
    /// The number of column bytes, and of postings, that a rebuild writes between two checkpoints.
    pub(crate) checkpoint_bytes: u64,
    pub(crate) checkpoint_postings: u64,
    /// A rebuild takes the store's lock once fewer contents than this are left to take over.
    pub(crate) few_behind: u32,
    /// An index is loose when at least this many contents were added since it was written as a whole, and at least one
    /// in `all_to_loose` of all contents.
    pub(crate) loose: u64,
    pub(crate) all_to_loose: u64,
    /// With more contents without postings than this, a rebuild first puts those into the tables.
    pub(crate) many_unbanded: u64,
    /// The number of contents of each bucket that a search reads at first: where one match is enough, and where all are
    /// wanted. The third is the next number, large enough to show which contents share most buckets.
    pub(crate) few_of_bucket: usize,
    pub(crate) some_of_bucket: usize,
    pub(crate) many_of_bucket: usize,
    /// The size of a bucket above which clustering does more than compare all pairs.
    pub(crate) large_bucket: usize,
    /// The number of entries, of 8 bytes each, in the index of such a bucket, unless a single content has more.
    pub(crate) bucket_entries: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            leaf_postings: 256,
            merged: 1 << 10,
            merged_part: 1 << 17,
            merge_spread: 1 << 9,
            level_ratio: 3,
            small_level: 1 << 17,
            taken_over: 1 << 12,
            checkpoint_bytes: 64 << 20,
            checkpoint_postings: 16 << 20,
            few_behind: 1 << 12,
            loose: 1 << 16,
            all_to_loose: 6,
            many_unbanded: 1 << 15,
            few_of_bucket: 4,
            some_of_bucket: 1 << 6,
            many_of_bucket: 1 << 10,
            large_bucket: 64,
            bucket_entries: 1 << 23,
        }
    }
}

impl Limits {
    /// Limits that a store of a few dozen contents reaches.
    #[cfg(any(test, fuzzing))]
    pub(crate) const LOW: Limits = Limits {
        leaf_postings: 8,
        merged: 2,
        merged_part: 4,
        merge_spread: 12,
        level_ratio: 2,
        small_level: 6,
        taken_over: 2,
        checkpoint_bytes: 64,
        checkpoint_postings: 400,
        few_behind: 1,
        loose: 4,
        all_to_loose: 6,
        many_unbanded: 2,
        few_of_bucket: 2,
        some_of_bucket: 6,
        many_of_bucket: 15,
        large_bucket: 4,
        bucket_entries: 1 << 6,
    };

    /// The number of contents of each bucket that a search reads after `depth`.
    ///
    /// Each round looks up the tables again, so the number grows.
    pub(crate) fn deeper(&self, depth: usize) -> usize {
        if depth < self.many_of_bucket {
            self.many_of_bucket
        } else {
            depth.saturating_mul(2)
        }
    }
}

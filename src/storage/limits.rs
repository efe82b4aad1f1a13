//! From how much on something is done in another way.

/// How much is done at a time, and from how much on another way pays.
///
/// None of this is stored, and a store that was written with some limits is read with any others. Tests
/// set low ones, so that small stores see every path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Postings that a leaf of a bucket table holds, at most and on average.
    pub(crate) leaf_postings: u64,
    /// Recent contents that are merged into tables, at least: fewer are not worth it.
    pub(crate) merged: u64,
    /// A level takes in all that is younger once that comes to one in so many of its contents,
    pub(crate) level_ratio: u64,
    /// and at once while it has fewer than this: then writing them all is cheap, and another table would make every
    /// question dearer.
    pub(crate) small_level: u64,
    /// Contents that a rebuild takes over at a time.
    pub(crate) taken_over: u32,
    /// Bytes of columns, and postings, that a rebuild writes between two checkpoints.
    pub(crate) checkpoint_bytes: u64,
    pub(crate) checkpoint_postings: u64,
    /// A rebuild asks for the store's lock once fewer contents than this are to be taken over.
    pub(crate) few_behind: u32,
    /// An index is loose when this many contents came since it was written as a whole, and one to so
    /// many of all.
    pub(crate) loose: u64,
    pub(crate) all_to_loose: u64,
    /// With more contents than this without postings, it puts those into the tables first.
    pub(crate) many_unbanded: u64,
    /// Contents of each bucket that a search reads at first where one match is enough, where all are
    /// wanted, and next, so many that it tells something which of them share most buckets.
    pub(crate) few_of_bucket: usize,
    pub(crate) some_of_bucket: usize,
    pub(crate) many_of_bucket: usize,
    /// Contents of a bucket from which on clusters do more than comparing each with each.
    pub(crate) large_bucket: usize,
    /// Entries, of 8 bytes each, that the index of such a bucket holds, unless a single content has more.
    pub(crate) bucket_entries: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            leaf_postings: 256,
            merged: 1 << 10,
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
    /// Limits that a store of some dozen contents reaches.
    #[cfg(any(test, fuzzing))]
    pub(crate) const LOW: Limits = Limits {
        leaf_postings: 8,
        merged: 2,
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

    /// Contents of each bucket that a search reads after so many. Tables are looked up anew each time,
    /// so ever more are.
    pub(crate) fn deeper(&self, depth: usize) -> usize {
        if depth < self.many_of_bucket {
            self.many_of_bucket
        } else {
            depth.saturating_mul(2)
        }
    }
}

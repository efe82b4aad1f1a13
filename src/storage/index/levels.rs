//! The levels of bucket tables, as recorded in the index.

/// The number of levels of tables in a list of buckets.
pub(crate) const LEVELS: usize = 4;

/// The contents of a level's tables.
///
/// Level 0 has the youngest contents. Each level has older contents than the level before it, and more of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LevelState {
    /// Contents below this id have their postings in this level or in an older one.
    ///
    /// A level with tables ends above the next older one.
    pub(crate) end: u64,
    /// The number of contents with postings in this level, without removed ones.
    pub(crate) posted: u64,
    /// The number of contents that were removed since the level was written. At most these still have postings in it.
    pub(crate) removed: u64,
    /// The number of bits in the leaves' keys.
    pub(crate) prefix_bits: u64,
}

/// The start of a level: it has the contents from there to its end.
pub(crate) fn start(levels: &[LevelState; LEVELS], level: usize) -> u64 {
    levels.get(level + 1).map_or(0, |older| older.end)
}

/// The names of the fields of each level.
const NAMES: [[&str; 4]; LEVELS] = [
    ["end-0", "posted-0", "removed-0", "prefix-bits-0"],
    ["end-1", "posted-1", "removed-1", "prefix-bits-1"],
    ["end-2", "posted-2", "removed-2", "prefix-bits-2"],
    ["end-3", "posted-3", "removed-3", "prefix-bits-3"],
];

/// The fields of all levels, with their names in the index.
pub(super) fn fields(
    levels: &mut [LevelState; LEVELS],
) -> impl Iterator<Item = (&'static str, &mut u64)> {
    let named = NAMES.into_iter().zip(levels);
    named.flat_map(|([end, posted, removed, prefix_bits], level)| {
        [
            (end, &mut level.end),
            (posted, &mut level.posted),
            (removed, &mut level.removed),
            (prefix_bits, &mut level.prefix_bits),
        ]
    })
}

/// A merge that is spread over several commits. All zeros if there is none.
///
/// Its tables are built beside those of the levels, list by list, and each list in parts by the upper bits of the
/// hashes. Nobody reads them before the last commit of the merge puts them in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MergeState {
    /// A random number of the handle that merges. Only this handle knows what the filters gained so far.
    pub(crate) owner: u64,
    /// The level that all younger contents are merged into.
    pub(crate) into: u64,
    /// Contents below this id are merged.
    pub(crate) end: u64,
    /// The number of contents that are merged, without removed ones.
    pub(crate) posted: u64,
    /// The number of contents among them that were removed since the merge began.
    pub(crate) removed: u64,
    /// The number of bits in the keys of the new tables' leaves.
    pub(crate) prefix_bits: u64,
    /// Each list has two to the power of this many parts.
    pub(crate) part_bits: u64,
    /// The number of parts, of all lists together, that are built.
    pub(crate) built: u64,
    /// The numbers of the filters that replace the present ones, or 0.
    pub(crate) young_filter: u64,
    pub(crate) old_filter: u64,
}

impl MergeState {
    /// Whether there is a merge.
    pub(crate) fn is_under_way(&self) -> bool {
        self.owner != 0
    }

    pub(super) fn fields(&mut self) -> [(&'static str, &mut u64); 10] {
        [
            ("merge-owner", &mut self.owner),
            ("merge-into", &mut self.into),
            ("merge-end", &mut self.end),
            ("merge-posted", &mut self.posted),
            ("merge-removed", &mut self.removed),
            ("merge-prefix-bits", &mut self.prefix_bits),
            ("merge-part-bits", &mut self.part_bits),
            ("merge-built", &mut self.built),
            ("merge-young-filter", &mut self.young_filter),
            ("merge-old-filter", &mut self.old_filter),
        ]
    }
}

//! The levels of bucket tables: what the index says of each.

/// Levels of tables that a list of buckets has.
pub(crate) const LEVELS: usize = 4;

/// What is in the tables of a level. Level 0 has the youngest contents; each level has older ones than the level before it,
/// and more of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LevelState {
    /// Contents below this id have their postings in this level or in an older one. A level that has tables ends above the
    /// next older one.
    pub(crate) end: u64,
    /// Contents with postings in this level, removed ones not included.
    pub(crate) posted: u64,
    /// Bits of the leaves' keys.
    pub(crate) prefix_bits: u64,
}

/// Where a level begins: it has the contents from there to its end.
pub(crate) fn start(levels: &[LevelState; LEVELS], level: usize) -> u64 {
    levels.get(level + 1).map_or(0, |older| older.end)
}

/// The names of the fields of each level.
const NAMES: [[&str; 3]; LEVELS] = [
    ["end-0", "posted-0", "prefix-bits-0"],
    ["end-1", "posted-1", "prefix-bits-1"],
    ["end-2", "posted-2", "prefix-bits-2"],
    ["end-3", "posted-3", "prefix-bits-3"],
];

/// The numbers of all levels, and what they are called in the index.
pub(super) fn fields(
    levels: &mut [LevelState; LEVELS],
) -> impl Iterator<Item = (&'static str, &mut u64)> {
    let named = NAMES.into_iter().zip(levels);
    named.flat_map(|([end, posted, prefix_bits], level)| {
        [
            (end, &mut level.end),
            (posted, &mut level.posted),
            (prefix_bits, &mut level.prefix_bits),
        ]
    })
}

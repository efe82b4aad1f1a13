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
    /// The number of bits in the leaves' keys.
    pub(crate) prefix_bits: u64,
}

/// The start of a level: it has the contents from there to its end.
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

/// The fields of all levels, with their names in the index.
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

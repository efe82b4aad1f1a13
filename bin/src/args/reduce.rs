//! Arguments of `reduce`.

use super::SketchingArgs;

/// List the similar pairs from the sorted lines of `map`
///
/// Reads standard input, in which lines with the same key are next to each other. Each pair is
/// listed once, even if several reducers divide the keys among them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb map < pages.jsonl | sort | dedupdb reduce > pairs.tsv
  dedupdb map --threshold 0.9 --permutations 960 --bands 60x16 < pages.jsonl
    | LC_ALL=C sort | dedupdb reduce --threshold 0.9 --permutations 960 --bands 60x16

Each line has three columns, separated by tabs: ID_A, ID_B and JACCARD. ID_A sorts before ID_B, and
JACCARD is exact. Control characters in ids are escaped, as in \\n; --json prints ids unescaped, in
objects with `key_a`, `key_b` and `jaccard`. Pairs are ordered by the keys of the input, and for
each key by the numbers of shingles and the ids.

A pair that shares several keys is listed at the first band that both share, which follows from the
shingles. Memory holds the documents of one key (4.4 bytes per shingle), those of similar size
(4 bytes per shingle and band), and 8 MiB.

These are errors:
  a foreign line  `map` did not write it, or wrote it with other parameters
  a repeated key  A key that comes again after other keys: the input is not sorted. To notice this,
    `reduce` remembers most of the last million keys
  a repeated id  An id that stands for two texts. It is counted, and its pairs are listed

A repeated line is not an error. Each line has a checksum, so a damaged one is an error, too.

Exit codes: 0 done, with or without pairs, 2 error, 130 interrupted.")]
pub(crate) struct ReduceArgs {
    #[command(flatten, next_help_heading = "Parameters, the same as those of map")]
    pub(crate) sketching: SketchingArgs,
}

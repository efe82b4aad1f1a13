//! Arguments of `reduce`.

use super::Sketching;

/// List the pairs of documents that are alike, from the sorted lines of `map`
///
/// Reads standard input, where lines of the same key are side by side. Each pair is listed once,
/// also by several reducers that share the keys among them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb map < pages.jsonl | sort | dedupdb reduce > pairs.tsv
  dedupdb map --threshold 0.9 --permutations 960 --bands 60x16 < pages.jsonl \\
    | LC_ALL=C sort | dedupdb reduce --threshold 0.9 --permutations 960 --bands 60x16

A line has three columns with tabs between them: ID_A, ID_B, JACCARD, where ID_A comes before ID_B
and JACCARD is exact. Control characters in ids are spelled out, as in \\n; --json gives ids as they
are, in objects with `key_a`, `key_b` and `jaccard`. Pairs are ordered by their keys of the input, in
each by the numbers of shingles and the ids.

A pair that shares several keys is listed where the first band meets that both share, which its
shingles tell. Memory is that of the documents of one key, 4.4 bytes a shingle, of those of them
that fit the size of one, 4 bytes a shingle and a band, and 8 MiB.

Errors are a line that map did not write, one that it wrote with other parameters, and a key that
comes back after others: then the input is not sorted. Of the last million keys most are remembered
for that. So is an id that stands for two texts, where both meet: it is counted, and the pairs are
listed. The same line twice is no error. Lines have no checksum; shingles that do not lead to their key are noticed.

Exit codes: 0 done, whether or not there are pairs, 2 error, 130 interrupted.")]
pub(crate) struct Reduce {
    #[command(flatten, next_help_heading = "Parameters, those that map was given")]
    pub(crate) sketching: Sketching,
}

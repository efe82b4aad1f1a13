//! Arguments of `tune`.

use std::path::PathBuf;

use crate::parse;

/// Compare choices of bands: what each finds, and what it costs
///
/// What a choice finds is computed. Its false candidates, which turn out not to match, are measured on a
/// sample of the store's contents. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb tune  With the store's threshold and permutations
  dedupdb tune --threshold 0.7 --recall 99%  What would a lower threshold cost?
  dedupdb tune --permutations 256 --plot s.svg  With longer signatures; draw the S-curves
  dedupdb tune --contents 10000000  For the size that the store will reach
  dedupdb --json tune | jq '.shapes[] | select(.is | index(\"best\"))'

With b bands of r rows, a pair of similarity J is found with probability 1 - (1 - J^r)^b. For each
number of rows, the table has the smallest number of bands that reaches the recall:
  best  The one with the least work for each query
  current  The one of the store
  textbook  The one whose S-curve is steepest near the threshold, at (1/b)^(1/r)

If the sample has fewer than 30 pairs between 0.2 and the threshold, it cannot tell choices apart,
and none is best.

The best choice changes as a store grows. The cost of look-ups stays the same, and false candidates
grow with the number of contents (--contents), so more rows pay off.

False candidates are an average over all random permutations, ± the uncertainty of the sample. With
fewer than about twenty slots, the store's own permutations may give several times as many, or
several times fewer.

Without a store, give --permutations; then false candidates are not measured.

Exit codes: 0 done, 2 error.")]
pub(crate) struct TuneArgs {
    /// Minimum Jaccard similarity of near-duplicates, instead of the store's: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Share of the pairs at the threshold to find: 0.98 or 98%
    #[arg(long, value_name = "SHARE", value_parser = parse::recall, default_value = "0.98")]
    pub(crate) recall: f64,

    /// Number of slots that the bands may use, instead of the store's
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Number of contents that the store will reach: false candidates grow with it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) contents: Option<u64>,

    /// Draw the S-curves into this file
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

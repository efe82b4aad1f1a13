//! Arguments of `tune`.

use std::path::PathBuf;

use crate::parse;

/// Show which shapes of bands would do, and what each finds and costs
///
/// What a shape finds is computed; the false candidates that it makes, texts that queries look at
/// in vain, are measured on a sample of the store's own contents. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb tune                                    the store's threshold and permutations
  dedupdb tune --threshold 0.7 --recall 99%       what would it take?
  dedupdb tune --permutations 256 --plot s.svg    another budget; draw the S-curves
  dedupdb tune --contents 10000000                for what the store will have grown to
  dedupdb --json tune | jq '.shapes[] | select(.is | index(\"best\"))'

A shape of b bands of r rows finds a pair of similarity J with probability 1 - (1 - J^r)^b. Of
each number of rows the fewest bands that reach the recall are shown; `best` is the one of least
work, `current` the store's, `textbook` the one whose steepest point, (1/b)^(1/r), is nearest to
the threshold. What is best changes as a store grows: look-ups stay, false candidates grow with
the number of contents (--contents), and with them it pays to have more rows.

False candidates are an average over all draws of the permutations, ± what the sample leaves open.
With shapes of fewer than about twenty slots, a store's own draw may make several times as many or
as few.

Without a store, give --permutations; then false candidates are not measured.

Exit codes: 0 done, 2 error.")]
pub(crate) struct Tune {
    /// Least Jaccard similarity of near-duplicates, instead of the store's: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Share of the pairs at the threshold that are to be found: 0.98 or 98%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.98")]
    pub(crate) recall: f64,

    /// Slots of a signature that bands may use, instead of the store's
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Contents that the store will have grown to: false candidates grow with them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) contents: Option<u64>,

    /// Draw the S-curves into this file
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

//! Arguments of `eval recall`.

use super::Results;
use crate::parse;

/// Measure how many of its true pairs a store finds, beside what was promised
///
/// The true pairs are found without bands: by an exact join over all shingles, or, with --sample, by
/// comparing some texts with all others. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval recall
  dedupdb eval recall --threshold 0.5 --plot recall.svg    the whole S-curve
  dedupdb eval recall --store history --sample 500         a large store

A line of the table is for the pairs of a range of similarities, the last one for all:

  pairs       distinct texts that are so much alike, whatever the bands say
  found       those of them that the store finds through its bands
  recall      their share, and its 95% confidence interval (Wilson, 1927)
  predicted   what the S-curve 1 - (1 - J^r)^b says of their exact similarities
  precision   share of what the store finds that is so much alike: always 100%, because it compares
              the shingles of all pairs that share a band. Below the table is the candidate precision,
              the share of those pairs that is so much alike

With --sample, a pair of two texts that are drawn counts once. The interval takes the pairs for independent. They are not: those of a text share its bands, so that
a corpus of a few large groups says less than its number of pairs.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Recall {
    /// Least Jaccard similarity of the pairs, instead of the store's: 0.5 or 50%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Ask about so many texts, drawn by the hash of their keys, instead of all
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) sample: Option<usize>,

    /// Number that the texts of a sample are drawn with, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) results: Results,
}

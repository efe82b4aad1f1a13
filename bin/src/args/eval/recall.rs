//! Arguments of `eval recall`.

use super::EvalResultArgs;
use crate::parse;

/// Measure how many of its true pairs a store finds, next to the prediction
///
/// The true pairs are found without bands: by an exact join over all shingles or, with --sample, by
/// comparing some texts with all others. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval recall
  dedupdb eval recall --threshold 0.5 --plot recall.svg  The whole S-curve
  dedupdb eval recall --store history --sample 500  A large store

Each line of the table is for the pairs in a range of similarities, the last one for all:
  pairs  Pairs of distinct texts in this range, whether or not the bands find them
  found  Pairs that the store finds through its bands
  recall  Their share, and its 95% confidence interval
  predicted  What the S-curve 1 - (1 - J^r)^b predicts from the exact similarities
  precision  Share of the found pairs that are in this range: always 100%, because the store
    compares the shingles of all pairs that share a band. The candidate precision below the table
    is the share of those with a common shingle that are. Texts without one can share a band by
    chance if slots are short; `tune` counts these, too

With --sample, a pair of two sampled texts counts once. The interval takes groups of texts that are
connected by pairs for independent, not pairs, because similar texts share their bands. A corpus of
a few large groups is therefore less conclusive than its number of pairs suggests.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct RecallArgs {
    /// Minimum Jaccard similarity of the pairs, instead of the store's: 0.5 or 50%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Ask about N texts, chosen by the hash of their keys, instead of all
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) sample: Option<usize>,

    /// Seed of the sample, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) results: EvalResultArgs,
}

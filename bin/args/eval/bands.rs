//! Arguments of `eval bands`.

use dedupdb::sketching::Family;

use super::{Results, Sets, Texts};
use crate::parse;

/// Measure what numbers of bands find and what they look at in vain
///
/// Some texts of the corpus, drawn by the hash of their keys, are compared with all others: exactly,
/// and by bands of their signatures. Nothing is stored.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval bands articles/
  dedupdb eval bands articles/ --permutations 1200 --bands 15,20,30,60,100,120 --threshold 0.9
  dedupdb eval bands pages.jsonl --permutations 100 --bands 2,5,10,20 --queries all

All figures are of an average query; beside what was measured is, in brackets, what the S-curve
1 - (1 - J^r)^b says of the exact similarities of the same pairs.

  found            near-duplicates that share a band with the query
  candidates       texts that share a band with it
  false positives  candidates below the threshold, and their share of all texts below it
  false negatives  near-duplicates that share no band, and their share of the near-duplicates
  midpoint         (1/b)^(1/r), where the S-curve is about steepest

A prediction is an average over all draws of the permutations; --seed takes another one.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Bands {
    /// Numbers of bands; each has as many rows as the permutations give
    #[arg(long = "bands", value_name = "B,B,...", value_delimiter = ',', default_values_t = [8, 12, 16, 21, 32])]
    pub(crate) numbers: Vec<u32>,

    /// Slots of a signature
    #[arg(long, value_name = "N", default_value = "128")]
    pub(crate) permutations: u32,

    /// Least Jaccard similarity of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Texts that are compared with all others: a number, or all
    #[arg(long, value_name = "N|all", value_parser = parse::some_or_all, default_value = "100")]
    pub(crate) queries: parse::Number,

    /// How permutations are drawn
    #[arg(long, value_name = "FAMILY", default_value_t)]
    pub(crate) family: Family,

    /// Number that the permutations and the queries are drawn with, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) sets: Sets,

    #[command(flatten)]
    pub(crate) results: Results,

    #[command(flatten)]
    pub(crate) texts: Texts,
}

//! Arguments of `eval bands`.

use dedupdb::sketching::Family;

use super::{EvalResultArgs, EvalShingleArgs, EvalTextArgs};
use crate::parse;

/// Measure what different numbers of bands find, and how many candidates do not match
///
/// Compares some texts of the corpus, chosen by the hash of their keys, with all others: exactly,
/// and by bands of their signatures. Nothing is stored.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval bands articles/
  dedupdb eval bands articles/ --permutations 1200 --bands 15,20,30,60,100,120 --threshold 0.9
  dedupdb eval bands pages.jsonl --permutations 100 --bands 2,5,10,20 --queries all

All figures are for an average query. Brackets hold the prediction of the S-curve 1 - (1 - J^r)^b
from the exact similarities of the same pairs:
  found  Near-duplicates that share a band with the query
  candidates  Texts that share a band with the query
  false positives  Candidates below the threshold, and their share of all texts below it
  false negatives  Near-duplicates that share no band, and their share of all near-duplicates
  midpoint  (1/b)^(1/r), where the S-curve is about steepest

A prediction is an average over all random permutations; --seed chooses others.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct BandsArgs {
    /// Numbers of bands; the permutations are divided evenly among them
    #[arg(long = "bands", value_name = "B,B,...", value_delimiter = ',', default_values_t = [8, 12, 16, 21, 32])]
    pub(crate) numbers: Vec<u32>,

    /// Slots of a signature
    #[arg(long, value_name = "N", default_value = "128")]
    pub(crate) permutations: u32,

    /// Minimum Jaccard similarity of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Number of texts to compare with all others, or all
    #[arg(long, value_name = "N|all", value_parser = parse::some_or_all, default_value = "100")]
    pub(crate) queries: parse::CountOrAll,

    /// Family of the permutations
    #[arg(long, value_name = "FAMILY", default_value_t)]
    pub(crate) family: Family,

    /// Seed of the permutations and of the choice of queries, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) sets: EvalShingleArgs,

    #[command(flatten)]
    pub(crate) results: EvalResultArgs,

    #[command(flatten)]
    pub(crate) texts: EvalTextArgs,
}

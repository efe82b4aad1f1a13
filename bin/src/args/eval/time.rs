//! Arguments of `eval time`.

use dedupdb::sketching::Family;

use super::{EvalResultArgs, EvalShingleArgs, EvalTextArgs};
use crate::parse;

/// Measure the cost of comparing all texts: exactly, by signatures, and by bands
///
/// Measures growing parts of the corpus, each twice as large as the one before, chosen by the hash
/// of the keys.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval time articles/
  dedupdb eval time articles/ --permutations 150,350,600 --plot time.svg
  dedupdb eval time articles/ --all-pairs 20000 -o time.csv

The table has the seconds of one thread for each number of texts; shingles are made beforehand:
  exact  Jaccard similarities of all pairs
  signatures  Signatures of all texts
  estimates  Similarities of all pairs by their signatures
  LSH  Signatures, bands, and the exact similarities of all pairs that share a band

The bands of LSH find 98% of the pairs at the --threshold. How many pairs it compares depends on the
texts and has no bound. Beyond --all-pairs texts, the times for all pairs are computed from the
largest measured part by the number of pairs, and marked with ~. The number of texts from which LSH
is faster than all exact similarities is interpolated between two parts, on a straight line of the
logarithms.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct TimeArgs {
    /// Numbers of slots of a signature
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [128])]
    pub(crate) permutations: Vec<u32>,

    /// Minimum Jaccard similarity that LSH must find: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Largest number of texts of which all pairs are compared; pairs grow with its square
    #[arg(long, value_name = "N", value_parser = parse::at_least_two, default_value = "5000")]
    pub(crate) all_pairs: usize,

    /// Family of the permutations
    #[arg(long, value_name = "FAMILY", default_value_t)]
    pub(crate) family: Family,

    /// Seed of the permutations and of the choice of texts, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) sets: EvalShingleArgs,

    #[command(flatten)]
    pub(crate) results: EvalResultArgs,

    #[command(flatten)]
    pub(crate) texts: EvalTextArgs,
}

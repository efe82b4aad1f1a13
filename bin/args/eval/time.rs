//! Arguments of `eval time`.

use dedupdb::sketching::Family;

use super::{Results, Sets, Texts};
use crate::parse;

/// Measure what comparing all texts costs, exactly, by signatures and by bands
///
/// At growing parts of the corpus, each twice the one before it, drawn by the hash of the keys.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval time articles/
  dedupdb eval time articles/ --permutations 150,350,600 --plot time.svg
  dedupdb eval time articles/ --all-pairs 20000 -o time.csv

Seconds of one thread, shingles made beforehand, for each number of texts:

  exact        Jaccard similarities of all pairs
  signatures   signatures of all texts
  estimates    similarities of all pairs by their signatures, which are there
  LSH          signatures, bands, and the exact similarities of all pairs that share a band

The bands of LSH find 98% of the pairs at the --threshold; how many pairs it compares is up to the
texts, and has no bound. Beyond --all-pairs texts the times of all pairs are computed from the largest part that was measured, by the number of pairs, and are marked
with ~. From how many texts on LSH takes less than all exact similarities is read off between the
last part where it does not and the next, on a straight line of the logarithms.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Time {
    /// Numbers of slots of a signature
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [128])]
    pub(crate) permutations: Vec<u32>,

    /// Least Jaccard similarity that LSH is to find: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Texts up to which all pairs are compared; their number grows with the square
    #[arg(long, value_name = "N", value_parser = parse::at_least_two, default_value = "5000")]
    pub(crate) all_pairs: usize,

    /// How permutations are drawn
    #[arg(long, value_name = "FAMILY", default_value_t)]
    pub(crate) family: Family,

    /// Number that the permutations and the texts are drawn with, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) sets: Sets,

    #[command(flatten)]
    pub(crate) results: Results,

    #[command(flatten)]
    pub(crate) texts: Texts,
}

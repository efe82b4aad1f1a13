//! Arguments of `eval accuracy`.

use dedupdb::sketching::{Family, Shingling};

use super::{EvalResultArgs, EvalTextArgs};
use crate::parse;

/// Measure how far estimates are from exact similarities, next to ideal permutations
///
/// Compares all pairs of texts exactly and by signatures, in several runs with different
/// permutations: seeds 0, 1, 2 and so on.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval accuracy articles/ --sample 1000
  dedupdb eval accuracy articles/ --permutations 400,600,800 --epsilon 0.04,0.07,0.09
  dedupdb eval accuracy articles/ --family affine32,xor,murmur  Compare families
  dedupdb eval accuracy articles/ --shingling word:1,word:3,word:5  Compare lengths of shingles

Each line of the table is for one number of permutations and one epsilon, for each kind of shingle
and family:
  off  Pairs whose estimate differs from their exact similarity by more than epsilon: the mean of
    the runs
  ideal  The same, expected of ideal permutations, whose slots agree independently with
    probability J: the sum of P(|X / k - J| > epsilon) over all pairs, where X is binomial with k
    and J
  deviation  The difference from ideal, in standard errors
  error  Root mean square of all differences, and its expectation for ideal permutations
  signing  Seconds for the longest signatures of all texts

With several --shingling, the texts are read once for each, so they cannot come from standard input.
The standard error is that of the mean of the runs or, if that is larger, of runs in which all pairs
are independent. They are not: each text is in many pairs, and a run gets them all too high or too
low together.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct AccuracyArgs {
    /// Numbers of slots of a signature
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [128, 256, 512])]
    pub(crate) permutations: Vec<u32>,

    /// Differences from which an estimate counts as off: 0.05 or 5%
    #[arg(
        long,
        value_name = "E,E,...",
        value_delimiter = ',',
        value_parser = parse::share,
        default_values_t = [0.05, 0.1]
    )]
    pub(crate) epsilon: Vec<f64>,

    /// Number of runs, each with different permutations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value = "15")]
    pub(crate) runs: u32,

    /// Families of the permutations: affine32, linear-prime, xor, modular, jenkins, murmur
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_values_t = [Family::default()])]
    pub(crate) family: Vec<Family>,

    /// Kinds of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND,...", value_parser = parse::parameter::<Shingling>, value_delimiter = ',', default_values_t = [Shingling::default()])]
    pub(crate) shingling: Vec<Shingling>,

    /// Compare N texts, chosen by the hash of their keys, instead of all
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) sample: Option<usize>,

    #[command(flatten)]
    pub(crate) results: EvalResultArgs,

    #[command(flatten)]
    pub(crate) texts: EvalTextArgs,
}

//! Arguments of `eval accuracy`.

use dedupdb::sketching::{Family, Shingling};

use super::{Results, Texts};
use crate::parse;

/// Measure how far estimates are from exact similarities, beside what ideal permutations give
///
/// All pairs of texts are compared exactly and by signatures, in several runs with permutations of
/// their own: seeds 0, 1, 2 and so on.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval accuracy articles/ --sample 1000
  dedupdb eval accuracy articles/ --permutations 400,600,800 --epsilon 0.04,0.07,0.09
  dedupdb eval accuracy articles/ --family affine32,xor,murmur      family against family
  dedupdb eval accuracy articles/ --shingling word:1,word:3,word:5  by the length of shingles

A line of the table is for a number of permutations and an epsilon, of each kind of shingle and family:

  off        pairs whose estimate differs from their exact similarity by more than epsilon, the mean
             of the runs
  ideal      the same expected of ideal permutations, whose slots agree with probability J, each for
             itself: the sum of P(|X / k - J| > epsilon) over all pairs, X binomial of k and J
  deviation  how much more than ideal, in standard errors
  error      root of the mean square of all differences, and what is expected of ideal permutations
  signing    seconds for the largest signatures of all texts

With several --shingling, the texts are read once for each, so they cannot come from standard input.
The standard error is that of the mean of the runs, or, if that is larger, of runs in which all pairs
are independent. They are not: a text is in many pairs, which a run finds too high or too low together.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Accuracy {
    /// Numbers of slots of a signature
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [128, 256, 512])]
    pub(crate) permutations: Vec<u32>,

    /// Differences that are counted from: 0.05 or 5%
    #[arg(
        long,
        value_name = "E,E,...",
        value_delimiter = ',',
        value_parser = parse::share,
        default_values_t = [0.05, 0.1]
    )]
    pub(crate) epsilon: Vec<f64>,

    /// Runs, each with permutations of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value = "15")]
    pub(crate) runs: u32,

    /// Families of the permutations: affine32, linear-prime, xor, modular, jenkins, murmur
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_values_t = [Family::default()])]
    pub(crate) family: Vec<Family>,

    /// Pieces of text that are compared: word:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', default_values_t = [Shingling::default()])]
    pub(crate) shingling: Vec<Shingling>,

    /// Compare so many texts, drawn by the hash of their keys, instead of all
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) sample: Option<usize>,

    #[command(flatten)]
    pub(crate) results: Results,

    #[command(flatten)]
    pub(crate) texts: Texts,
}

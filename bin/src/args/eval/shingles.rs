//! Arguments of `eval shingles`.

use super::{EvalResultArgs, EvalTextArgs};
use crate::parse;

/// Measure how the kind and length of shingles change similarities, and which choice separates best
///
/// Compares words, characters with and without white space, and bytes, each normalized (lowercase,
/// NFKC) and unchanged.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval shingles a.txt b.txt  Two texts
  dedupdb eval shingles articles/ --sample 500  Which shingles suit this corpus?
  dedupdb eval shingles articles/ --k 1..12 --plot shingles.svg

Compares all pairs of texts. A word diff decides which pairs are near-duplicates, so that no kind of
shingle judges itself: 2 x kept words / words of both must reach the --threshold. At most 50,000
words of each text are compared in this way; the output says if there are more. For each kind and
length:
  near  Mean similarity of the near-duplicates, and the similarity that 95% of them reach
  others  Mean similarity of all other pairs, and the similarity that 99.9% of them do not exceed
  gap  The difference of these two bounds: the room for a threshold between them. The widest is
    marked as best; if none is above 0, no choice separates the two groups

The time is that of making the shingles of all texts, on one thread.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct ShinglesArgs {
    /// Lengths of shingles: a range such as 1..12, or one length
    #[arg(long, value_name = "K..K", value_parser = parse::lengths, default_value = "1..12")]
    pub(crate) k: parse::Lengths,

    /// Share of words that near-duplicates have in common in a word diff: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Compare N texts, chosen by the hash of their keys, instead of all
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) sample: Option<usize>,

    /// Seed of the sample, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) results: EvalResultArgs,

    #[command(flatten)]
    pub(crate) texts: EvalTextArgs,
}

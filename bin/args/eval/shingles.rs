//! Arguments of `eval shingles`.

use super::{Results, Texts};
use crate::parse;

/// Measure how the length and kind of shingles change similarities, and which tells best apart
///
/// Words, characters with white space and without, and bytes; lowercased (and NFKC) and as they are.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb eval shingles a.txt b.txt                  two texts
  dedupdb eval shingles articles/ --sample 500       which shingles suit this corpus?
  dedupdb eval shingles articles/ --k 1..12 --plot shingles.svg

Of more than two texts all pairs are compared. Which of them are near-duplicates is not for shingles
to say here: those are of which a word diff keeps enough, 2 x kept words / words of both, at the
--threshold; of each text the first 50,000 words are compared that way, and the output says so where
there are more. Then, for each kind and length:

  near      mean similarity of the near-duplicates, and what 95% of them reach
  others    mean similarity of all other pairs, and what 99.9% of them do not exceed
  gap       the former bound less the latter: the room for a threshold between the two. The widest
            is marked as best; with a negative one, no threshold keeps them apart

Time is that of making the sets of all texts, on one thread.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Shingles {
    /// Lengths of shingles, from and to: 1..12, or one
    #[arg(long, value_name = "K..K", value_parser = parse::lengths, default_value = "1..12")]
    pub(crate) k: parse::Lengths,

    /// Share of words that a diff keeps of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Compare so many texts, drawn by the hash of their keys, instead of all
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) sample: Option<usize>,

    /// Number that the texts of a sample are drawn with, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) results: Results,

    #[command(flatten)]
    pub(crate) texts: Texts,
}

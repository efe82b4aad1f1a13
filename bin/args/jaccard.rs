//! Arguments of `jaccard`.

use super::Signing;
use crate::inputs::Inputs;

/// Compare two files: their exact Jaccard similarity, and its estimate
///
/// The share of the shingles of either file that both have. No store is used; `explain` compares as
/// a store does, and shows the differences.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb jaccard old.txt new.txt
  dedupdb jaccard --shingling char:9 --permutations 600 old.txt new.txt
  dedupdb --json jaccard old.txt new.txt | jq .jaccard

The estimate is the share of permutations under which both have the same least shingle, with its
standard error.

Exit codes: 0 done, 2 error.")]
pub(crate) struct Jaccard {
    /// A file, or - for standard input
    #[arg(value_name = "A")]
    pub(crate) a: String,

    /// The other one
    #[arg(value_name = "B")]
    pub(crate) b: String,

    #[command(flatten)]
    pub(crate) signing: Signing,

    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

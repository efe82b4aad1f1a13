//! Arguments of `jaccard`.

use super::SigningArgs;
use crate::inputs::InputArgs;
use crate::parse;

/// Compare two files: exact Jaccard similarity and its estimate
///
/// The Jaccard similarity is the share of all shingles of the two files that both have. No store is
/// used. `explain` compares as a store does and shows the differences.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb jaccard old.txt new.txt
  dedupdb jaccard --shingling char:9 --permutations 600 old.txt new.txt
  dedupdb --json jaccard old.txt new.txt | jq .jaccard

The estimate is the share of permutations under which both files have the same smallest shingle,
with its standard error.

Exit codes: 0 done, 2 error.

Details in the documentation: reference/reading.md")]
pub(crate) struct JaccardArgs {
    /// A file, or - for standard input
    #[arg(value_name = "A", value_parser = parse::name(), value_hint = clap::ValueHint::FilePath)]
    pub(crate) a: String,

    /// The other file, or - for standard input
    #[arg(value_name = "B", value_parser = parse::name(), value_hint = clap::ValueHint::FilePath)]
    pub(crate) b: String,

    #[command(flatten)]
    pub(crate) signing: SigningArgs,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

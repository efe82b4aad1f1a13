//! Arguments of `pairs`.

use crate::args::containment::ContainmentArgs;
use crate::parse;

/// List all pairs of similar documents
///
/// Lists each pair once: exact copies first, then the others in the order of their buckets or, with
/// --exhaustive or --containment, by the longer text.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb pairs  All similar pairs
  dedupdb pairs --threshold 95% --fold-copies  The most similar ones, each distinct text once
  dedupdb pairs --between 2025/ 2026/  Only pairs across two folders or crawls
  dedupdb pairs | sort -t$'\\t' -k3,3rn | head  The most similar ones first
  dedupdb pairs --exhaustive --threshold 0.4  Far below the threshold of the bands
  dedupdb pairs --containment 0.8  Texts that are mostly in another one, however long that is

Each line has three columns, separated by tabs: KEY_A, KEY_B and JACCARD. A fourth one,
`exact copy` or `same words`, marks the same text, or another text with the same shingles, which may differ
in case, punctuation and symbols. JACCARD is exact, or, if the store keeps no shingles, an estimate with its standard error, such as ~0.8125±0.0345. Control
characters and backslashes in keys are escaped, as \\n and \\\\; --json prints keys unescaped.

Without --exhaustive, a pair is found if it shares a bucket: at the threshold with the recall that
`init` printed. With it, every pair is found. Use it to measure what the bands miss, if no pair may
be missed, and below the store's threshold. It takes more memory: for each shingle in the store,
about 4 bytes at a threshold of 0.8 and 18 at 0.1, up to 1 GiB, and 30 bytes for each text.

With --containment, each line has the columns CONTAINED, CONTAINER, CONTAINMENT and JACCARD.
CONTAINMENT is the share of the first text's distinct shingles that the second has. Every pair is
found, as with --exhaustive, in about as much memory; the store must keep shingles. The container is
the text with more shingles, whichever prefix of --between it has. Texts with fewer than N - K + 1
distinct shingles of K tokens are left out, N being --shortest; these are all texts of fewer than N
tokens, and some that repeat themselves. Exact copies are listed whatever their length.

Exit codes: 0 there are pairs, 1 there are none, 2 error.")]
pub(crate) struct PairsArgs {
    /// Minimum Jaccard similarity, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, conflicts_with = "containment")]
    pub(crate) threshold: Option<f64>,

    /// List only pairs of a key that begins with A and a key that begins with B
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_parser = parse::any_prefix())]
    pub(crate) between: Vec<String>,

    /// Treat documents with the same text as one: the one whose key sorts first
    #[arg(long)]
    pub(crate) fold_copies: bool,

    /// Find every pair, by comparing shingles instead of buckets
    #[arg(long)]
    pub(crate) exhaustive: bool,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,
}

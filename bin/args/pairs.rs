//! Arguments of `pairs`.

use crate::parse;

/// List all pairs of documents that are alike
///
/// Each pair once: copies first, then pairs in the order of the buckets that they share, or with
/// --exhaustive by the longer text.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb pairs                                  all that are like one another
  dedupdb pairs --threshold 95% --fold-copies    the closest, each distinct text once
  dedupdb pairs --between 2025/ 2026/            across two folders or crawls
  dedupdb pairs | sort -t$'\\t' -k3,3rn | head    the most similar ones
  dedupdb pairs --exhaustive --threshold 0.4     far below what the bands were made for

A line has three columns with tabs between them: KEY_A, KEY_B, JACCARD. JACCARD is exact. Where the
store keeps no shingles it is an estimate with its standard error, such as ~0.8125±0.0350.
Control characters and backslashes in keys are spelled out, as \\n and \\\\; --json gives keys as they
are.

Without --exhaustive a pair is found if it shares a bucket, at the threshold with the recall that
`init` chose the bands for. With it none is missed. Use it to measure what the bands miss, where
a missed pair is not to be borne, and below the store's threshold. It takes more memory: for each
shingle of the store about 4 bytes at a threshold of 0.8 and 18 at 0.1, up to 1 GiB, and 30 bytes
a text.

Exit codes: 0 there are pairs, 1 there are none, 2 error.")]
pub(crate) struct Pairs {
    /// Least Jaccard similarity, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Only pairs of a key that begins with A and one that begins with B
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) between: Vec<String>,

    /// Take the documents with the same text for one, the one whose key comes first
    #[arg(long)]
    pub(crate) fold_copies: bool,

    /// Find every pair, by comparing shingles instead of going through buckets
    #[arg(long)]
    pub(crate) exhaustive: bool,
}

//! Arguments of `clusters`.

use clap::ValueEnum;

use crate::parse;

/// List the clusters of documents that are alike
///
/// Clusters come from verified pairs only, and documents with the same text are always in one.
/// The representative is the document whose text was added first; it is listed first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb clusters
  dedupdb clusters --linkage representative --threshold 90%
  dedupdb clusters --min-size 1 | awk -F'\\t' '$1 != c { print $2; c = $1 }'   one document of each
  dedupdb --json clusters | jq 'select(.lowest < 0.5)'                       chains

A line has three columns with tabs between them: CLUSTER, KEY, JACCARD. CLUSTER is a number from 1
on. JACCARD is the similarity to the cluster's representative, exact, or where the store keeps no
shingles an estimate with its standard error, such as ~0.8125±0.0350. Connected clusters have
members below the threshold where a chain of pairs leads to them.

Exit codes: 0 there are clusters, 1 there are none, 2 error.")]
pub(crate) struct Clusters {
    /// What makes a cluster
    #[arg(long, value_enum, default_value_t = Linkage::Connected)]
    pub(crate) linkage: Linkage,

    /// Least Jaccard similarity of documents that are linked, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Only clusters of so many documents or more; 1 lists every document
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) min_size: usize,
}

/// What makes a cluster.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Linkage {
    /// Pairs that connect its documents; the ends of a chain may be unlike
    Connected,
    /// Each document reaches the threshold with the representative
    Representative,
}

//! Arguments of `clusters`.

use clap::ValueEnum;

use crate::args::containment::ContainmentArgs;
use crate::parse;

/// List the clusters of similar documents
///
/// Clusters consist of verified pairs only, and documents with the same text are always in the same
/// cluster. The representative is the document whose text was added first; it is listed first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb clusters
  dedupdb clusters --linkage representative --threshold 90%
  dedupdb clusters --min-size 1 | awk -F'\\t' '$1 != c { print $2; c = $1 }'  One document of each cluster
  dedupdb clusters --exhaustive --threshold 0.4  Far below the threshold of the bands
  dedupdb clusters --containment 0.8  Texts with all that is mostly in them

Each line has CLUSTER, KEY and JACCARD, separated by tabs, and `exact copy` or `same words` if the
text is that of the representative. CLUSTER counts from 1. JACCARD is the similarity to the
representative of the cluster. It is exact, or, if the store keeps no shingles, an estimate, such as
~0.8125±0.0345. A connected cluster may have members below the threshold, connected to the
representative by a chain of pairs.

With --containment, each text is put below the largest text that contains it, and the text that is
in no larger one represents the cluster. Each line has CLUSTER, KEY, CONTAINMENT and JACCARD. With
--linkage representative, each text is in the representative itself, without levels.

Exit codes: 0 there are clusters, 1 there are none, 2 error.

Details in the documentation: reference/searching.md")]
pub(crate) struct ClustersArgs {
    /// What makes a cluster
    #[arg(long, value_enum, default_value_t = LinkageArg::Connected)]
    pub(crate) linkage: LinkageArg,

    /// Minimum Jaccard similarity of linked documents, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, conflicts_with = "containment")]
    pub(crate) threshold: Option<f64>,

    /// List only clusters of at least N documents; 1 lists every document
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) min_size: usize,

    /// Link every pair, by comparing shingles instead of buckets
    #[arg(long)]
    pub(crate) exhaustive: bool,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,

    /// Memory for --exhaustive and --containment, at least 384MiB, besides 40 bytes a text: less takes longer
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "1GiB")]
    pub(crate) memory: u64,
}

/// What makes a cluster.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LinkageArg {
    /// Documents that are connected by pairs; the ends of a chain may differ a lot
    Connected,
    /// Documents that all reach the threshold with the representative, or are contained in it
    Representative,
}

impl From<LinkageArg> for dedupdb::groups::Linkage {
    fn from(linkage: LinkageArg) -> dedupdb::groups::Linkage {
        match linkage {
            LinkageArg::Connected => dedupdb::groups::Linkage::Connected,
            LinkageArg::Representative => dedupdb::groups::Linkage::Representative,
        }
    }
}

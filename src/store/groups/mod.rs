//! Queries over all documents: which ones are similar.

mod buckets;
mod clusters;
mod comparisons;
mod exhaustive;
mod join;
mod met;
mod pairs;
mod sizes;

pub use clusters::{Cluster, ClusterQuery, Clusters, Linkage, Member};
pub use pairs::{Pair, PairQuery, Pairs};
pub use sizes::ClusterSizes;

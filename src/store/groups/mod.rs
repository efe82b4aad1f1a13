//! Queries over all documents: which ones are similar.

mod buckets;
mod clusters;
mod comparer;
mod comparisons;
mod containment;
mod exhaustive;
mod join;
mod names;
mod pair;
mod pairs;
mod sizes;
mod skipped_comparisons;

pub use clusters::{Cluster, ClusterQuery, Clusters, Linkage, Member};
pub use pair::{Pair, PairQuery};
pub use pairs::Pairs;
pub use sizes::ClusterSizes;

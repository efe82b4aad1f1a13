//! Queries over all documents: which ones are similar.

mod alike;
mod buckets;
mod clusters;
mod comparisons;
mod containment;
mod exhaustive;
mod join;
mod met;
mod names;
mod pair;
mod pairs;
mod sizes;

pub use clusters::{Cluster, ClusterQuery, Clusters, Linkage, Member};
pub use pair::{Pair, PairQuery};
pub use pairs::Pairs;
pub use sizes::ClusterSizes;

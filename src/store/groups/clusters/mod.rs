//! Clusters of similar documents.

mod candidates;
mod cluster;
mod connect;
mod contained;
mod found;
mod prefixes;
mod query;
mod representatives;

pub use cluster::{Cluster, Member};
pub use found::Clusters;
pub use query::{ClusterQuery, Linkage};

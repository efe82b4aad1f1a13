//! Clusters counted by size.

use std::collections::BTreeMap;

use super::clusters::ClusterQuery;
use crate::error::Result;
use crate::store::handle::Store;

/// The clusters of a range of sizes: of 2 documents, of 3 to 4, of 5 to 8, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterSizes {
    /// The smallest size of the range.
    pub from: u64,
    /// The largest size of the range, a power of two.
    pub to: u64,
    /// The number of clusters of these sizes, at least 1.
    pub clusters: u64,
    /// The number of documents in these clusters.
    pub documents: u64,
}

impl ClusterSizes {
    /// Counts a cluster with this number of documents in its range. Ranges are keyed by the logarithm to base 2 of
    /// their largest size.
    pub fn count(ranges: &mut BTreeMap<u32, ClusterSizes>, documents: u64) {
        let rank = documents.next_power_of_two().ilog2();
        let sizes = ranges.entry(rank).or_insert(ClusterSizes {
            from: (1 << rank >> 1) + 1,
            to: 1 << rank,
            clusters: 0,
            documents: 0,
        });
        sizes.clusters += 1;
        sizes.documents += documents;
    }
}

impl Store {
    /// Counts the clusters of a query by size, in ascending order. Ranges without a cluster are left out.
    ///
    /// # Errors
    ///
    /// Those of [`Store::clusters`] and of reading the store.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, groups::ClusterQuery};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// for key in ["a", "b", "c"] {
    ///     writer.add(key, "nobody had seen the keeper since the boats were pulled up")?;
    /// }
    /// writer.commit()?;
    /// let sizes = store.cluster_sizes(ClusterQuery::new())?;
    /// assert_eq!((sizes[0].from, sizes[0].to), (3, 4));
    /// assert_eq!((sizes[0].clusters, sizes[0].documents), (1, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cluster_sizes(&self, query: ClusterQuery) -> Result<Vec<ClusterSizes>> {
        let mut ranks = BTreeMap::new();
        for cluster in self.clusters(query)? {
            ClusterSizes::count(&mut ranks, cluster?.members.len() as u64);
        }
        Ok(ranks.into_values().collect())
    }
}

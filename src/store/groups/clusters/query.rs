//! What is asked of the clusters of a store.

/// What makes a cluster of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Linkage {
    /// All that are connected by pairs at or above the threshold. The ends of a chain may be
    /// unlike: [`Cluster::lowest`](crate::groups::Cluster::lowest) tells.
    #[default]
    Connected,
    /// Each is at or above the threshold with the cluster's representative, so that no chain
    /// drifts. In the order in which their texts were added, a document joins the representative
    /// that it is most like, or becomes one itself.
    Representative,
}

/// Which clusters [`Store::clusters`](crate::Store::clusters) is to find.
///
/// ```
/// use dedupdb::groups::{ClusterQuery, Linkage};
///
/// let strict = ClusterQuery::new().linkage(Linkage::Representative).threshold(0.9);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClusterQuery {
    pub(super) linkage: Linkage,
    pub(super) threshold: Option<f64>,
    pub(super) min_size: usize,
}

impl Default for ClusterQuery {
    fn default() -> ClusterQuery {
        ClusterQuery {
            linkage: Linkage::default(),
            threshold: None,
            min_size: 2,
        }
    }
}

impl ClusterQuery {
    /// Connected clusters of two documents or more, at the store's threshold.
    pub fn new() -> ClusterQuery {
        ClusterQuery::default()
    }

    /// What makes a cluster.
    #[must_use]
    pub fn linkage(mut self, linkage: Linkage) -> ClusterQuery {
        self.linkage = linkage;
        self
    }

    /// Least Jaccard similarity of two documents that are linked, above 0 and at most 1. Below the
    /// store's threshold, fewer pairs are found than there are;
    /// [`Schema::recall`](crate::Schema::recall) tells how many.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> ClusterQuery {
        self.threshold = Some(threshold);
        self
    }

    /// Only clusters of at least this number of documents; 2 by default. With 1, documents that are like
    /// no other are clusters too, so that every document is in one.
    #[must_use]
    pub fn min_size(mut self, documents: usize) -> ClusterQuery {
        self.min_size = documents;
        self
    }
}

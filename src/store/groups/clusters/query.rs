//! Queries for clusters.

use crate::store::overlap::Containment;

/// How documents are joined into clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Linkage {
    /// Clusters of documents that are connected by pairs at or above the threshold. The ends of a chain may differ a
    /// lot; [`Cluster::lowest`](crate::groups::Cluster::lowest) shows it.
    #[default]
    Connected,
    /// Clusters of documents that all reach the threshold with the representative, so there are no long chains. In the
    /// order in which their texts were added, each document joins the most similar representative or becomes one.
    Representative,
}

/// Which clusters [`Store::clusters`](crate::Store::clusters) finds.
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
    pub(super) exhaustive: bool,
    pub(super) containment: Containment,
    pub(super) memory: Option<u64>,
}

impl Default for ClusterQuery {
    fn default() -> ClusterQuery {
        ClusterQuery {
            linkage: Linkage::default(),
            threshold: None,
            min_size: 2,
            exhaustive: false,
            containment: Containment::default(),
            memory: None,
        }
    }
}

impl ClusterQuery {
    /// Finds connected clusters of at least two documents, at the store's threshold.
    pub fn new() -> ClusterQuery {
        ClusterQuery::default()
    }

    /// Sets how documents are joined into clusters.
    #[must_use]
    pub fn linkage(mut self, linkage: Linkage) -> ClusterQuery {
        self.linkage = linkage;
        self
    }

    /// Sets the minimum Jaccard similarity of linked documents, above 0 and at most 1. Below the store's threshold,
    /// only a share of the pairs is found, which [`Schema::recall`](crate::Schema::recall) returns, unless the search is
    /// [`exhaustive`](ClusterQuery::exhaustive).
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> ClusterQuery {
        self.threshold = Some(threshold);
        self
    }

    /// Puts each text below the largest text that contains it: that has at least this share of its shingles, above 0
    /// and at most 1, and at least as many in all. The largest is the one with most shingles, of several the one added
    /// first; of two texts with the same number, the one added later is below the other. The trees are the clusters,
    /// and the text at the root is the representative. So a passage that is in two articles does not connect them,
    /// as it would if all pairs were links.
    ///
    /// Every pair is found, as by [`PairQuery::containment`](crate::groups::PairQuery::containment), in as much memory
    /// and 12 bytes more for each content. There is no threshold then. In a tree of several levels, the containment of a
    /// member in the representative may be lower.
    ///
    /// With [`Linkage::Representative`], there are no levels: each text, the largest first, joins the largest
    /// representative that contains it, or becomes one. If the query also has a threshold, a text that reaches it with a
    /// representative joins that as well; shorter texts than [`shortest`](ClusterQuery::shortest) do not. So no
    /// representative contains another one. Texts that joined one are not compared again.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, groups::{ClusterQuery, Linkage}};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let notice = "it was the first of many long and cold nights in the old lighthouse";
    /// let mut writer = store.writer()?;
    /// writer.add("notice", notice)?;
    /// writer.add("page", format!("nobody had seen the keeper since the boats were pulled up. {notice}"))?;
    /// writer.commit()?;
    /// let query = ClusterQuery::new().containment(0.8).shortest(10);
    /// let mut clusters = store.clusters(query.linkage(Linkage::Representative))?;
    /// let cluster = clusters.next().transpose()?.expect("there is one");
    /// assert_eq!(cluster.representative, "page");
    /// assert_eq!(cluster.members[1].containment, Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn containment(mut self, least: f64) -> ClusterQuery {
        self.containment.least = Some(least);
        self
    }

    /// Sets how many tokens the shortest texts have that a search by containment takes into account, 20 by default.
    /// [`PairQuery::shortest`](crate::groups::PairQuery::shortest) states the rule.
    #[must_use]
    pub fn shortest(mut self, tokens: usize) -> ClusterQuery {
        self.containment.shortest = tokens;
        self
    }

    /// Links all documents that reach the threshold, whether or not they share a bucket, also below the store's
    /// threshold. It takes the time and the memory of [`PairQuery::exhaustive`](crate::groups::PairQuery::exhaustive);
    /// with [`Linkage::Representative`], each content is then compared with all representatives of its connected
    /// group. A search by [`containment`](ClusterQuery::containment) is exhaustive in any case.
    #[must_use]
    pub fn exhaustive(mut self, exhaustive: bool) -> ClusterQuery {
        self.exhaustive = exhaustive;
        self
    }

    /// Sets how many bytes of memory an exhaustive search or one by containment takes besides those for each content, 1
    /// GiB by default; see [`PairQuery::memory`](crate::groups::PairQuery::memory).
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> ClusterQuery {
        self.memory = Some(bytes);
        self
    }

    /// Finds only clusters of at least this number of documents, 2 by default. With 1, a document that resembles no
    /// other is a cluster as well, so every document is in one.
    #[must_use]
    pub fn min_size(mut self, documents: usize) -> ClusterQuery {
        self.min_size = documents;
        self
    }
}

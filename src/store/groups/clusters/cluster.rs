//! A cluster.

use crate::sketch::Estimate;

/// A group of similar documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cluster {
    /// The document whose text was added first, of copies the one whose key comes first.
    pub representative: String,
    /// All documents, the representative first: in the order in which their texts were added,
    /// those with the same text by key.
    pub members: Vec<Member>,
    /// The lowest similarity of a member to the representative, 0 to 1: exact, or estimated where
    /// the store keeps no shingles. Below the threshold only where the linkage is
    /// [`Linkage::Connected`](super::Linkage::Connected), or as far below as an estimate's error lets a match be.
    pub lowest: f64,
}

/// A document of a cluster, and how it is like the representative.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// The document's key.
    pub key: String,
    /// Exact Jaccard similarity to the representative; none where the store keeps no shingles.
    pub jaccard: Option<f64>,
    /// Estimate from the signatures.
    pub estimate: Estimate,
    /// Whether the text is that of the representative, byte for byte, as its own is; or the shingles,
    /// where both were given as such.
    pub exact_copy: bool,
}

impl Member {
    /// Exact similarity to the representative where it is known, else the estimate.
    pub fn similarity(&self) -> f64 {
        self.jaccard.unwrap_or(self.estimate.jaccard)
    }
}

impl Cluster {
    /// The cluster of these documents, the first of which represents them; none of no documents.
    pub(super) fn of(members: Vec<Member>) -> Option<Cluster> {
        let representative = members.first()?.key.clone();
        let lowest = members.iter().map(Member::similarity);
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        Some(Cluster {
            representative,
            members,
            lowest,
        })
    }
}

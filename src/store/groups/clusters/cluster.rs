//! A cluster.

use crate::sketch::Estimate;
use crate::store::compare::Match;

/// A group of similar documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cluster {
    /// The document whose text was added first, or, in a search by containment, whose text is the largest; of several
    /// copies, the one whose key comes first.
    pub representative: String,
    /// All documents, the representative first, in the order in which their texts were added; copies are ordered by
    /// key.
    pub members: Vec<Member>,
    /// The lowest similarity of a member to the representative, 0 to 1: exact, or estimated if the store keeps no
    /// shingles. An exact one is below the threshold only with [`Linkage::Connected`](super::Linkage::Connected) and in
    /// a search by containment; an estimate may be below it by its error.
    pub lowest: f64,
}

/// A document of a cluster, and its similarity to the representative.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// The document's key.
    pub key: String,
    /// Exact Jaccard similarity to the representative, 0 to 1. None if the store keeps no shingles.
    pub jaccard: Option<f64>,
    /// Estimate from the signatures.
    pub estimate: Estimate,
    /// The share of its shingles that the representative has, 0 to 1. None if the store keeps no shingles.
    pub containment: Option<f64>,
    /// Whether it has the text of the representative, byte for byte, or its shingles, if both were given as
    /// shingles. True for the representative.
    pub exact_copy: bool,
}

impl Member {
    /// Returns the exact similarity to the representative if it is known, otherwise the estimate.
    pub fn similarity(&self) -> f64 {
        self.jaccard.unwrap_or(self.estimate.jaccard)
    }

    /// Returns the representative, known as `key`, as a match of this document. The buckets that both share are not
    /// counted, and the share of the representative's shingles is not known.
    pub fn represented_by(self, key: String) -> Match {
        Match {
            key,
            jaccard: self.jaccard,
            estimate: self.estimate,
            containment: self.containment,
            containment_of_match: None,
            bands: 0,
            exact_copy: self.exact_copy,
        }
    }
}

impl Cluster {
    /// The cluster of these documents, represented by the first one; none if there are no documents.
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

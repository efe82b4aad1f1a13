//! Matches.

use super::matching::VerifiedContent;
use crate::sketch::Estimate;

/// A document that resembles the query, with the evidence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// The document's key.
    pub key: String,
    /// The exact Jaccard similarity of the two shingle sets, at or above the threshold; `None` if the store keeps no
    /// shingles.
    pub jaccard: Option<f64>,
    /// The estimate of the similarity from the signatures, with its standard error.
    pub estimate: Estimate,
    /// The share of the query's shingles that the match also has.
    pub containment: Option<f64>,
    /// The share of the match's shingles that the query also has.
    pub containment_of_match: Option<f64>,
    /// The number of buckets that both share, at most one for each band.
    pub bands: u32,
    /// Whether the texts are the same, byte for byte, or the shingles, if both were given as shingles.
    pub exact_copy: bool,
}

impl Match {
    pub(crate) fn new(key: String, verified: &VerifiedContent) -> Match {
        Match {
            key,
            jaccard: verified.likeness.jaccard,
            estimate: verified.likeness.estimate,
            containment: verified.likeness.containment,
            containment_of_match: verified.likeness.containment_of_stored,
            bands: verified.bands,
            exact_copy: verified.likeness.exact_copy,
        }
    }

    /// The exact similarity if it is known, otherwise the estimate. Matches are sorted by it.
    pub fn similarity(&self) -> f64 {
        self.jaccard.unwrap_or(self.estimate.jaccard)
    }

    /// Whether another text has exactly the same shingles: the same words, as in texts that differ only in case and
    /// punctuation. False if the store keeps no shingles.
    pub fn has_same_shingles(&self) -> bool {
        !self.exact_copy && matches!(self.jaccard, Some(1.0..))
    }
}

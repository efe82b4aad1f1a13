//! Matches, pairs and clusters.

use dedupdb::Match;
use dedupdb::groups::{self, Cluster, Member};
use serde::Serialize;

use super::SimilarityJson;
use crate::document_source::DocumentSource;

/// `query`: a match.
#[derive(Serialize)]
pub(crate) struct MatchJson<'a> {
    query: &'a str,
    #[serde(flatten)]
    found: FoundJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
}

impl<'a> MatchJson<'a> {
    /// A document that resembles the text called `query`.
    pub(crate) fn new(query: &'a str, found: &'a Match, standing: DocumentSource) -> MatchJson<'a> {
        MatchJson {
            query,
            found: FoundJson::new(found),
            source: standing.source,
            file: standing.file,
        }
    }
}

/// A document that resembles a text.
#[derive(Serialize)]
pub(super) struct FoundJson<'a> {
    key: &'a str,
    #[serde(flatten)]
    evidence: EvidenceJson,
}

impl<'a> FoundJson<'a> {
    pub(super) fn new(found: &'a Match) -> FoundJson<'a> {
        FoundJson {
            key: &found.key,
            evidence: EvidenceJson::new(found),
        }
    }
}

/// What shows that a document resembles a text.
#[derive(Serialize)]
struct EvidenceJson {
    #[serde(flatten)]
    similarity: SimilarityJson,
    containment: Option<f64>,
    containment_of_match: Option<f64>,
    bands: u32,
    exact_copy: bool,
}

impl EvidenceJson {
    fn new(found: &Match) -> EvidenceJson {
        EvidenceJson {
            similarity: SimilarityJson::new(found.jaccard, found.estimate),
            containment: found.containment,
            containment_of_match: found.containment_of_match,
            bands: found.bands,
            exact_copy: found.exact_copy,
        }
    }
}

/// `add --matches`: a near-duplicate.
#[derive(Serialize)]
pub(crate) struct AddMatchJson<'a> {
    key: &'a str,
    earlier: &'a str,
    #[serde(flatten)]
    evidence: EvidenceJson,
    kept_out: bool,
}

impl<'a> AddMatchJson<'a> {
    /// The document `key`, which resembles an earlier one.
    pub(crate) fn new(key: &'a str, earlier: &'a Match, is_kept_out: bool) -> AddMatchJson<'a> {
        AddMatchJson {
            key,
            earlier: &earlier.key,
            evidence: EvidenceJson::new(earlier),
            kept_out: is_kept_out,
        }
    }
}

/// `pairs`: a pair.
#[derive(Serialize)]
pub(crate) struct PairJson<'a> {
    key_a: &'a str,
    key_b: &'a str,
    #[serde(flatten)]
    similarity: SimilarityJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    containment: Option<f64>,
    exact_copy: bool,
    #[serde(flatten)]
    sources: PairSourcesJson,
}

/// Where the documents of a pair come from.
#[derive(Serialize)]
pub(super) struct PairSourcesJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_b: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_a: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_b: Option<&'static str>,
}

impl PairSourcesJson {
    pub(super) fn new([a, b]: [DocumentSource; 2]) -> PairSourcesJson {
        PairSourcesJson {
            source_a: a.source,
            source_b: b.source,
            file_a: a.file,
            file_b: b.file,
        }
    }
}

impl<'a> PairJson<'a> {
    /// A pair of a store.
    pub(crate) fn new(pair: &'a groups::Pair, sources: [DocumentSource; 2]) -> PairJson<'a> {
        PairJson {
            key_a: &pair.key_a,
            key_b: &pair.key_b,
            similarity: SimilarityJson::new(pair.jaccard, pair.estimate),
            containment: pair.containment,
            exact_copy: pair.exact_copy,
            sources: PairSourcesJson::new(sources),
        }
    }
}

/// `clusters`: a document of a cluster.
#[derive(Serialize)]
pub(crate) struct ClusterMemberJson<'a> {
    cluster: u64,
    key: &'a str,
    representative: &'a str,
    #[serde(flatten)]
    similarity: SimilarityJson,
    /// Only in a search by containment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) containment: Option<f64>,
    exact_copy: bool,
    lowest: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
}

impl<'a> ClusterMemberJson<'a> {
    /// A member of the cluster with this number.
    pub(crate) fn new(
        number: u64,
        cluster: &'a Cluster,
        member: &'a Member,
        standing: DocumentSource,
    ) -> ClusterMemberJson<'a> {
        ClusterMemberJson {
            cluster: number,
            key: &member.key,
            representative: &cluster.representative,
            similarity: SimilarityJson::new(member.jaccard, member.estimate),
            containment: None,
            exact_copy: member.exact_copy,
            lowest: cluster.lowest,
            source: standing.source,
            file: standing.file,
        }
    }
}

/// `reduce`: a pair.
#[derive(Serialize)]
pub(crate) struct ReducedPairJson<'a> {
    pub(crate) key_a: &'a str,
    pub(crate) key_b: &'a str,
    pub(crate) jaccard: f64,
}

/// `reduce`: the summary.
#[derive(Serialize)]
pub(crate) struct ReduceJson {
    pub(crate) lines: u64,
    pub(crate) keys: u64,
    pub(crate) shared_keys: u64,
    pub(crate) pairs: u64,
    pub(crate) repeated: u64,
}

//! Which document of a cluster a page proposes to keep.

use std::cmp::Reverse;
use std::path::Path;

use super::file_status::{ClusterFiles, FileCheck};
use crate::{is_compressed, largest_first};
use dedupdb::find::Subject;
use dedupdb::groups::Cluster;
use dedupdb::{Document, Error, Result, Store};

/// A cluster whose first document is the one to keep.
#[derive(Debug)]
pub(super) struct ProposedCluster {
    pub(super) documents: Vec<ClusterDocument>,
    /// The lowest similarity to the first document.
    pub(super) lowest: f64,
}

/// A document of a cluster.
#[derive(Debug)]
pub(super) struct ClusterDocument {
    pub(super) document: Document,
    /// The similarity to the one to keep.
    pub(super) similarity: f64,
    pub(super) look: FileCheck,
}

/// Orders the documents of a cluster so that the one to keep comes first and represents the others, whose similarities
/// become those to it: a document whose file is at hand, then the [largest](largest_first), and then the one that came
/// first. Returns `None` if the documents have no shingles: then nothing says that one could go.
///
/// # Errors
///
/// Those of reading the store.
pub(super) fn proposed(cluster: Cluster, store: &Store) -> Result<Option<ProposedCluster>> {
    let mut files = ClusterFiles::default();
    let mut ranked = Vec::with_capacity(cluster.members.len());
    let mut members = cluster.members.iter();
    let is_any_compressed = members.any(|member| is_compressed(Path::new(&member.key)));
    for (place, member) in cluster.members.into_iter().enumerate() {
        // A document that was removed meanwhile is ignored.
        let Some(document) = store.get(&member.key)? else {
            continue;
        };
        let look = FileCheck::at(&document);
        let stands = files.meet(look, place).state.stands();
        let path = document.modified.map(|_| Path::new(&document.key));
        let size = if is_any_compressed {
            // The length of its text is not known, but the number of its shingles is.
            document.shingles.into()
        } else {
            document.size
        };
        let rank = (Reverse(stands), largest_first(size, path), place);
        let similarity = member.similarity();
        let listed = ClusterDocument {
            document,
            similarity,
            look,
        };
        ranked.push((rank, listed));
    }
    ranked.sort_by_key(|&(rank, _)| rank);
    let is_first = ranked.first().is_some_and(|((_, _, place), _)| *place == 0);
    let mut documents: Vec<ClusterDocument> =
        ranked.into_iter().map(|(_, listed)| listed).collect();
    let Some((kept, others)) = documents.split_first_mut() else {
        return Ok(None);
    };
    if kept.document.shingles == 0 {
        return Ok(None);
    }
    let mut lowest = cluster.lowest;
    if !is_first {
        lowest = 1.0;
        kept.similarity = 1.0;
        for other in others {
            let pair = [&kept.document.key, &other.document.key].map(|key| Subject::Key(key));
            let compared = match store.explain(pair[0], pair[1]) {
                Err(Error::NoSuchDocument { .. }) => continue,
                compared => compared?,
            };
            let exact = compared.common.map(|common| common.jaccard);
            let estimate = compared.estimate.map(|estimate| estimate.jaccard);
            other.similarity = exact.or(estimate).unwrap_or(other.similarity);
            lowest = lowest.min(other.similarity);
        }
    }
    Ok(Some(ProposedCluster { documents, lowest }))
}

//! Which document of a cluster a page proposes to keep.

use std::cmp::Reverse;

use super::standing::Files;
use crate::find::Subject;
use crate::groups::Cluster;
use crate::{Error, Result, Store};

/// Orders the documents of a cluster so that the one to keep comes first and represents the others, whose similarities
/// become those to it: a document whose file is at hand, then the one with the most shingles, the shorter key, and the
/// one that came first. Returns `None` if the documents have no shingles: then nothing says that one could go.
///
/// # Errors
///
/// Those of reading the store.
pub(super) fn proposed(cluster: Cluster, store: &Store) -> Result<Option<Cluster>> {
    let mut files = Files::default();
    let mut ranked = Vec::with_capacity(cluster.members.len());
    for (place, member) in cluster.members.into_iter().enumerate() {
        // A document that was removed meanwhile is ignored.
        let Some(document) = store.get(&member.key)? else {
            continue;
        };
        let stands = files.look(&document, place).state.stands();
        let rank = (
            Reverse(stands),
            Reverse(document.shingles),
            member.key.len(),
        );
        ranked.push((rank, place, member));
    }
    ranked.sort_by_key(|&(rank, place, _)| (rank, place));
    let Some(&((_, Reverse(1..), _), first, _)) = ranked.first() else {
        return Ok(None);
    };
    let mut members: Vec<_> = ranked.into_iter().map(|(_, _, member)| member).collect();
    let representative = members[0].key.clone();
    if first == 0 {
        return Ok(Some(Cluster { members, ..cluster }));
    }
    let mut lowest = f64::INFINITY;
    for member in &mut members {
        let compared = store.explain(Subject::Key(&representative), Subject::Key(&member.key));
        let compared = match compared {
            Err(Error::NoSuchDocument { .. }) => continue,
            compared => compared?,
        };
        member.jaccard = compared.common.map(|common| common.jaccard);
        member.estimate = compared.estimate.unwrap_or(member.estimate);
        member.exact_copy = compared.exact_copy;
        lowest = lowest.min(member.similarity());
    }
    Ok(Some(Cluster {
        representative,
        members,
        lowest,
    }))
}

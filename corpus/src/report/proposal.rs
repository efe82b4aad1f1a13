//! Which document of a cluster a page proposes to keep.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::file_status::{ClusterFiles, FileCheck, FileStatus};
use super::passage_links::{LinkedDocument, LongestPassage, left};
use crate::{Error, KeepRank, Key, Options, Repeats, ShingleCounter, Source, rank_of, stored_rank};
use dedupdb::find::Subject;
use dedupdb::groups::Cluster;
use dedupdb::sketching::ShingleSet;
use dedupdb::{Document, Progress, Result as StoreResult, Store};

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
    /// The share of its shingles that the document to keep has, and the reverse.
    pub(super) contained: Option<[f64; 2]>,
    /// The longest passage by which it is linked to another document.
    pub(super) longest: Option<LongestPassage>,
    pub(super) look: FileCheck,
    /// Whether it can be the one to keep.
    stands: bool,
    /// Whether it is the one to which the similarities of the cluster are.
    is_representative: bool,
}

/// How the documents of a cluster are compared with the one to keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProposalOrder<'a> {
    pub(super) by_containment: bool,
    /// What does not count.
    pub(super) ignored: Option<&'a ShingleSet>,
}

/// The ranks of documents whose files were read, by their keys.
type FileRanks = HashMap<String, KeepRank>;

/// Orders the documents of each cluster so that the one to keep comes first and represents the others, whose similarities
/// become those to it: in a search by containment one with the text that contains the others, then a document whose file is at hand, then one that is a file and no record, then by [`rank_of`], and then the first in path order or the one
/// that came first. Leaves out clusters without shingles: then nothing says that a document could go.
///
/// Reads the files of a cluster, unless all of it are copies of one size. Of a record, and of a file that cannot be read,
/// the stored size counts.
///
/// # Errors
///
/// Those of reading the store; an error of the system if no thread can be started; the work is stopped.
pub(super) fn proposed(
    clusters: Vec<ProposedCluster>,
    by: ProposalOrder<'_>,
    store: &Store,
    options: &Options,
) -> Result<Vec<ProposedCluster>, Error> {
    let ranks = ranks(&clusters, store, options, store.progress())?;
    let ordered = clusters
        .into_iter()
        .map(|cluster| ordered(cluster, by, &ranks, store));
    Ok(ordered
        .filter_map(StoreResult::transpose)
        .collect::<StoreResult<_>>()?)
}

/// Looks at these documents, which stay in their order. Their similarities are not known yet.
pub(super) fn met_linked(
    linked: Vec<LinkedDocument>,
    store: &Store,
) -> StoreResult<ProposedCluster> {
    let mut files = ClusterFiles::default();
    let mut documents = Vec::with_capacity(linked.len());
    for (place, linked) in linked.into_iter().enumerate() {
        let Some(document) = store.get(&linked.key)? else {
            continue;
        };
        let look = FileCheck::at(&document);
        documents.push(ClusterDocument {
            similarity: 1.0,
            contained: None,
            longest: linked.longest,
            stands: files.meet(look, place).state.stands(),
            look,
            is_representative: false,
            document,
        });
    }
    Ok(ProposedCluster {
        documents,
        lowest: 1.0,
    })
}

/// Looks at the documents of a cluster, which stay in its order.
pub(super) fn met(cluster: Cluster, store: &Store) -> StoreResult<ProposedCluster> {
    let mut files = ClusterFiles::default();
    let mut documents = Vec::with_capacity(cluster.members.len());
    let kept = store.get(&cluster.representative)?;
    let kept = kept.map_or(0, |kept| kept.shingles);
    for (place, member) in cluster.members.into_iter().enumerate() {
        // A document that was removed meanwhile is ignored.
        let Some(document) = store.get(&member.key)? else {
            continue;
        };
        let look = FileCheck::at(&document);
        documents.push(ClusterDocument {
            similarity: member.similarity(),
            contained: (member.containment)
                .map(|share| [share, share * ratio(document.shingles, kept)]),
            longest: None,
            stands: files.meet(look, place).state.stands(),
            look,
            is_representative: place == 0,
            document,
        });
    }
    Ok(ProposedCluster {
        documents,
        lowest: cluster.lowest,
    })
}

/// Reads the files that may differ in rank by more than their names.
fn ranks(
    clusters: &[ProposedCluster],
    store: &Store,
    options: &Options,
    progress: &Progress,
) -> Result<FileRanks, Error> {
    let mut hashes = HashMap::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    for cluster in clusters {
        let standing = || cluster.documents.iter().filter(|listed| listed.stands);
        let texts = || standing().map(|listed| (listed.document.hash, listed.document.size));
        if texts().zip(texts().skip(1)).all(|(one, next)| one == next) {
            continue;
        }
        for listed in standing().filter(|listed| listed.look.state == FileStatus::AtHand) {
            let key = listed.document.key.as_str();
            paths.extend(Key::path(key));
            hashes.insert(key, listed.document.hash);
        }
    }
    let mut ranks = FileRanks::new();
    if paths.is_empty() {
        return Ok(ranks);
    }
    let counter = ShingleCounter::of(&store.schema())?;
    let options = options.clone().repeats(Repeats::Allow).strict(false);
    for read in options.open(paths.into_iter().map(Source::path))? {
        progress.go_on()?;
        let Ok(document) = read else { continue };
        if hashes.get(document.key.as_str()) == Some(&document.hash()) {
            let rank = rank_of(&document, counter.count(document.text()));
            ranks.insert(document.key.clone(), rank);
        }
    }
    Ok(ranks)
}

/// Puts the document to keep first.
fn ordered(
    mut cluster: ProposedCluster,
    by: ProposalOrder<'_>,
    ranks: &FileRanks,
    store: &Store,
) -> StoreResult<Option<ProposedCluster>> {
    let representative = cluster.documents.first();
    let representative = representative.map(|listed| listed.document.hash);
    // Equal documents stay in the order of the cluster.
    cluster.documents.sort_by_cached_key(|listed| {
        let document = &listed.document;
        let path = document.modified.map(|_| PathBuf::from(&document.key));
        let source = document.source.as_deref().map(Path::new);
        let place = path.as_deref().map(|path| (path, false));
        let is_record = place.is_none();
        let place = place.or(source.map(|source| (source, true)));
        let rank = ranks.get(&document.key).copied();
        let rank =
            rank.unwrap_or_else(|| stored_rank(document.shingles.into(), document.size, place));
        let is_inside = by.by_containment && Some(document.hash) != representative;
        (is_inside, !listed.stands, is_record, rank, path)
    });
    let Some((kept, others)) = cluster.documents.split_first_mut() else {
        return Ok(None);
    };
    if kept.document.shingles == 0 {
        return Ok(None);
    }
    if !kept.is_representative {
        cluster.lowest = 1.0;
        kept.similarity = 1.0;
        kept.contained = kept.contained.map(|_| [1.0; 2]);
        for other in others {
            match by.ignored {
                Some(ignored) => compare_without(store, kept, other, ignored)?,
                None => explain(store, kept, other)?,
            }
            cluster.lowest = cluster.lowest.min(other.similarity);
        }
    }
    Ok(Some(cluster))
}

/// Sets how similar a document is to the one to keep without what is ignored, unless one of them was removed meanwhile.
fn compare_without(
    store: &Store,
    kept: &ClusterDocument,
    other: &mut ClusterDocument,
    ignored: &ShingleSet,
) -> StoreResult<()> {
    let set = |listed: &ClusterDocument| match store.get(&listed.document.key)? {
        Some(document) => Ok(Some(left(&store.shingles(&document)?, ignored))),
        None => StoreResult::Ok(None),
    };
    if let (Some(kept), Some(set)) = (set(kept)?, set(other)?) {
        other.similarity = kept.jaccard(&set);
        other.contained = Some([set.containment_in(&kept), kept.containment_in(&set)]);
    }
    Ok(())
}

/// Sets how similar a document is to the one to keep, unless one of them was removed meanwhile.
fn explain(store: &Store, kept: &ClusterDocument, other: &mut ClusterDocument) -> StoreResult<()> {
    let pair = [&kept.document.key, &other.document.key].map(|key| Subject::Key(key));
    let compared = match store.explain(pair[0], pair[1]) {
        Err(dedupdb::Error::NoSuchDocument { .. }) => return Ok(()),
        compared => compared?,
    };
    let exact = compared.common.map(|common| common.jaccard);
    let estimate = compared.estimate.map(|estimate| estimate.jaccard);
    other.contained =
        (compared.common).map(|common| [common.containment_of_b, common.containment_of_a]);
    other.similarity = exact.or(estimate).unwrap_or(other.similarity);
    Ok(())
}

/// Returns the number of shingles of a document for each shingle of another one.
fn ratio(shingles: u32, others: u32) -> f64 {
    f64::from(shingles) / f64::from(others.max(1))
}

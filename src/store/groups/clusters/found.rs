//! The clusters of a store, one after the other.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::Arc;

use super::cluster::{Cluster, Member};
use super::query::{ClusterQuery, Linkage};
use super::{connect, contained, representatives};
use crate::batch::members;
use crate::error::Result;
use crate::schema::check_threshold;
use crate::storage::Snapshot;
use crate::store::compare::{Matcher, StoredContent};
use crate::store::groups::exhaustive::ExhaustivePairs;
use crate::store::handle::Store;

/// The number of contents whose documents are read at a time. A larger cluster is read at once.
const CONTENTS: usize = 1 << 12;

/// Contents of a cluster per task.
const PART: usize = 1 << 8;

/// The clusters of a store, from [`Store::clusters`], as of the commit when it was made.
///
/// It keeps the store open, and locked if it was opened for writing, even after all handles of the store are
/// dropped.
#[derive(Debug)]
pub struct Clusters {
    store: Store,
    snapshot: Arc<Snapshot>,
    min_size: usize,
    /// Whether a content that resembles no other can be a cluster.
    single: bool,
    /// The first content of the cluster of each content.
    roots: Vec<u32>,
    /// The number of contents that are too short for a search by containment.
    short: u64,
    /// The next content that may be the first of a cluster.
    next: u32,
    /// The other contents of the clusters, each after the first of its cluster.
    members: Peekable<std::vec::IntoIter<(u32, u32)>>,
    ready: VecDeque<Cluster>,
    failed: bool,
}

impl Store {
    /// Finds the clusters of similar documents, each with its representative and the similarities of the members to
    /// it.
    ///
    /// Two documents are linked if they share a bucket and their exact similarity reaches the threshold; or if it reaches
    /// the threshold ([`ClusterQuery::exhaustive`]); or if one contains the other ([`ClusterQuery::containment`]).
    /// Documents with the same text are always linked. The links are found before this returns; the similarities to
    /// the representatives are computed as clusters are taken. Takes memory for 16 bytes per content and for the
    /// largest cluster; with [`Linkage::Representative`], also 40 bytes for each representative and band of one
    /// connected group.
    ///
    /// Contents that are already in one cluster are not compared again, so m copies of a template take a small
    /// multiple of m comparisons. Other contents of a bucket are compared only if they share one of their rarest
    /// shingles; this misses no match. If a content shares those with too many others,
    /// [`Options::false_candidates`](crate::Options) bounds the comparisons.
    ///
    /// Clusters come in the order in which the texts of their representatives were added. They do not depend on the
    /// number of threads.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, groups::ClusterQuery};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// writer.add("a", "it was the first of many long and cold nights in the old lighthouse")?;
    /// writer.add("b", "It was the first of many long and cold nights in the old lighthouse!")?;
    /// writer.add("c", "nobody had seen the keeper since the boats were pulled up in autumn")?;
    /// writer.commit()?;
    /// let clusters: Vec<_> = store.clusters(ClusterQuery::new())?.collect::<Result<_, _>>()?;
    /// assert_eq!(clusters.len(), 1);
    /// assert_eq!((clusters[0].representative.as_str(), clusters[0].lowest), ("a", 1.0));
    /// assert_eq!(clusters[0].members[1].key, "b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidQuery`](crate::Error::InvalidQuery) for a threshold or a containment out of range, or for containment
    /// together with a threshold, unless texts [represent](Linkage::Representative) others;
    /// [`NoShingles`](crate::Error::NoShingles) for containment or an exhaustive search in a store without shingles;
    /// or those of reading the store. An error of reading may also come as an item, which is then the last one.
    pub fn clusters(&self, query: ClusterQuery) -> Result<Clusters> {
        let snapshot = self.published()?;
        let threshold = query.threshold.unwrap_or(snapshot.schema.threshold());
        check_threshold(threshold)?;
        let removed = snapshot.removed_contents()?;
        let documents = snapshot.documents()?;
        let contents = u64::from(snapshot.len).saturating_sub(removed.len() as u64);
        let divides = query.linkage == Linkage::Representative;
        // Texts that represent others do so by either measure, if both are given.
        let other = query.threshold.filter(|_| !divides).map(|_| "a threshold");
        let from = query.threshold.unwrap_or(1.0);
        let contained = (query.containment).search_from(from, &snapshot, &removed, other, None)?;
        let contained = contained.map(|search| search.within(query.memory));
        let short = contained.as_ref().map_or(0, |search| search.short);
        let roots = match contained.zip(query.containment.least) {
            Some((search, least)) => {
                let pool = &self.shared.pool;
                if divides {
                    contained::representatives(search, least, query.threshold, &snapshot, pool)?
                } else {
                    contained::roots(search, &snapshot, pool)?
                }
            }
            None => self.linked(&query, threshold, &snapshot, &removed)?,
        };
        Ok(Clusters {
            store: self.clone(),
            min_size: query.min_size,
            single: query.min_size < 2 || documents > contents,
            next: 0,
            members: members(roots.iter().copied()).into_iter().peekable(),
            roots,
            short,
            snapshot,
            ready: VecDeque::new(),
            failed: false,
        })
    }

    /// The first content of the cluster of each content, where clusters are linked by similarity.
    fn linked(
        &self,
        query: &ClusterQuery,
        threshold: f64,
        snapshot: &Snapshot,
        removed: &[u32],
    ) -> Result<Vec<u32>> {
        let (pool, allowance) = (&self.shared.pool, &self.shared.allowance);
        let mut forest = if query.exhaustive {
            let search = ExhaustivePairs::by_jaccard(threshold, snapshot, removed, None)?;
            connect::connect_all(search.within(query.memory), snapshot, pool)?
        } else {
            connect::connect(snapshot, pool, allowance, removed, threshold)?
        };
        if query.linkage == Linkage::Representative {
            // An exhaustive search does without buckets.
            let allowance = (!query.exhaustive).then_some(allowance);
            representatives::divide(snapshot, pool, allowance, threshold, &mut forest)?;
        }
        Ok(forest.roots().collect())
    }
}

impl Iterator for Clusters {
    type Item = Result<Cluster>;

    fn next(&mut self) -> Option<Result<Cluster>> {
        loop {
            if let Some(cluster) = self.ready.pop_front() {
                return Some(Ok(cluster));
            }
            if self.failed || self.next == self.snapshot.len {
                return None;
            }
            let process = self.store.shared.process;
            if let Err(error) = process.check().and_then(|()| self.read_more()) {
                self.failed = true;
                return Some(Err(error));
            }
        }
    }
}

/// Some contents of the cluster of a representative.
#[derive(Debug)]
struct ClusterPart {
    representative: u32,
    contents: Vec<u32>,
}

impl Clusters {
    /// Returns the number of distinct texts that are left out of a search by containment because they are shorter than
    /// [`ClusterQuery::shortest`], those without tokens aside.
    pub fn short(&self) -> u64 {
        self.short
    }

    /// Reads the documents of the next clusters.
    fn read_more(&mut self) -> Result<()> {
        let mut parts = Vec::new();
        let mut contents = 0;
        while contents < CONTENTS && self.next < self.snapshot.len {
            let representative = self.next;
            let group = self.next_group();
            contents += group.len();
            // A large cluster is read by several threads.
            parts.extend(group.chunks(PART).map(|contents| ClusterPart {
                representative,
                contents: contents.to_vec(),
            }));
        }
        let this = &*self;
        let read = this.store.shared.pool.map(parts, |part| {
            let members = this.read(&part)?;
            Ok((part.representative, members))
        });
        let mut last = None;
        let mut clusters: Vec<Vec<Member>> = Vec::new();
        for part in read {
            let (representative, members) = part?;
            // The parts of a cluster follow one another.
            match clusters.last_mut() {
                Some(cluster) if last == Some(representative) => cluster.extend(members),
                _ => clusters.push(members),
            }
            last = Some(representative);
        }
        let clusters = clusters.into_iter().filter(|c| c.len() >= self.min_size);
        self.ready.extend(clusters.filter_map(Cluster::of));
        Ok(())
    }

    /// Takes the contents of the cluster that begins with the next content, if there is such a cluster.
    fn next_group(&mut self) -> Vec<u32> {
        let first = self.next;
        self.next += 1;
        let mut group = vec![first];
        while let Some((_, content)) = self.members.next_if(|&(root, _)| root == first) {
            group.push(content);
        }
        // A single content is a cluster if it has several names, or if clusters of one document are wanted.
        let counts = group.len() > 1 || self.single && self.roots[first as usize] == first;
        if !counts {
            group.clear();
        }
        group
    }

    /// The documents of some contents.
    fn read(&self, part: &ClusterPart) -> Result<Vec<Member>> {
        let snapshot = &*self.snapshot;
        let stored = StoredContent::read(snapshot, part.representative)?;
        // At a threshold of 0, every content gets its similarity, however low that is.
        let mut matcher = Matcher::new(snapshot, stored.probe(), 0.0);
        let mut members = Vec::new();
        for &content in &part.contents {
            let Some(likeness) = matcher.compare(content)? else {
                continue;
            };
            for key in snapshot.names(content)? {
                members.push(Member {
                    key: key?,
                    jaccard: likeness.jaccard,
                    estimate: likeness.estimate,
                    containment: likeness.containment_of_stored,
                    exact_copy: likeness.exact_copy,
                });
            }
        }
        Ok(members)
    }
}

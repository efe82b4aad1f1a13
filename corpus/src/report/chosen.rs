//! Chooses the largest clusters that fit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::row::PageCluster;

/// The size of a cluster. Ties are in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClusterRank(u64, Reverse<u64>);

#[derive(Debug)]
struct RankedCluster(ClusterRank, PageCluster);

impl PartialEq for RankedCluster {
    fn eq(&self, other: &RankedCluster) -> bool {
        self.0 == other.0
    }
}

impl Eq for RankedCluster {}

impl PartialOrd for RankedCluster {
    fn partial_cmp(&self, other: &RankedCluster) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankedCluster {
    fn cmp(&self, other: &RankedCluster) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// The largest clusters that fit into a number of bytes. No smaller cluster stays where a larger one was dropped.
#[derive(Debug)]
pub(super) struct ChosenClusters {
    most: usize,
    bytes: usize,
    came: u64,
    /// The clusters, with the smallest on top.
    groups: BinaryHeap<Reverse<RankedCluster>>,
    /// The largest cluster that was dropped.
    gone: Option<ClusterRank>,
}

impl ChosenClusters {
    /// Returns an empty choice of at most `most` bytes.
    pub(super) fn new(most: usize) -> ChosenClusters {
        ChosenClusters {
            most,
            bytes: 0,
            came: 0,
            groups: BinaryHeap::new(),
            gone: None,
        }
    }

    /// Adds a cluster, and drops it or smaller ones if they do not fit.
    pub(super) fn offer(&mut self, group: PageCluster) {
        let rank = ClusterRank(group.documents, Reverse(self.came));
        self.came += 1;
        if self.gone.is_some_and(|gone| rank < gone) {
            return;
        }
        self.bytes += group.bytes;
        self.groups.push(Reverse(RankedCluster(rank, group)));
        while self.bytes > self.most
            && let Some(Reverse(RankedCluster(rank, group))) = self.groups.pop()
        {
            self.bytes -= group.bytes;
            self.gone = self.gone.max(Some(rank));
        }
    }

    /// Returns the clusters, the largest first.
    pub(super) fn finish(self) -> Vec<PageCluster> {
        let sorted = self.groups.into_sorted_vec();
        let groups = sorted.into_iter();
        groups
            .map(|Reverse(RankedCluster(_, group))| group)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ChosenClusters;
    use crate::report::row::PageCluster;

    fn chosen(most: usize, groups: &[(u64, usize)]) -> Vec<(u64, usize)> {
        let mut chosen = ChosenClusters::new(most);
        for &(documents, bytes) in groups {
            chosen.offer(PageCluster::sized(documents, bytes));
        }
        let groups = chosen.finish();
        let sizes = groups.iter().map(|group| (group.documents, group.bytes));
        sizes.collect()
    }

    #[test]
    fn the_largest_come_first_and_stay() {
        let groups = [(2, 10), (5, 30), (3, 10), (5, 20), (2, 11)];
        assert_eq!(
            chosen(1000, &groups),
            [(5, 30), (5, 20), (3, 10), (2, 10), (2, 11)]
        );
        assert_eq!(chosen(60, &groups), [(5, 30), (5, 20), (3, 10)]);
        assert_eq!(chosen(0, &groups), []);
    }

    #[test]
    fn no_smaller_one_stays_where_a_larger_one_went() {
        assert_eq!(chosen(20, &[(3, 15), (4, 15), (2, 1)]), [(4, 15)]);
        // Nothing else stays, though only the largest is too large.
        assert_eq!(chosen(20, &[(3, 5), (9, 21), (2, 1)]), []);
    }
}

//! The figures of all clusters, listed or not.

use std::collections::BTreeMap;

use super::row::PageRow;
use dedupdb::groups::ClusterSizes;

/// The number of bars for similarities: one for each hundredth, and the last for similarities of 1 or nearly 1.
const BARS: usize = 101;

/// The sizes and similarities of clusters.
#[derive(Clone, Debug)]
pub(super) struct ClusterFigures {
    sizes: BTreeMap<u32, ClusterSizes>,
    /// The number of documents by their similarity to the representative, without those that are identical to it.
    similarities: [u64; BARS],
    identical: u64,
}

impl Default for ClusterFigures {
    fn default() -> ClusterFigures {
        ClusterFigures {
            sizes: BTreeMap::new(),
            similarities: [0; BARS],
            identical: 0,
        }
    }
}

impl ClusterFigures {
    /// Counts a cluster with this number of documents.
    pub(super) fn cluster(&mut self, documents: u64) {
        ClusterSizes::count(&mut self.sizes, documents);
    }

    /// Counts a document that is not the representative of its cluster.
    pub(super) fn member(&mut self, row: &PageRow) {
        if row.likeness.text == 0 {
            self.identical += 1;
        } else {
            self.similarities[bar(row.similarity)] += 1;
        }
    }

    /// Returns the number of documents that are identical to their representative, without the representative itself.
    pub(super) fn identical(&self) -> u64 {
        self.identical
    }

    /// Returns the clusters by size, ascending.
    pub(super) fn sizes(&self) -> Vec<ClusterSizes> {
        self.sizes.values().copied().collect()
    }

    /// Returns the documents by similarity, in hundredths, from the first that any document has or from `threshold` on.
    pub(super) fn similarities(&self, threshold: f64) -> Vec<(usize, u64)> {
        let first = self.similarities.iter().position(|count| *count > 0);
        let first = first.unwrap_or(BARS).min(bar(threshold));
        let bars = self.similarities.iter().copied().enumerate();
        bars.skip(first).collect()
    }
}

/// Returns the bar of a similarity.
fn bar(similarity: f64) -> usize {
    let hundredths = (similarity * 100.0 + 1e-9).floor().clamp(0.0, 100.0);
    (0..BARS)
        .rev()
        .find(|bar| *bar as f64 <= hundredths)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_begins_at_its_hundredth() {
        let bars = [0.0, 0.009, 0.01, 0.29, 0.57, 0.999, 1.0, 2.0, -1.0].map(bar);
        assert_eq!(bars, [0, 0, 1, 29, 57, 99, 100, 100, 0]);
        assert_eq!(bar(f64::NAN), 0);
    }
}

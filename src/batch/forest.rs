//! Disjoint sets of contents, which can be joined but not split.

use std::sync::atomic::{AtomicU32, Ordering};

/// Disjoint sets of the contents below a number. Several threads may join sets at the same time.
///
/// # Invariant
///
/// The parent of a content is never above it, and only ever becomes lower. So the root of a set is
/// its lowest content, in whatever order the contents were joined.
#[derive(Debug)]
pub(crate) struct Forest {
    parents: Vec<AtomicU32>,
}

impl Forest {
    /// Makes a forest of this number of contents, each in its own set.
    pub(crate) fn new(contents: u32) -> Forest {
        Forest {
            parents: (0..contents).map(AtomicU32::new).collect(),
        }
    }

    /// The lowest content of the set that contains `content`.
    pub(crate) fn root(&self, mut content: u32) -> u32 {
        loop {
            let parent = self.parent(content).load(Ordering::Relaxed);
            let above = self.parent(parent).load(Ordering::Relaxed);
            if parent == above {
                return parent;
            }
            // Halves the path to the root. Of two ancestors, the lower one is nearer to the root.
            self.parent(content).fetch_min(above, Ordering::Relaxed);
            content = above;
        }
    }

    /// Whether both contents are in the same set.
    pub(crate) fn are_joined(&self, one: u32, other: u32) -> bool {
        self.root(one) == self.root(other)
    }

    /// Merges the sets of both contents.
    pub(crate) fn join(&self, one: u32, other: u32) {
        loop {
            let (one, other) = (self.root(one), self.root(other));
            let (low, high) = (one.min(other), one.max(other));
            // Fails if another thread has put the root under another one in the meantime.
            let parent = self.parent(high);
            let joined = parent.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed);
            if low == high || joined.is_ok() {
                return;
            }
        }
    }

    /// Makes `root`, which is lower, the parent of `content`.
    pub(crate) fn place(&mut self, content: u32, root: u32) {
        *self.parents[content as usize].get_mut() = root;
    }

    /// The contents that are not the lowest of their sets, each after its root, sorted by both.
    pub(crate) fn members(&self) -> Vec<(u32, u32)> {
        members(self.roots())
    }

    /// The lowest content of the set of each content.
    pub(crate) fn roots(&self) -> impl Iterator<Item = u32> {
        let contents = (0..).zip(&self.parents);
        contents.map(|(content, _)| self.root(content))
    }

    fn parent(&self, content: u32) -> &AtomicU32 {
        &self.parents[content as usize]
    }
}

/// The contents that are not roots, each after its root, sorted by both. `roots` has the root of each content.
pub(crate) fn members(roots: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut members: Vec<(u32, u32)> = roots
        .zip(0..)
        .filter(|(root, content)| root != content)
        .collect();
    members.sort_unstable();
    members
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    /// The lowest content of each set, found by joining until nothing changes.
    fn lowest(contents: u32, joins: &[(u32, u32)]) -> Vec<u32> {
        let mut lowest: Vec<u32> = (0..contents).collect();
        for _ in 0..contents {
            for &(one, other) in joins {
                let (one, other) = (one as usize, other as usize);
                let low = lowest[one].min(lowest[other]);
                (lowest[one], lowest[other]) = (low, low);
            }
        }
        lowest
    }

    proptest! {
        #[test]
        fn roots_are_the_lowest_of_their_sets_for_several_threads_too(
            joins in prop::collection::vec((0..60_u32, 0..60_u32), 0..80)
        ) {
            let forest = Forest::new(60);
            thread::scope(|scope| {
                for part in joins.chunks(joins.len().div_ceil(3).max(1)) {
                    let forest = &forest;
                    scope.spawn(move || part.iter().for_each(|&(a, b)| forest.join(a, b)));
                }
            });
            let roots: Vec<u32> = (0..60).map(|content| forest.root(content)).collect();
            let expected = lowest(60, &joins);
            prop_assert_eq!(&roots, &expected);
            let mut members: Vec<(u32, u32)> = expected.into_iter().zip(0..).collect();
            members.retain(|(root, content)| root != content);
            members.sort_unstable();
            prop_assert_eq!(forest.members(), members);
        }
    }
}

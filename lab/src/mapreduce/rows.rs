//! Comparing the documents of a bucket that can match by size, row by row.

use std::collections::VecDeque;

use super::WIDTH;
use super::error::{Error, Result};
use super::groups::Group;
use super::line::BucketDocument;
use dedupdb::Schema;
use dedupdb::batch::{self, Verifier};
use rayon::prelude::*;

/// Rows of at least this many documents are compared by several threads.
const MANY: usize = 1 << 12;

/// Compares the documents of the buckets of a band.
#[derive(Debug)]
pub(super) struct BucketComparer {
    verifier: Verifier,
}

impl BucketComparer {
    /// Compares documents that share a bucket of this band.
    pub(super) fn new(schema: &Schema, band: u32) -> dedupdb::Result<BucketComparer> {
        let verifier = Verifier::new(schema, WIDTH, band)?;
        Ok(BucketComparer { verifier })
    }

    /// The band whose buckets are compared.
    pub(super) fn band(&self) -> u32 {
        self.verifier.band()
    }

    /// Compares `members`, which are the lines of `group`, share the bucket `key` and are sorted by size.
    ///
    /// Passes every pair that matches and shares no earlier bucket to `take`. Documents whose sizes differ too much are
    /// not compared. Only the documents that fit the size of the current one are unpacked at a time.
    pub(super) fn compare<E: From<Error>>(
        &self,
        group: &Group,
        key: u64,
        members: &[BucketDocument<'_>],
        take: &mut impl FnMut(&BucketDocument<'_>, &BucketDocument<'_>, f64) -> Result<(), E>,
    ) -> Result<(), E> {
        // The first document of the window is that of the current row.
        let mut window: VecDeque<batch::BucketMember> = VecDeque::new();
        for (at, member) in members.iter().enumerate() {
            let rest = &members[at..];
            let fits =
                |other: &BucketDocument<'_>| self.verifier.can_match(member.size, other.size);
            let fitting = rest.partition_point(fits);
            if fitting > 1 {
                for member in &rest[window.len()..fitting] {
                    window.push_back(self.unpack(group, key, member)?);
                }
                for (other, jaccard) in self.row(&window) {
                    take(member, &rest[other], jaccard)?;
                }
            }
            window.pop_front();
        }
        Ok(())
    }

    /// Compares the first document with the others, and returns the places and similarities of those that match.
    fn row(&self, window: &VecDeque<batch::BucketMember>) -> Vec<(usize, f64)> {
        let similar = |other: usize| {
            let jaccard = self.verifier.verify(&window[0], &window[other])?;
            Some((other, jaccard))
        };
        if window.len() < MANY {
            (1..window.len()).filter_map(similar).collect()
        } else {
            let found = (1..window.len())
                .into_par_iter()
                .map(similar)
                .collect::<Vec<_>>();
            found.into_iter().flatten().collect()
        }
    }

    fn unpack(
        &self,
        group: &Group,
        bucket: u64,
        member: &BucketDocument<'_>,
    ) -> Result<batch::BucketMember> {
        let place = || group.place(member.number);
        let Some(shingles) = member.shingles() else {
            return Err(Error::NoLine { place: place() });
        };
        let unpacked = self.verifier.member(shingles);
        if unpacked.key() != bucket {
            return Err(Error::OtherBucket { place: place() });
        }
        Ok(unpacked)
    }
}

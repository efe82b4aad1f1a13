//! The documents of a bucket that can match by size, one row after the other.

use std::collections::VecDeque;

use anyhow::{Result, bail};
use dedupdb::Schema;
use dedupdb::batch::{self, Verifier};
use rayon::prelude::*;

use super::WIDTH;
use super::groups::{no_line, place};
use super::line::Member;

/// Comparisons of a row from which on they are made by several threads.
const MANY: usize = 1 << 12;

/// Compares the documents of the buckets of a band.
#[derive(Debug)]
pub(super) struct Comparer {
    verifier: Verifier,
}

impl Comparer {
    /// Compares documents that share a bucket of this band.
    pub(super) fn new(schema: &Schema, band: u32) -> dedupdb::Result<Comparer> {
        let verifier = Verifier::new(schema, WIDTH, band)?;
        Ok(Comparer { verifier })
    }

    /// The band whose buckets are compared.
    pub(super) fn band(&self) -> u32 {
        self.verifier.band()
    }

    /// Compares those of `members`, which share the bucket `key` and are ordered by size, whose
    /// sizes fit. Hands every pair over that matches and shares no earlier bucket.
    ///
    /// What is unpacked at a time fits the size of one.
    pub(super) fn compare(
        &self,
        key: u64,
        members: &[Member<'_>],
        take: &mut impl FnMut(&Member<'_>, &Member<'_>, f64) -> Result<()>,
    ) -> Result<()> {
        // The first is that of the row.
        let mut window: VecDeque<batch::Member> = VecDeque::new();
        for (at, member) in members.iter().enumerate() {
            let rest = &members[at..];
            let fits = |other: &Member<'_>| self.verifier.can_match(member.size, other.size);
            let fitting = rest.partition_point(fits);
            if fitting > 1 {
                for member in &rest[window.len()..fitting] {
                    window.push_back(self.unpack(key, member)?);
                }
                for (other, jaccard) in self.row(&window) {
                    take(member, &rest[other], jaccard)?;
                }
            }
            window.pop_front();
        }
        Ok(())
    }

    /// Compares the first document with the others; gives the places of those that match.
    fn row(&self, window: &VecDeque<batch::Member>) -> Vec<(usize, f64)> {
        let similar = |other: usize| {
            let jaccard = self.verifier.verify(&window[0], &window[other])?;
            Some((other, jaccard))
        };
        if window.len() < MANY {
            (1..window.len()).filter_map(similar).collect()
        } else {
            let others = (1..window.len()).into_par_iter();
            others.filter_map(similar).collect()
        }
    }

    fn unpack(&self, bucket: u64, member: &Member<'_>) -> Result<batch::Member> {
        let Some(shingles) = member.shingles() else {
            return Err(no_line(member.number));
        };
        let unpacked = self.verifier.member(shingles);
        if unpacked.key() != bucket {
            bail!(
                "{}: its shingles are not of this bucket: the line was changed since map wrote it",
                place(member.number)
            );
        }
        Ok(unpacked)
    }
}

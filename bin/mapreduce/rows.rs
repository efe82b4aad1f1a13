//! The documents of a bucket that can match by size, one row after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::{Schema, ShingleSet, Signer};
use rayon::prelude::*;

use super::groups::{no_line, place};
use super::line::Member;

/// Comparisons of a row from which on they are made by several threads.
const MANY: usize = 1 << 12;

/// Compares the documents of the buckets of a band.
#[derive(Debug)]
pub(super) struct Comparer {
    schema: Arc<Schema>,
    /// Signs as many slots as the band and those before it have.
    signer: Signer,
    band: u32,
}

/// A document whose shingles are unpacked.
#[derive(Debug)]
struct Unpacked {
    shingles: ShingleSet,
    /// Hashes of the bands before that of the bucket.
    earlier: Vec<u32>,
}

impl Comparer {
    /// Compares documents that share a bucket of this band.
    pub(super) fn new(schema: Arc<Schema>, band: u32) -> dedupdb::Result<Comparer> {
        let slots = (band + 1) * schema.bands().rows();
        let signer = Signer::new(schema.family(), schema.seed(), slots, schema.slot_width())?;
        Ok(Comparer {
            schema,
            signer,
            band,
        })
    }

    /// The band whose buckets are compared.
    pub(super) fn band(&self) -> u32 {
        self.band
    }

    /// Compares those of `members`, which share the bucket `hash` and are ordered by size, whose
    /// sizes fit. Hands every pair over that matches and shares no earlier bucket.
    ///
    /// What is unpacked at a time fits the size of one.
    pub(super) fn compare(
        &self,
        hash: u32,
        members: &[Member<'_>],
        take: &mut impl FnMut(&Member<'_>, &Member<'_>, f64) -> Result<()>,
    ) -> Result<()> {
        // The first is that of the row.
        let mut window: VecDeque<Unpacked> = VecDeque::new();
        for (at, member) in members.iter().enumerate() {
            let rest = &members[at..];
            let fitting = rest.partition_point(|other| self.sizes_fit(member.size, other.size));
            if fitting > 1 {
                for member in &rest[window.len()..fitting] {
                    window.push_back(self.unpack(hash, member)?);
                }
                for (other, jaccard) in self.row(&window) {
                    take(member, &rest[other], jaccard)?;
                }
            }
            window.pop_front();
        }
        Ok(())
    }

    /// Whether sets of these sizes can be as alike as the threshold: J(A, B) <= |A| / |B|.
    fn sizes_fit(&self, small: usize, large: usize) -> bool {
        let rounded = 1.0 - f64::EPSILON;
        small as f64 >= self.schema.threshold() * large as f64 * rounded
    }

    /// Compares the first document with the others; gives the places of those that match.
    fn row(&self, window: &VecDeque<Unpacked>) -> Vec<(usize, f64)> {
        let similar = |other: usize| {
            let (one, two) = (&window[0], &window[other]);
            let mut earlier = one.earlier.iter().zip(&two.earlier);
            if earlier.any(|(one, two)| one == two) {
                return None;
            }
            let jaccard = one.shingles.jaccard(&two.shingles);
            (jaccard >= self.schema.threshold()).then_some((other, jaccard))
        };
        if window.len() < MANY {
            (1..window.len()).filter_map(similar).collect()
        } else {
            let others = (1..window.len()).into_par_iter();
            others.filter_map(similar).collect()
        }
    }

    fn unpack(&self, bucket: u32, member: &Member<'_>) -> Result<Unpacked> {
        let Some(shingles) = member.shingles() else {
            return Err(no_line(member.number));
        };
        let signature = self.signer.sign(shingles.as_slice());
        let (bands, width) = (self.schema.bands(), self.schema.slot_width());
        let hash = |band| bands.hash(signature.as_bytes(), width, band);
        if hash(self.band) != bucket {
            bail!(
                "{}: its shingles are not of this bucket: the line was changed since map wrote it",
                place(member.number)
            );
        }
        Ok(Unpacked {
            earlier: (0..self.band).map(hash).collect(),
            shingles,
        })
    }
}

//! Which contents of a large bucket can match at all.

use crate::batch::Rarity;
use crate::error::Result;
use crate::schema::Schema;
use crate::storage::Snapshot;
use crate::store::compare::least_agreeing;
use crate::text::{ShingleSet, least_in_common};

/// Number of counters, a power of two. Elements that share a counter only seem less rare.
const COUNTERS: usize = 1 << 20;

/// Spreads given integers over all values. It is odd, so different integers stay different.
const SPREAD: u32 = 0x9E37_79B1;

/// Cuts contents down to their rarest elements.
///
/// The elements of a content are its shingles or, if the store keeps none, the slots of its
/// signature. Two contents that match have at least a certain number of elements in common. Put the
/// elements of each in the same order, and leave out fewer than that number at the end. The
/// remaining prefixes still have an element in common (Chaudhuri, Ganti and Kaushik, "A Primitive
/// Operator for Similarity Joins in Data Cleaning", 2006; Bayardo, Ma and Srikant, "Scaling Up All
/// Pairs Similarity Search", 2007). The order is by frequency, so the elements that a whole bucket
/// has in common, such as those of a template, come last and are left out.
#[derive(Debug)]
pub(super) struct Prefixes<'a> {
    snapshot: &'a Snapshot,
    threshold: f64,
    rarity: Rarity,
}

impl<'a> Prefixes<'a> {
    /// Counts the elements of `contents`.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        threshold: f64,
        contents: impl Iterator<Item = u32>,
    ) -> Result<Prefixes<'a>> {
        let mut rarity = Rarity::with_counters(COUNTERS);
        let (mut set, mut elements) = (ShingleSet::default(), Vec::new());
        for content in contents {
            read_elements(snapshot, content, &mut set, &mut elements)?;
            rarity.count_all(&elements);
        }
        Ok(Prefixes {
            snapshot,
            threshold,
            rarity,
        })
    }

    /// Replaces `prefix` with the rarest elements of a content. Each content that it matches has at
    /// least one of them among its own rarest.
    pub(super) fn of(&self, content: u32, prefix: &mut Vec<u32>) -> Result<()> {
        read_elements(self.snapshot, content, &mut ShingleSet::default(), prefix)?;
        let least = least_common(&self.snapshot.schema, self.threshold, prefix.len());
        self.rarity.keep_rarest(prefix, least);
        Ok(())
    }
}

/// The least number of elements that a content of `elements` elements shares with any content that
/// it matches: at least 1 and at most all.
fn least_common(schema: &Schema, threshold: f64, elements: usize) -> usize {
    if schema.keeps_shingles() {
        return least_in_common(elements, threshold);
    }
    let least = least_agreeing(schema, threshold) as usize;
    least.clamp(1, elements.max(1))
}

/// Replaces `elements` with those of a content, in any order; `set` is scratch memory.
fn read_elements(
    snapshot: &Snapshot,
    content: u32,
    set: &mut ShingleSet,
    elements: &mut Vec<u32>,
) -> Result<()> {
    elements.clear();
    if snapshot.schema.keeps_shingles() {
        // Shingles that two sets have in common have the same hashes in both.
        snapshot.shingles(content, set)?;
        elements.extend(set.as_slice().iter().map(|hash| hash.wrapping_mul(SPREAD)));
        return Ok(());
    }
    let slots = snapshot.signature(content)?;
    let slots = slots.chunks_exact(snapshot.schema.slot_width().bytes());
    elements.extend((0_u32..).zip(slots).map(|(number, slot)| {
        let mut value = [0; 4];
        value[..slot.len()].copy_from_slice(slot);
        // Equal slots at the same place become the same element; few others do.
        (u32::from_le_bytes(value) ^ number.wrapping_mul(SPREAD).rotate_left(16))
            .wrapping_mul(SPREAD)
    }));
    Ok(())
}

//! Which contents of a large bucket can match at all.

use crate::error::Result;
use crate::schema::Schema;
use crate::storage::Snapshot;
use crate::store::compare::least_agreeing;
use crate::text::{ShingleSet, least_in_common};

/// Counters of elements, a power of two. Elements that share one only seem less rare.
const COUNTERS: usize = 1 << 20;

/// Spreads given integers over all values; odd, so that no two become one.
const SPREAD: u32 = 0x9E37_79B1;

/// Cuts contents down to their rarest elements.
///
/// The elements of a content are its shingles or, where none are kept, the slots of its signature.
/// Two contents that match have at least so many elements in common; so, with the elements of each
/// in one order, a first part of one that leaves out fewer than that has an element in common with
/// that of the other (Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins in
/// Data Cleaning", 2006; Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search", 2007).
/// In the order of their frequency, what a whole bucket has in common, such as a template, comes
/// last and is left out.
#[derive(Debug)]
pub(super) struct Prefixes<'a> {
    snapshot: &'a Snapshot,
    threshold: f64,
    counts: Vec<u32>,
}

impl<'a> Prefixes<'a> {
    /// Counts the elements of `contents`.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        threshold: f64,
        contents: impl Iterator<Item = u32>,
    ) -> Result<Prefixes<'a>> {
        let mut counts = vec![0_u32; COUNTERS];
        let (mut set, mut elements) = (ShingleSet::default(), Vec::new());
        for content in contents {
            read_elements(snapshot, content, &mut set, &mut elements)?;
            for &element in &elements {
                let count = &mut counts[counter(element)];
                *count = count.saturating_add(1);
            }
        }
        Ok(Prefixes {
            snapshot,
            threshold,
            counts,
        })
    }

    /// Replaces `prefix` by the rarest elements of a content: one of them at least is among those
    /// of each content that it matches.
    pub(super) fn of(&self, content: u32, prefix: &mut Vec<u32>) -> Result<()> {
        read_elements(self.snapshot, content, &mut ShingleSet::default(), prefix)?;
        let schema = &self.snapshot.schema;
        let kept = prefix.len() + 1 - least_common(schema, self.threshold, prefix.len());
        if kept < prefix.len() {
            let rarity = |element: &u32| (self.counts[counter(*element)], *element);
            prefix.select_nth_unstable_by_key(kept, rarity);
            prefix.truncate(kept);
        }
        Ok(())
    }
}

fn counter(element: u32) -> usize {
    element as usize % COUNTERS
}

/// Elements that a content of `elements` has in common with any that it matches, at least 1 and at
/// most all.
fn least_common(schema: &Schema, threshold: f64, elements: usize) -> usize {
    if schema.keeps_shingles() {
        return least_in_common(elements, threshold);
    }
    let least = least_agreeing(schema, threshold) as usize;
    least.clamp(1, elements.max(1))
}

/// Replaces `elements` by those of a content, in no order; `set` is memory to work in.
fn read_elements(
    snapshot: &Snapshot,
    content: u32,
    set: &mut ShingleSet,
    elements: &mut Vec<u32>,
) -> Result<()> {
    elements.clear();
    if snapshot.schema.keeps_shingles() {
        // What two sets have in common, they have in common by their hashes, too.
        snapshot.shingles(content, set)?;
        elements.extend(set.as_slice().iter().map(|hash| hash.wrapping_mul(SPREAD)));
        return Ok(());
    }
    let slots = snapshot.signature(content)?;
    let slots = slots.chunks_exact(snapshot.schema.slot_width().bytes());
    elements.extend((0_u32..).zip(slots).map(|(number, slot)| {
        let mut value = [0; 4];
        value[..slot.len()].copy_from_slice(slot);
        // Equal slots at the same place, and few others, are one element.
        (u32::from_le_bytes(value) ^ number.wrapping_mul(SPREAD).rotate_left(16))
            .wrapping_mul(SPREAD)
    }));
    Ok(())
}

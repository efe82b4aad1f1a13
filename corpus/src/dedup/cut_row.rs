//! What is cut from a row of a text.

use std::ops::Range;

use dedupdb::write::{Outcome, Relation};

/// The outcome for a row from which [`RowUnits`](crate::dedup::RowUnits) or
/// [`RowPassages`](crate::dedup::RowPassages) cut the parts that came before.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CutRow {
    /// What is left of the text, if anything is cut.
    pub text: Option<String>,
    /// Whether the row is dropped, because too much of it is cut, or no word is left.
    pub is_dropped: bool,
    /// The parts of the text that are cut, or would be if the row stayed, in order.
    pub cuts: Vec<RowCut>,
}

/// A part of a text that is cut.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RowCut {
    /// Its place in the text, in bytes from 0.
    pub bytes: Range<usize>,
    /// Whose copy it is, if it is a unit.
    pub copy: Option<UnitCopy>,
}

/// A unit, and an earlier one that it resembles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnitCopy {
    /// The number of the unit in its row, from 0.
    pub unit: u64,
    /// The number of the row with the earlier unit, from 0.
    pub earlier: u64,
    /// The number of the earlier unit in that row.
    pub earlier_unit: u64,
    /// The exact Jaccard similarity of the two units, from 0 to 1. `None` if the schema keeps no shingles.
    pub jaccard: Option<f64>,
    /// The estimate of this similarity from the signatures, from 0 to 1.
    pub estimate: f64,
    /// Whether the units are the same.
    pub exact_copy: bool,
}

impl UnitCopy {
    /// Reads the outcome of offering a unit. `None` if it is not a copy of one of a numbered row.
    pub(super) fn of(unit: usize, outcome: &Outcome) -> Option<UnitCopy> {
        let earlier = outcome.duplicate_of()?;
        let (row, number) = earlier.key.rsplit_once('@')?;
        Some(UnitCopy {
            unit: unit as u64,
            earlier: row.parse().ok()?,
            earlier_unit: number.parse::<u64>().ok()?.checked_sub(1)?,
            jaccard: earlier.jaccard,
            estimate: earlier.estimate.jaccard,
            exact_copy: outcome.relation == Relation::ExactCopy,
        })
    }
}

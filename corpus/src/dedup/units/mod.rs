//! Paragraphs and lines that are judged instead of whole documents.

mod run;
mod split;

pub(super) use run::by_unit;

use crate::dedup::error::{Error, Result};
use crate::dedup::settings::{Dedup, Keep};

/// A part of a text that is judged as documents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Lines between blank ones.
    Paragraph,
    /// A line.
    Line,
}

/// Which parts of texts are judged, and when a document goes with its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnitRule {
    /// `None` if whole documents are judged.
    pub(crate) unit: Option<Unit>,
    /// The number of words of the shortest units that are judged.
    pub(crate) fewest_words: usize,
    /// The share of its characters beyond which a document goes.
    pub(crate) most_lost: f64,
}

impl Default for UnitRule {
    fn default() -> UnitRule {
        UnitRule {
            unit: None,
            fewest_words: 13,
            most_lost: 0.8,
        }
    }
}

impl UnitRule {
    /// Whether the share is in its range.
    pub(super) fn is_share(&self) -> bool {
        self.most_lost > 0.0 && self.most_lost <= 1.0
    }
}

/// Refuses what does not go together with units.
///
/// # Errors
///
/// [`Error::Units`].
pub(super) fn check(dedup: &Dedup) -> Result<()> {
    if dedup.units.unit.is_none() {
        return Ok(());
    }
    let reason = if !dedup.units.is_share() {
        "the share that a document may lose is above 0 and at most 1"
    } else if dedup.kept() != Keep::First {
        "the first copy of a paragraph or line stays"
    } else if dedup.containment.least.is_some() {
        "paragraphs and lines are not compared by containment"
    } else if dedup.against.is_some() {
        "paragraphs and lines are compared with each other, and with those of a store"
    } else if !dedup.protected.is_empty() || dedup.droppable.is_some() {
        "no document is protected from losing paragraphs or lines"
    } else if dedup.mark.is_some() || dedup.list.is_some() || dedup.moved_from.is_some() {
        "texts without their repeated paragraphs or lines can only be written"
    } else {
        return Ok(());
    };
    Err(Error::Units { reason })
}

//! Paragraphs and lines that are judged instead of whole documents.

mod judge;
mod rows;
mod run;
mod split;

pub use rows::RowUnits;
pub(super) use run::by_unit;

use crate::dedup::error::{Error, Result};
use crate::dedup::passages::{EVERY_COPY, check_count, check_length};
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
    /// A document that lost more than this share of its characters is dropped.
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

/// Refuses what does not go together with units or passages.
///
/// # Errors
///
/// [`Error::Units`].
pub(super) fn check(dedup: &Dedup) -> Result<()> {
    if dedup.passage.is_none() && dedup.min_count != EVERY_COPY {
        let reason = "a number of places is that of passages, and none are cut";
        return Err(Error::Units { reason });
    }
    if dedup.units.unit.is_none() && dedup.passage.is_none() {
        return Ok(());
    }
    check_lost(dedup.units.most_lost)?;
    let reason = if dedup.kept() != Keep::First {
        "the first copy of what is cut stays"
    } else if dedup.containment.least.is_some() {
        "what is cut is not compared by containment"
    } else if dedup.against.is_some() {
        "what is cut is not compared with another corpus"
    } else if !dedup.protected.is_empty() || dedup.droppable.is_some() {
        "no document is protected from being cut"
    } else if dedup.mark.is_some() || dedup.list.is_some() || dedup.moved_from.is_some() {
        "texts without what is cut can only be written"
    } else if let Some(words) = dedup.passage {
        return check_passage(dedup, words);
    } else {
        return Ok(());
    };
    Err(Error::Units { reason })
}

/// Refuses a share that a document may lose and that is out of its range.
///
/// # Errors
///
/// [`Error::Units`].
pub(super) fn check_lost(share: f64) -> Result<()> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    let reason = "the share that a document may lose is above 0 and at most 1";
    Err(Error::Units { reason })
}

fn check_passage(dedup: &Dedup, words: usize) -> Result<()> {
    check_length(words)?;
    check_count(dedup.min_count)?;
    let reason = if dedup.units.unit.is_some() {
        "either paragraphs and lines are cut, or passages"
    } else if dedup.store.is_some() || dedup.store_folder.is_some() {
        "passages are compared within the input, and not with a store"
    } else {
        return Ok(());
    };
    Err(Error::Units { reason })
}

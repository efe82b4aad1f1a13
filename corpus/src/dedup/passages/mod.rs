//! Passages that stood before, word for word, and are cut.
//!
//! What is kept so far is a sequence of **pieces**, without a repeated run of `n` words. A word is a hash of 32 bits here, and
//! the words of all pieces are in a file. Of every `s`-th place in that file, the run of `k = n - s + 1` words that begins
//! there, the **anchor**, is in an index in memory. A run of `n` words contains an anchor wherever it begins, so if each run of
//! `k` words of a new document is looked up, and what is found is compared word by word in both directions, no run of
//! `n` words is missed.

mod index;
mod kept;
mod run;
mod scan;

pub(super) use run::by_passage;

use crate::dedup::error::{Error, Result};
use crate::dedup::settings::{Dedup, Keep};

/// Refuses what does not go together with passages.
///
/// # Errors
///
/// [`Error::Units`].
pub(super) fn check(dedup: &Dedup) -> Result<()> {
    let Some(words) = dedup.passage else {
        return Ok(());
    };
    let reason = if words < PassageLengths::FEWEST {
        "a passage that is cut has at least 8 words"
    } else if !dedup.units.is_share() {
        "the share that a document may lose is above 0 and at most 1"
    } else if dedup.units.unit.is_some() {
        "either paragraphs and lines are cut, or passages"
    } else if dedup.store.is_some() || dedup.store_folder.is_some() {
        "passages are compared within the input, and not with a store"
    } else if dedup.kept() != Keep::First {
        "the first copy of a passage stays"
    } else if dedup.containment.least.is_some() {
        "passages are not compared by containment"
    } else if dedup.against.is_some() {
        "passages are compared within the input"
    } else if !dedup.protected.is_empty() || dedup.droppable.is_some() {
        "no document is protected from losing passages"
    } else if dedup.mark.is_some() || dedup.list.is_some() || dedup.moved_from.is_some() {
        "texts without their repeated passages can only be written"
    } else if dedup.removed.is_some() {
        "there is no list of passages that are cut"
    } else {
        return Ok(());
    };
    Err(Error::Units { reason })
}

/// The lengths of passages and anchors, in words.
#[derive(Clone, Copy, Debug)]
struct PassageLengths {
    /// That of the shortest passages that are cut.
    passage: usize,
    anchor: usize,
    /// The distance of two anchors.
    step: usize,
}

impl PassageLengths {
    const FEWEST: usize = 8;

    /// Returns the lengths for passages of this number of words.
    fn of(passage: usize) -> PassageLengths {
        // Fewer anchors take less memory, and shorter ones are more often in texts that have no passage in common.
        let step = passage / 2;
        PassageLengths {
            passage,
            anchor: passage - step + 1,
            step,
        }
    }
}

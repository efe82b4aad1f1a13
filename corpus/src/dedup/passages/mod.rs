//! Passages that stood before, word for word, and are cut.
//!
//! What is kept so far is a sequence of **pieces**, without a repeated run of `n` words. A word is a hash of 32 bits here, and
//! the words of all pieces are in a file. Of every `s`-th place in that file, the run of `k = n - s + 1` words that begins
//! there, the **anchor**, is in an index in memory. A run of `n` words contains an anchor wherever it begins, so if each run of
//! `k` words of a new document is looked up, and what is found is compared word by word in both directions, no run of
//! `n` words is missed.
//!
//! If only frequent runs of `n` words are cut, a first pass over all texts counts them by hashes of 64 bits, sorted on disk.

mod cutter;
mod frequent;
mod index;
mod kept;
mod list;
mod origins;
mod rows;
mod run;
mod scan;

pub use rows::RowPassages;
pub(super) use run::by_passage;

/// The least number of places with which no passage has to be counted: each copy of another one is cut.
pub(super) const EVERY_COPY: u32 = 2;

use crate::dedup::error::{Error, Result};

/// The number of words of the shortest passages that can be cut.
const FEWEST: usize = 8;

/// Refuses passages that are too short.
///
/// # Errors
///
/// [`Error::Units`].
pub(super) fn check_length(words: usize) -> Result<()> {
    if words < FEWEST {
        let reason = "a passage that is cut has at least 8 words";
        return Err(Error::Units { reason });
    }
    Ok(())
}

/// Refuses a number of places that every run of words has.
///
/// # Errors
///
/// [`Error::Units`].
pub(super) fn check_count(places: u32) -> Result<()> {
    if places < EVERY_COPY {
        let reason = "a passage that is cut stands at 2 places at least";
        return Err(Error::Units { reason });
    }
    Ok(())
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

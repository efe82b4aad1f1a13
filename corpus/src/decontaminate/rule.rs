//! When a document has an item of a benchmark.

use std::sync::Arc;

use dedupdb::sketching::{ShingleSet, Shingler, Shingling};

use crate::dedup::{Error, Result};

/// The number of words of a shingle.
pub(super) const K: u8 = 5;

/// When a document has an item: if both have some words in a row, or if a stretch of the document that is twice as long as
/// the item has a share of the item's shingles, in 70% of the item's words, and in ten of them or all of an item with fewer. In
/// an item that repeats itself, no more words count than the shingles have in the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub(super) passage: u32,
    pub(super) containment: f64,
    ignored: Arc<ShingleSet>,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            passage: 13,
            containment: 0.4,
            ignored: Arc::default(),
        }
    }
}

impl Rule {
    /// The number of words of the shortest items that can be found.
    pub const FEWEST_WORDS: usize = K as usize;

    /// What documents and items are compared by.
    pub const SHINGLING: Shingling = Shingling::Word(K);

    /// Returns the default rule.
    pub fn new() -> Rule {
        Rule::default()
    }

    /// Sets the number of words in a row: 13 by default, as GPT-3 was tested (Brown et al., "Language Models are Few-Shot
    /// Learners", 2020, appendix C), and at least 5.
    #[must_use]
    pub fn passage(self, words: u32) -> Rule {
        Rule {
            passage: words,
            ..self
        }
    }

    /// Sets the share of the item's shingles: above 0 and at most 1, and 0.4 by default. One word of twelve that is replaced
    /// leaves 0.58 of them in a long item, and less in some short ones.
    #[must_use]
    pub fn containment(self, share: f64) -> Rule {
        Rule {
            containment: share,
            ..self
        }
    }

    /// Ignores these shingles in all items, such as those of a template or of an instruction before each question. A
    /// [`Shingler`] of [`Rule::SHINGLING`] makes them with its defaults. No passage has them, and shares are computed
    /// from the rest of an item. An item of which fewer than five words remain cannot be checked.
    #[must_use]
    pub fn ignore(self, shingles: &ShingleSet) -> Rule {
        let ignored = Arc::new(shingles.clone());
        Rule { ignored, ..self }
    }

    /// Whether a shingle counts.
    pub(super) fn counts(&self, shingle: u32) -> bool {
        self.ignored.as_slice().binary_search(&shingle).is_err()
    }

    /// # Errors
    ///
    /// [`Error::Benchmark`] for a number out of its range.
    pub(super) fn check(&self) -> Result<()> {
        let reason = if self.passage < u32::from(K) {
            format!("a passage has at least {K} words, not {}", self.passage)
        } else if !(self.containment > 0.0 && self.containment <= 1.0) {
            let containment = self.containment;
            format!("containment is above 0 and at most 1, not {containment}")
        } else {
            return Ok(());
        };
        Err(Error::Benchmark { reason })
    }

    /// The number of shingles that a stretch has at least, of an item with this number of them.
    pub(super) fn fewest(&self, shingles: usize) -> u32 {
        // Division tells exactly what multiplication may round.
        let is_share = |fewest: &usize| *fewest as f64 / shingles as f64 >= self.containment;
        let fewest = (1..shingles).find(is_share).unwrap_or(shingles);
        u32::try_from(fewest).unwrap_or(u32::MAX)
    }

    /// Gives the hashes of words, in their order. An empty text has one hash.
    pub(super) fn word_hasher() -> dedupdb::Result<Shingler> {
        Shingler::new(Shingling::Word(1), true, true)
    }

    /// The shingler of documents and items.
    pub(super) fn shingler() -> dedupdb::Result<Shingler> {
        Shingler::new(Rule::SHINGLING, true, true)
    }
}

/// The number of words of an item that a stretch of a document has at least, in shingles: 70% of them, and ten, or all of an
/// item with fewer.
pub(super) fn fewest_words(words: usize) -> usize {
    (words * 7).div_ceil(10).max(words.min(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_shingles_is_rounded_up() {
        let fewest = |containment, shingles| Rule::new().containment(containment).fewest(shingles);
        assert_eq!(fewest(0.5, 4), 2);
        assert_eq!(fewest(0.5, 5), 3);
        assert_eq!(fewest(0.1, 30), 3);
        assert_eq!(fewest(0.7, 10), 7);
        assert_eq!(fewest(1.0, 9), 9);
        assert_eq!(fewest(1e-9, 9), 1);
    }
}

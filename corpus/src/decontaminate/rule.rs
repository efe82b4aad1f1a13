//! When a document has an item of a benchmark.

use dedupdb::sketching::{Shingler, Shingling};

use crate::dedup::{Error, Result};

/// The number of words of a shingle.
pub(super) const K: u8 = 5;

/// A document has an item if both have `passage` words in a row, or if a stretch of the document that is twice as long as
/// the item has the share `containment` of the item's shingles, in [`fewest_words`] words of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) passage: u32,
    pub(super) containment: f64,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            passage: 13,
            containment: 0.4,
        }
    }
}

impl Rule {
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

    /// The shingler of documents and items.
    pub(super) fn shingler() -> Result<Shingler> {
        Ok(Shingler::new(Shingling::Word(K), true, true)?)
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
        let fewest = |containment, shingles| {
            let rule = Rule {
                containment,
                ..Rule::default()
            };
            rule.fewest(shingles)
        };
        assert_eq!(fewest(0.5, 4), 2);
        assert_eq!(fewest(0.5, 5), 3);
        assert_eq!(fewest(0.1, 30), 3);
        assert_eq!(fewest(0.7, 10), 7);
        assert_eq!(fewest(1.0, 9), 9);
        assert_eq!(fewest(1e-9, 9), 1);
    }
}

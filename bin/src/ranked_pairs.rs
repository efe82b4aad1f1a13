//! Pairs of documents, ranked by the longest passage that both have.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Seek as _, Write as _};
use std::sync::Arc;

/// The number of pairs that are always kept in memory.
const FEW: usize = 1 << 16;

/// Pairs, each seen from one document or from both, in the order of arrival.
///
/// With a limit, only the best ones stay in memory. A pair ranks by the better of its two sides, so one that falls out
/// and comes back with its other side ranks as if it had stayed. What its first side was is read from a file.
#[derive(Debug)]
pub(crate) struct RankedPairs {
    documents: DocumentNumbers,
    pairs: Vec<PassagePair>,
    /// The number of pairs at which the sides are joined.
    most: usize,
    limit: Option<usize>,
    fallen: Option<BufWriter<File>>,
}

/// The keys of documents, numbered, and the length of each text that was at hand.
#[derive(Debug, Default)]
struct DocumentNumbers {
    numbers: HashMap<Arc<str>, u32>,
    keys: Vec<Arc<str>>,
    tokens: Vec<Option<u32>>,
}

/// Two documents. What was not seen from one of them is 0 on its side.
#[derive(Clone, Copy, Debug)]
struct PassagePair {
    documents: [u32; 2],
    longest: [u32; 2],
    covered: [u32; 2],
}

/// A pair as it is listed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankedPair {
    pub(crate) keys: [Arc<str>; 2],
    pub(crate) longest: u32,
    /// The share of each text that the passages cover, if the text was at hand.
    pub(crate) coverage: [Option<f64>; 2],
}

impl RankedPairs {
    /// Makes an empty list. It keeps the `limit` best pairs, or all without a limit.
    pub(crate) fn new(limit: Option<usize>) -> RankedPairs {
        RankedPairs {
            documents: DocumentNumbers::default(),
            pairs: Vec::new(),
            most: FEW,
            limit,
            fallen: None,
        }
    }

    /// Records that the text of a document, of this many tokens, was at hand.
    pub(crate) fn read(&mut self, key: &str, tokens: u32) {
        let number = self.documents.number(key);
        self.documents.tokens[number as usize] = Some(tokens);
    }

    /// Whether the text of a document was at hand.
    pub(crate) fn has_read(&self, key: &str) -> bool {
        let number = self.documents.numbers.get(key);
        number.is_some_and(|&number| self.documents.tokens[number as usize].is_some())
    }

    /// Adds a pair in the order of its columns, as the text of the document on one `side` shows it: the longest passage,
    /// and the number of tokens in all of them.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub(crate) fn push(
        &mut self,
        keys: [&str; 2],
        side: usize,
        (longest, covered): (u32, u32),
    ) -> io::Result<()> {
        let mut pair = PassagePair {
            documents: keys.map(|key| self.documents.number(key)),
            longest: [0; 2],
            covered: [0; 2],
        };
        (pair.longest[side], pair.covered[side]) = (longest, covered);
        self.pairs.push(pair);
        if self.pairs.len() >= self.most {
            self.settle()?;
            self.most = FEW.max(2 * self.pairs.len());
            self.pairs.reserve_exact(self.most - self.pairs.len());
        }
        Ok(())
    }

    /// Joins the two sides of each pair, and drops the pairs beyond the limit.
    fn settle(&mut self) -> io::Result<()> {
        self.pairs.sort_unstable_by_key(|pair| pair.documents);
        self.pairs.dedup_by(|other, pair| pair.join(other));
        let Some(limit) = self.limit.filter(|&limit| limit < self.pairs.len()) else {
            return Ok(());
        };
        let documents = &self.documents;
        let order = |a: &PassagePair, b: &PassagePair| documents.order(a, b);
        self.pairs.select_nth_unstable_by(limit, order);
        let fallen = match &mut self.fallen {
            Some(fallen) => fallen,
            none => none.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        for pair in self.pairs.drain(limit..) {
            for number in [pair.documents, pair.longest, pair.covered].as_flattened() {
                fallen.write_all(&number.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Returns the pairs: the longest passage first, then the greater coverage, then by keys.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written or read.
    pub(crate) fn ranked(mut self) -> io::Result<impl ExactSizeIterator<Item = RankedPair>> {
        self.settle()?;
        self.pairs.sort_unstable_by_key(|pair| pair.documents);
        if let Some(fallen) = self.fallen.take() {
            let mut file = fallen
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            let mut file = BufReader::new(file);
            while let Some(fallen) = PassagePair::read(&mut file)? {
                let place = |pair: &PassagePair| pair.documents.cmp(&fallen.documents);
                if let Ok(place) = self.pairs.binary_search_by(place) {
                    self.pairs[place].join(&fallen);
                }
            }
        }
        let documents = self.documents;
        self.pairs.sort_unstable_by(|a, b| documents.order(a, b));
        let listed = move |pair: PassagePair| documents.listed(&pair);
        Ok(self.pairs.into_iter().map(listed))
    }
}

impl PassagePair {
    /// Takes over what `other` knows, if it is the same pair. Returns whether it is.
    fn join(&mut self, other: &PassagePair) -> bool {
        if self.documents != other.documents {
            return false;
        }
        for side in 0..2 {
            self.longest[side] = self.longest[side].max(other.longest[side]);
            self.covered[side] = self.covered[side].max(other.covered[side]);
        }
        true
    }

    /// The next pair of a file, or `None` at its end.
    fn read(file: &mut impl io::Read) -> io::Result<Option<PassagePair>> {
        let mut numbers = [[0; 2]; 3];
        for number in numbers.as_flattened_mut() {
            let mut bytes = [0; 4];
            match file.read_exact(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
            *number = u32::from_le_bytes(bytes);
        }
        let [documents, longest, covered] = numbers;
        Ok(Some(PassagePair {
            documents,
            longest,
            covered,
        }))
    }
}

impl DocumentNumbers {
    fn number(&mut self, key: &str) -> u32 {
        if let Some(&number) = self.numbers.get(key) {
            return number;
        }
        // A store has fewer documents.
        let number = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let key: Arc<str> = key.into();
        self.numbers.insert(key.clone(), number);
        self.keys.push(key);
        self.tokens.push(None);
        number
    }

    fn coverage(&self, pair: &PassagePair, side: usize) -> Option<f64> {
        let tokens = self.tokens[pair.documents[side] as usize]?;
        (tokens > 0).then(|| f64::from(pair.covered[side]) / f64::from(tokens))
    }

    /// The order in which pairs are listed.
    fn order(&self, a: &PassagePair, b: &PassagePair) -> Ordering {
        let rank = |pair: &PassagePair| {
            let sides = [0, 1].map(|side| {
                let coverage = self.coverage(pair, side).unwrap_or(0.0);
                // Of numbers that are not negative, the bits have the same order.
                (pair.longest[side], coverage.to_bits())
            });
            Reverse(sides.into_iter().max())
        };
        let keys = |pair: &PassagePair| pair.documents.map(|number| &*self.keys[number as usize]);
        let by_rank = rank(a).cmp(&rank(b));
        by_rank.then_with(|| keys(a).cmp(&keys(b)))
    }

    fn listed(&self, pair: &PassagePair) -> RankedPair {
        RankedPair {
            keys: pair
                .documents
                .map(|number| self.keys[number as usize].clone()),
            longest: pair.longest.into_iter().max().unwrap_or(0),
            coverage: [0, 1].map(|side| self.coverage(pair, side)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, RankedPairs};

    /// Pairs of a few hundred documents, first as the earlier ones show them and then as the later ones do.
    fn of_many(limit: Option<usize>) -> RankedPairs {
        let mut pairs = RankedPairs::new(limit);
        let keys: Vec<String> = (0..400).map(|number| format!("d{number:03}")).collect();
        for key in &keys {
            pairs.read(key, 1000);
        }
        for side in 0..2_u32 {
            for (a, key_a) in (0_u32..).zip(&keys) {
                for (b, key_b) in (0_u32..).zip(&keys).skip(a as usize + 1) {
                    let mixed = (a * 401 + b).wrapping_mul(0x9e37_79b9).rotate_right(7);
                    let longest = 20 + mixed % 7 + u32::from(mixed % 11 == 0) * side;
                    let covered = longest + (mixed >> (8 * side)) % 200;
                    let keys = [key_a.as_str(), key_b];
                    pairs.push(keys, side as usize, (longest, covered)).unwrap();
                }
            }
        }
        pairs
    }

    #[test]
    fn the_best_pairs_are_the_first_of_all() {
        let all: Vec<_> = of_many(None).ranked().unwrap().collect();
        assert!(all.len() > FEW);
        for limit in [0, 1, 10, 3000, all.len(), all.len() + 1] {
            let best = of_many(Some(limit));
            assert!(best.pairs.len() <= FEW.max(2 * limit));
            let best: Vec<_> = best.ranked().unwrap().collect();
            assert!(best == all[..limit.min(all.len())], "{limit}");
        }
    }
}

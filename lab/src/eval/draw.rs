//! Drawing samples of texts.

use std::collections::BTreeMap;

use dedupdb::{Error, Result};

/// Returns the rank of a text for drawing, a hash of its key and the seed. The lowest ranks are drawn.
///
/// A caller that sees one text after another can keep the lowest ranks so far, and draws the same texts as [`draw`].
///
/// ```
/// use dedupdb_lab::eval::{draw, rank};
///
/// let keys = ["a", "b", "c"];
/// let least = (0..3).min_by_key(|&place| rank(1, keys[place]));
/// assert_eq!(draw(&keys, 1, 1).first().copied(), least);
/// ```
pub fn rank(seed: u64, key: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(key.as_bytes());
    *hasher.finalize().as_bytes()
}

/// Returns the indexes of the `count` texts with the lowest ranks, ascending, or of all if there are no more. The
/// choice depends only on the keys and the seed.
///
/// ```
/// use dedupdb_lab::eval::draw;
///
/// let names = |keys: [&'static str; 4]| -> Vec<_> {
///     let mut names: Vec<_> = draw(&keys, 2, 7).into_iter().map(|place| keys[place]).collect();
///     names.sort_unstable();
///     names
/// };
/// assert_eq!(names(["a", "b", "c", "d"]), names(["d", "c", "b", "a"]));
/// ```
pub fn draw(keys: &[impl AsRef<str>], count: usize, seed: u64) -> Vec<usize> {
    let mut drawn = shuffled(keys, seed);
    drawn.truncate(count);
    drawn.sort_unstable();
    drawn
}

/// Returns the indexes of all texts, sorted by the ranks of their keys. Any number of the first ones is a draw.
///
/// ```
/// use dedupdb_lab::eval::{draw, shuffled};
///
/// let keys = ["a", "b", "c", "d"];
/// let mut first = shuffled(&keys, 7)[..2].to_vec();
/// first.sort_unstable();
/// assert_eq!(first, draw(&keys, 2, 7));
/// ```
pub fn shuffled(keys: &[impl AsRef<str>], seed: u64) -> Vec<usize> {
    let keys = keys.iter().enumerate();
    let ranked = keys.map(|(place, key)| (rank(seed, key.as_ref()), place));
    let mut ranked: Vec<([u8; 32], usize)> = ranked.collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, place)| place).collect()
}

/// Draws texts that arrive one after another: the same ones as [`draw`].
///
/// ```
/// use dedupdb_lab::eval::{Reservoir, draw};
///
/// let keys = ["a", "b", "c", "d", "e"];
/// let mut reservoir = Reservoir::new(2, 7);
/// for key in keys {
///     reservoir.push(key, key);
/// }
/// let drawn = draw(&keys, 2, 7).into_iter().map(|text| keys[text]);
/// assert_eq!(reservoir.into_drawn(), drawn.collect::<Vec<_>>());
/// ```
#[derive(Clone, Debug)]
pub struct Reservoir<T> {
    wanted: usize,
    seed: u64,
    offered: u64,
    /// By rank, and by position if keys repeat.
    drawn: BTreeMap<([u8; 32], u64), T>,
}

impl<T> Reservoir<T> {
    /// Draws this number of texts by the hashes of their keys and `seed` ([`rank`]).
    pub fn new(wanted: usize, seed: u64) -> Reservoir<T> {
        Reservoir {
            wanted,
            seed,
            offered: 0,
            drawn: BTreeMap::new(),
        }
    }

    /// Offers the next text.
    pub fn push(&mut self, key: &str, text: T) {
        self.drawn
            .insert((rank(self.seed, key), self.offered), text);
        self.offered += 1;
        if self.drawn.len() > self.wanted {
            self.drawn.pop_last();
        }
    }

    /// Returns the number of texts offered.
    pub fn met(&self) -> u64 {
        self.offered
    }

    /// Returns the drawn texts, in the order in which they arrived.
    pub fn into_drawn(self) -> Vec<T> {
        let placed = self
            .drawn
            .into_iter()
            .map(|((_, place), text)| (place, text));
        let placed: BTreeMap<u64, T> = placed.collect();
        placed.into_values().collect()
    }
}

/// Returns the number of pairs of this number of texts; [`u64::MAX`] if there are more.
pub fn pairs(texts: usize) -> u64 {
    let texts = texts as u128;
    let pairs = texts * texts.saturating_sub(1) / 2;
    u64::try_from(pairs).unwrap_or(u64::MAX)
}

/// Refuses fewer than two texts, which have no pair.
pub(super) fn check_two(texts: usize) -> Result<()> {
    if texts < 2 {
        return Err(invalid("texts", format!("a pair needs two, not {texts}")));
    }
    Ok(())
}

/// Returns the error for an invalid argument.
pub(super) fn invalid(parameter: &'static str, reason: String) -> Error {
    Error::InvalidQuery { parameter, reason }
}

#[cfg(test)]
mod tests {
    use super::{draw, pairs};

    #[test]
    fn pairs_are_counted_as_far_as_there_are_numbers() {
        assert_eq!([0, 1, 2, 5].map(pairs), [0, 0, 1, 10]);
        assert_eq!(pairs(usize::MAX), u64::MAX);
    }

    #[test]
    fn a_draw_depends_on_keys_and_seed_alone() {
        let named = |keys: &[&str], seed| {
            let drawn = draw(keys, 3, seed).into_iter();
            let mut names: Vec<String> = drawn.map(|place| keys[place].to_owned()).collect();
            names.sort();
            names
        };
        let forth = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let back = ["h", "g", "f", "e", "d", "c", "b", "a"];
        assert_eq!(named(&forth, 1), named(&back, 1));
        let all: std::collections::BTreeSet<_> = (0..20).map(|seed| named(&forth, seed)).collect();
        assert!(all.len() > 5);
        assert_eq!(draw(&forth, 99, 1), (0..8).collect::<Vec<_>>());
    }
}

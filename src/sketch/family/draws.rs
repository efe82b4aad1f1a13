//! The source of coefficients.

use std::collections::BTreeSet;

/// The output stream of BLAKE3 in key-derivation mode over the eight little-endian bytes of a seed, read as
/// little-endian integers.
pub(super) struct SeedStream(blake3::OutputReader);

impl SeedStream {
    /// Returns the stream of a seed in a `domain`, which separates it from every other use of the seed.
    pub(super) fn new(domain: &str, seed: u64) -> SeedStream {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        hasher.update(&seed.to_le_bytes());
        SeedStream(hasher.finalize_xof())
    }

    /// Returns the next four bytes.
    pub(super) fn u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Returns the next eight bytes.
    pub(super) fn u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// The coefficients of one kind drawn so far, so that none is drawn twice.
///
/// The coefficient with number `i` depends only on the stream, not on how many are drawn after it.
#[derive(Default)]
pub(super) struct DistinctDraws<T>(BTreeSet<T>);

impl<T: Copy + Ord> DistinctDraws<T> {
    /// Returns the first draw that is a valid coefficient and was not drawn before.
    pub(super) fn next(&mut self, mut draw: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(drawn) = draw()
                && self.0.insert(drawn)
            {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_twice() {
        let mut draws = [3, 3, 9, 4, 3, 4, 5].into_iter();
        let mut distinct = DistinctDraws::default();
        let mut next = || distinct.next(|| draws.next().filter(|&drawn| drawn < 9));
        assert_eq!([next(), next(), next()], [3, 4, 5]);
    }

    #[test]
    fn domains_and_seeds_have_streams_of_their_own() {
        let first = |domain, seed| SeedStream::new(domain, seed).u64();
        assert_ne!(first("a", 0), first("b", 0));
        assert_ne!(first("a", 0), first("a", 1));
        let mut halves = SeedStream::new("a", 0);
        let (low, high) = (u64::from(halves.u32()), u64::from(halves.u32()));
        assert_eq!(high << 32 | low, first("a", 0));
    }
}

//! The contents that a search has seen.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Contents by their ids.
#[derive(Debug, Default)]
pub(crate) struct SeenContents(HashSet<u32, BuildHasherDefault<SpreadHasher>>);

impl SeenContents {
    /// Makes room for `more` more contents.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    /// Adds a content. Returns whether it was not seen before.
    pub(crate) fn insert(&mut self, content: u32) -> bool {
        self.0.insert(content)
    }
}

/// Spreads ids, which are dense, by a multiplication.
#[derive(Debug, Default)]
pub(crate) struct SpreadHasher(u64);

impl Hasher for SpreadHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_new_once() {
        let mut seen = SeenContents::default();
        let ids = || (0..5000).chain([u32::MAX, 1 << 31]);
        assert!(ids().all(|id| seen.insert(id)));
        assert!(!ids().any(|id| seen.insert(id)));
    }
}

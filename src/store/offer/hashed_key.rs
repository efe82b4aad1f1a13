//! Keys with their hashes.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;

/// A random seed, so that keys cannot be chosen by their hashes.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A key and its hash, which is valid in this process only. Many threads compute hashes for the one that writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashedKey<'a> {
    pub(crate) key: &'a str,
    pub(crate) hash: u64,
}

impl HashedKey<'_> {
    pub(crate) fn new(key: &str) -> HashedKey<'_> {
        let hash = SEED.hash_one(key);
        HashedKey { key, hash }
    }
}

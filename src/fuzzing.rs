//! Entry points for the fuzzers alone: checks of modules that are not public.

use std::path::Path;

use crate::sketch::laws as sketch;
use crate::storage::laws as storage;
use crate::store::model::{self, Step, UNIT};

/// Checks headers and rows of columns.
pub fn headers(bytes: &[u8]) {
    storage::headers(bytes);
}

/// Checks leaves of packed postings.
pub fn leaf(bytes: &[u8]) {
    storage::leaf(bytes);
}

/// Checks coded shingle sets.
pub fn shingle_blocks(bytes: &[u8]) {
    storage::shingle_blocks(bytes);
}

/// Checks coded fingerprints.
pub fn fingerprints(bytes: &[u8]) {
    storage::fingerprints(bytes);
}

/// Checks the kernels of every instruction set that the machine has. The first ten bytes are the seed and the number of
/// permutations.
pub fn kernels(bytes: &[u8]) {
    let Some((seed, bytes)) = bytes.split_first_chunk() else {
        return;
    };
    let Some((permutations, bytes)) = bytes.split_first_chunk() else {
        return;
    };
    let permutations = u32::from(u16::from_le_bytes(*permutations)) % 300 + 1;
    let shingles = bytes.as_chunks().0.iter();
    let shingles: Vec<u32> = shingles.map(|word| u32::from_le_bytes(*word)).collect();
    sketch::minima(&shingles, u64::from_le_bytes(*seed), permutations);
    let (a, b) = bytes.split_at(bytes.len() / 2);
    sketch::agreement(a, b);
}

/// Runs operations on a store in `folder`, which is empty, and on the model. The first byte gives the number of
/// threads.
pub fn operations(folder: &Path, bytes: &[u8]) {
    let Some((&threads, bytes)) = bytes.split_first() else {
        return;
    };
    let steps: Vec<Step> = bytes.chunks(UNIT).map(Step::read).collect();
    model::run(folder, &steps, usize::from(threads) % 2 + 1, 0);
}

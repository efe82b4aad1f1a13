//! The signing loop, written so that a compiler vectorizes it.
//!
//! It is inlined into one caller for each family and instruction set (`simd`). All arithmetic is wrapping integer
//! arithmetic, so all instruction sets give the same bits.
#![expect(
    clippy::inline_always,
    reason = "a loop takes the instruction set of its caller"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "plain counted loops over lanes vectorise"
)]

/// The number of slots whose minima stay in registers while the shingles stream by.
pub(super) const BLOCK: usize = 32;

/// The number of shingles that are processed against all blocks before the next ones are read: 16 KiB, half of a small
/// first-level cache.
const TILE: usize = 4096;

/// [`BLOCK`] consecutive permutations of one family.
pub(super) trait PermutationBlock: Sized {
    /// Returns the permutations of a seed as an endless sequence of blocks.
    fn draw(seed: u64) -> impl Iterator<Item = Self>;

    /// Applies permutation `lane`, which is below [`BLOCK`], to a shingle.
    fn permuted(&self, lane: usize, shingle: u32) -> u32;

    /// Lowers each minimum to the least permuted shingle. Consecutive blocks may share work.
    #[inline(always)]
    fn lower(shingles: &[u32], blocks: &[Self], minima: &mut [[u32; BLOCK]]) {
        for (block, minima) in blocks.iter().zip(minima) {
            lower_block(shingles, block, minima);
        }
    }
}

/// Lowers each minimum to the least permuted shingle.
///
/// `blocks` and `minima` must be equally long.
#[inline(always)]
pub(super) fn lower<B: PermutationBlock>(
    shingles: &[u32],
    blocks: &[B],
    minima: &mut [[u32; BLOCK]],
) {
    debug_assert_eq!(
        blocks.len(),
        minima.len(),
        "one block of minima for each of permutations"
    );
    for tile in shingles.chunks(TILE) {
        B::lower(tile, blocks, minima);
    }
}

/// Lowers the minima of one block, four shingles per step.
///
/// Their four values are independent, which hides the multiplier's latency, and each coefficient is loaded only once.
#[inline(always)]
fn lower_block<B: PermutationBlock>(shingles: &[u32], block: &B, minima: &mut [u32; BLOCK]) {
    let mut least = *minima;
    let (fours, rest) = shingles.as_chunks::<4>();
    for &[w, x, y, z] in fours {
        for i in 0..BLOCK {
            let first = block.permuted(i, w).min(block.permuted(i, x));
            let second = block.permuted(i, y).min(block.permuted(i, z));
            least[i] = least[i].min(first.min(second));
        }
    }
    for &x in rest {
        for i in 0..BLOCK {
            least[i] = least[i].min(block.permuted(i, x));
        }
    }
    *minima = least;
}

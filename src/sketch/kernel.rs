//! The signing loop, written so that a compiler turns them into vector code.
//!
//! It is inlined into one caller for each instruction set (`simd`); the arithmetic is on integers
//! and wraps, so all of them give the same bits.
#![expect(
    clippy::inline_always,
    reason = "a loop takes the instruction set of its caller"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "plain counted loops over lanes vectorise"
)]

/// Slots whose minima stay in registers while the shingles stream by.
pub(super) const BLOCK: usize = 32;

/// Shingles held against all blocks before the next ones are read; 16 KiB, half of a small
/// first-level cache.
const TILE: usize = 4096;

/// The coefficients of [`BLOCK`] consecutive affine permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// `a_i`, odd.
    pub(super) multipliers: [u32; BLOCK],
    /// `b_i`.
    pub(super) offsets: [u32; BLOCK],
}

/// Lowers each minimum to the least `a_i x + b_i` over the shingles `x`.
///
/// `blocks` and `minima` are equally long.
#[inline(always)]
pub(super) fn lower(shingles: &[u32], blocks: &[Block], minima: &mut [[u32; BLOCK]]) {
    debug_assert_eq!(
        blocks.len(),
        minima.len(),
        "one block of minima for each of coefficients"
    );
    for tile in shingles.chunks(TILE) {
        for (block, minima) in blocks.iter().zip(minima.iter_mut()) {
            lower_block(tile, block, minima);
        }
    }
}

/// Lowers the minima of one block, four shingles a step: the four products are independent, which
/// hides the multiplier's latency, and load each coefficient once.
#[inline(always)]
fn lower_block(shingles: &[u32], block: &Block, minima: &mut [u32; BLOCK]) {
    let mut least = *minima;
    let (fours, rest) = shingles.as_chunks::<4>();
    for &[w, x, y, z] in fours {
        for i in 0..BLOCK {
            let (a, b) = (block.multipliers[i], block.offsets[i]);
            let first = permuted(a, b, w).min(permuted(a, b, x));
            let second = permuted(a, b, y).min(permuted(a, b, z));
            least[i] = least[i].min(first.min(second));
        }
    }
    for &x in rest {
        for i in 0..BLOCK {
            least[i] = least[i].min(permuted(block.multipliers[i], block.offsets[i], x));
        }
    }
    *minima = least;
}

#[inline(always)]
fn permuted(a: u32, b: u32, x: u32) -> u32 {
    a.wrapping_mul(x).wrapping_add(b)
}

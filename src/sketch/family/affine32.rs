//! `affine32`: multiplication by an odd number and addition, modulo 2^32.
#![expect(
    clippy::needless_range_loop,
    reason = "plain counted loops over lanes vectorise"
)]

use super::draws::SeedStream;
use crate::sketch::kernel::{BLOCK, PermutationBlock};

/// The domain that separates these coefficients from every other use of a seed.
const DOMAIN: &str = "dedupdb affine32 permutation coefficients, version 2";

/// The number of blocks that share the terms of their columns.
const ROWS: usize = 16;

/// Multiplication followed by addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Affine {
    multiplier: u32,
    offset: u32,
}

impl Affine {
    #[inline(always)]
    fn of(self, x: u32) -> u32 {
        self.multiplier.wrapping_mul(x).wrapping_add(self.offset)
    }
}

/// Consecutive permutations: a row of a grid.
///
/// Each permutation is the sum of the term of its column and the term of the row, and a sum of affine functions is
/// affine. So a slot takes an addition and a minimum, and one multiplication serves four slots. Any two permutations
/// differ in at least one term, and any [`BLOCK`] consecutive ones differ in the terms of their columns. The slots of a
/// band are as independent as if all coefficients were drawn separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct Affine32 {
    /// The number of the grid.
    grid: usize,
    /// The terms of the columns, with odd multipliers. They are the same in each row of the grid.
    multipliers: [u32; BLOCK],
    offsets: [u32; BLOCK],
    /// The term of the row, with an even multiplier.
    row: Affine,
}

impl Affine32 {
    /// The term of a column.
    #[inline(always)]
    fn column(&self, lane: usize) -> Affine {
        Affine {
            multiplier: self.multipliers[lane],
            offset: self.offsets[lane],
        }
    }
}

impl PermutationBlock for Affine32 {
    fn draw(seed: u64) -> impl Iterator<Item = Affine32> {
        let mut draws = SeedStream::new(DOMAIN, seed);
        (0..).flat_map(move |grid| {
            let (mut multipliers, mut offsets) = ([0; BLOCK], [0; BLOCK]);
            for (multiplier, offset) in multipliers.iter_mut().zip(&mut offsets) {
                *multiplier = draws.u32() | 1;
                *offset = draws.u32();
            }
            let row = |_| Affine {
                multiplier: draws.u32() & !1,
                offset: draws.u32(),
            };
            std::array::from_fn::<Affine, ROWS, _>(row).map(|row| Affine32 {
                grid,
                multipliers,
                offsets,
                row,
            })
        })
    }

    #[inline(always)]
    fn permuted(&self, lane: usize, x: u32) -> u32 {
        self.column(lane).of(x).wrapping_add(self.row.of(x))
    }

    #[inline(always)]
    fn lower(shingles: &[u32], blocks: &[Affine32], minima: &mut [[u32; BLOCK]]) {
        let mut start = 0;
        for rows in blocks.chunk_by(|one, other| one.grid == other.grid) {
            let end = start + rows.len();
            lower_grid(shingles, rows, &mut minima[start..end]);
            start = end;
        }
    }
}

/// Lowers the minima of rows of one grid, four rows at a time while there are enough.
///
/// Their minima stay in registers, and the terms of the columns are computed once for all of them.
#[inline(always)]
fn lower_grid(shingles: &[u32], rows: &[Affine32], minima: &mut [[u32; BLOCK]]) {
    let (rows, minima) = lower_each::<4>(shingles, rows, minima);
    let (rows, minima) = lower_each::<2>(shingles, rows, minima);
    lower_each::<1>(shingles, rows, minima);
}

/// Lowers the minima of `N` rows at a time, and returns the remaining rows and minima.
#[inline(always)]
fn lower_each<'a, const N: usize>(
    shingles: &[u32],
    rows: &'a [Affine32],
    minima: &'a mut [[u32; BLOCK]],
) -> (&'a [Affine32], &'a mut [[u32; BLOCK]]) {
    let (together, rest) = rows.as_chunks::<N>();
    let (lowered, left) = minima.as_chunks_mut::<N>();
    for (rows, minima) in together.iter().zip(lowered) {
        lower_rows(shingles, rows, minima);
    }
    (rest, left)
}

/// Lowers the minima of some rows, two shingles per step.
#[inline(always)]
fn lower_rows<const N: usize>(
    shingles: &[u32],
    rows: &[Affine32; N],
    minima: &mut [[u32; BLOCK]; N],
) {
    let Some(first) = rows.first() else {
        return;
    };
    // What the columns contribute is the same in all rows.
    let terms = |x: u32| {
        let mut terms = [0; BLOCK];
        for lane in 0..BLOCK {
            terms[lane] = first.column(lane).of(x);
        }
        terms
    };
    let mut least = *minima;
    let (twos, rest) = shingles.as_chunks::<2>();
    for &[x, y] in twos {
        let (of_x, of_y) = (terms(x), terms(y));
        for row in 0..N {
            let (row_x, row_y) = (rows[row].row.of(x), rows[row].row.of(y));
            for lane in 0..BLOCK {
                let one = of_x[lane].wrapping_add(row_x);
                let other = of_y[lane].wrapping_add(row_y);
                least[row][lane] = least[row][lane].min(one.min(other));
            }
        }
    }
    for &x in rest {
        for row in 0..N {
            for lane in 0..BLOCK {
                least[row][lane] = least[row][lane].min(rows[row].permuted(lane, x));
            }
        }
    }
    *minima = least;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficients(block: &Affine32, lane: usize) -> (u32, u32) {
        let offset = block.permuted(lane, 0);
        (block.permuted(lane, 1).wrapping_sub(offset), offset)
    }

    #[test]
    fn coefficients_are_frozen() {
        let blocks: Vec<Affine32> = Affine32::draw(0).take(2).collect();
        assert_eq!(coefficients(&blocks[0], 0), (0x1AFF_4061, 0x47C6_65B6));
        assert_eq!(coefficients(&blocks[0], 1), (0xA03C_CB4D, 0x349D_9135));
        assert_eq!(coefficients(&blocks[1], 1), (0xD938_7195, 0x98CE_5ABE));
        let last = Affine32::draw(u64::MAX).nth(511).unwrap();
        assert_eq!(coefficients(&last, 31), (0x6D68_ABFF, 0xD338_9504));
    }

    #[test]
    fn multipliers_are_odd_and_differ() {
        let mut seen = std::collections::BTreeSet::new();
        for block in Affine32::draw(1).take(128) {
            for lane in 0..BLOCK {
                let (multiplier, _) = coefficients(&block, lane);
                assert!(multiplier % 2 == 1 && seen.insert(multiplier));
            }
        }
    }

    #[test]
    fn values_are_those_of_the_formula() {
        for block in Affine32::draw(3).take(20) {
            for lane in 0..BLOCK {
                let (a, b) = coefficients(&block, lane);
                for x in [0, 1, 0x8000_0000, u32::MAX] {
                    let value = (u64::from(a) * u64::from(x) + u64::from(b)) % (1 << 32);
                    assert_eq!(u64::from(block.permuted(lane, x)), value);
                }
            }
        }
    }
}

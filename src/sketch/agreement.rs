//! How many slots two rows share.

use super::width::SlotWidth;

/// Returns how many slots of `a` equal the slot of `b` at the same position.
///
/// Both are signature rows of the same length: little-endian slots of `width`, as returned by
/// [`Signature::as_bytes`](crate::sketching::Signature::as_bytes). If the lengths differ, only slots that are complete
/// in both rows count.
///
/// ```
/// use dedupdb::sketching::{SlotWidth, agreeing};
///
/// let (a, b) = ([1, 0, 2, 0, 3, 0], [1, 0, 2, 1, 3, 0]);
/// assert_eq!(agreeing(&a, &b, SlotWidth::Bits16), 2);
/// assert_eq!(agreeing(&a, &b, SlotWidth::Bits8), 5);
/// ```
pub fn agreeing(a: &[u8], b: &[u8], width: SlotWidth) -> u32 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    match width {
        SlotWidth::Bits8 => agreeing8(a, b),
        SlotWidth::Bits16 => agreeing16(a, b),
        SlotWidth::Bits32 => agreeing32(a, b),
    }
}

// The loops take rows of equal length. Each is written so that it compiles to good vector code with the baseline
// instructions of the architecture. For the length of a row, choosing wider instructions at run time costs what they
// save.

/// The number of bytes of a row that one step compares.
const STEP: usize = 64;

fn agreeing8(a: &[u8], b: &[u8]) -> u32 {
    let (a_steps, a_rest) = a.as_chunks::<STEP>();
    let (b_steps, b_rest) = b.as_chunks::<STEP>();
    let mut total = 0;
    for (a, b) in a_steps.iter().zip(b_steps) {
        let mut equal = 0_u8; // at most STEP
        for (a, b) in a.iter().zip(b) {
            equal += u8::from(a == b);
        }
        total += u32::from(step_by_step(equal));
    }
    total + count(a_rest, b_rest)
}

fn agreeing16(a: &[u8], b: &[u8]) -> u32 {
    let (a_steps, a_rest) = a.as_chunks::<STEP>();
    let (b_steps, b_rest) = b.as_chunks::<STEP>();
    let mut total = 0;
    for (a, b) in a_steps.iter().zip(b_steps) {
        let mut equal = 0_u16;
        for (a, b) in a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0) {
            equal += u16::from(a == b);
        }
        total += u32::from(step_by_step(equal));
    }
    total + count(a_rest.as_chunks::<2>().0, b_rest.as_chunks::<2>().0)
}

/// Keeps the compiler from merging several steps.
///
/// With eight or more, it gathers bytes from each step, which is a dozen times slower.
fn step_by_step<T>(equal: T) -> T {
    std::hint::black_box(equal)
}

fn agreeing32(a: &[u8], b: &[u8]) -> u32 {
    let slots = a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0);
    slots
        .map(|(a, b)| u32::from(u32::from_le_bytes(*a) == u32::from_le_bytes(*b)))
        .sum()
}

fn count<T: PartialEq>(a: &[T], b: &[T]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_do_not_overflow_on_long_rows() {
        let row = vec![7_u8; 64 * 65_536 + 3];
        assert_eq!(agreeing(&row, &row, SlotWidth::Bits8), 4_194_307);
        assert_eq!(agreeing(&row, &row, SlotWidth::Bits16), 2_097_153);
        assert_eq!(agreeing(&row, &row, SlotWidth::Bits32), 1_048_576);
    }

    #[test]
    fn rows_of_unequal_length_count_the_slots_whole_in_both() {
        let row = [7; 200];
        assert_eq!(agreeing(&row, &row[..131], SlotWidth::Bits8), 131);
        assert_eq!(agreeing(&row[..131], &row, SlotWidth::Bits16), 65);
        assert_eq!(agreeing(&row, &row[..131], SlotWidth::Bits32), 32);
    }
}

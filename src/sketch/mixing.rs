//! The mixing of a minimum before a narrow slot is cut from it.

/// The fractional part of the golden ratio, which is odd.
const GOLDEN: u32 = 0x9E37_79B9;

/// Replaces the minima of the slots from number `first` on by their mixtures.
///
/// The low bits of `a x + b` depend only on the low bits of `x`. If slots were cut from the minima directly, all slots
/// of two single-shingle sets would agree whenever the low bits of the shingles do. The low bits of mixed minima agree
/// by chance, independently for each slot.
///
/// The mixture is a bijection of 32 bits that differs for each slot. It is frozen, because stores keep what is cut from
/// it. The minimum is exclusive-ored with [`GOLDEN`] times the slot's number plus one, and then goes through the mixer
/// `lowbias32` of Chris Wellons ("Prospecting for Hash Functions", 2018, in the public domain).
#[expect(
    clippy::inline_always,
    reason = "a loop takes the instruction set of its caller"
)]
#[inline(always)]
pub(super) fn mix(first: u32, minima: &mut [u32]) {
    for (slot, minimum) in (first..).zip(minima) {
        let mut x = *minimum ^ GOLDEN.wrapping_mul(slot.wrapping_add(1));
        x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
        x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
        *minimum = x ^ (x >> 16);
    }
}

//! What a minimum goes through before a narrow slot is cut from it.

/// The fractional part of the golden ratio, odd.
const GOLDEN: u32 = 0x9E37_79B9;

/// Replaces the minima of the slots from number `first` on by their mixtures.
///
/// The low bits of `a x + b` depend on the low bits of `x` alone, so slots that were cut from minima
/// as they are would agree all at once for two sets of one shingle whose low bits agree. Mixed minima
/// agree in their low bits by chance, each slot for itself.
///
/// The mixture is a bijection of 32 bits, another one for each slot, and frozen, for stores keep what
/// is cut from it: the minimum, exclusive-ored with [`GOLDEN`] times the slot's number plus one, goes
/// through the mixer `lowbias32` of Chris Wellons ("Prospecting for Hash Functions", 2018, in the
/// public domain).
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

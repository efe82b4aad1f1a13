//! The number of bits of a minimum that a signature keeps.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The number of bits of each minimum that a slot keeps.
///
/// A slot of 32 bits is the minimum, and a narrower one is the low bits of a mixture of it. Narrow slots make small
/// signatures but may agree by chance: two unequal minima have the same low `w` bits with probability 2^-w (Li and
/// König, "b-Bit Minwise Hashing", 2010, section 2), independently for each slot.
/// [`Estimate`](crate::sketching::Estimate) corrects for this.
///
/// ```
/// use dedupdb::sketching::SlotWidth;
///
/// let width: SlotWidth = "16".parse()?;
/// assert_eq!(width, SlotWidth::default());
/// assert_eq!(width.bytes(), 2);
/// assert_eq!(width.chance(), 1.0 / 65536.0);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SlotWidth {
    /// One byte per slot. Unequal minima agree with a probability of 1 in 256.
    Bits8,
    /// Two bytes per slot. Unequal minima agree with a probability of 1 in 65,536.
    #[default]
    Bits16,
    /// Four bytes per slot: the full minimum.
    Bits32,
}

impl SlotWidth {
    /// Returns the size of a slot in bytes: 1, 2 or 4.
    pub const fn bytes(self) -> usize {
        match self {
            SlotWidth::Bits8 => 1,
            SlotWidth::Bits16 => 2,
            SlotWidth::Bits32 => 4,
        }
    }

    /// Returns the probability that the slots of two unequal minima agree by chance, 2^-bits.
    pub const fn chance(self) -> f64 {
        match self {
            SlotWidth::Bits8 => 1.0 / 256.0,
            SlotWidth::Bits16 => 1.0 / 65_536.0,
            SlotWidth::Bits32 => 1.0 / 4_294_967_296.0,
        }
    }

    /// Whether a slot is cut from its minimum, which is then mixed first.
    pub(super) const fn is_narrow(self) -> bool {
        !matches!(self, SlotWidth::Bits32)
    }

    /// Appends the low bits of each minimum, little-endian.
    pub(super) fn append(self, minima: &[u32], out: &mut Vec<u8>) {
        match self {
            SlotWidth::Bits8 => append_low::<1>(minima, out),
            SlotWidth::Bits16 => append_low::<2>(minima, out),
            SlotWidth::Bits32 => append_low::<4>(minima, out),
        }
    }
}

/// Appends the `N` low bytes of each minimum, in a form that the compiler vectorizes.
fn append_low<const N: usize>(minima: &[u32], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + N * minima.len(), 0);
    let slots = out[start..].as_chunks_mut::<N>().0;
    for (slot, minimum) in slots.iter_mut().zip(minima) {
        slot.copy_from_slice(&minimum.to_le_bytes()[..N]);
    }
}

impl fmt::Display for SlotWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SlotWidth::Bits8 => "8",
            SlotWidth::Bits16 => "16",
            SlotWidth::Bits32 => "32",
        })
    }
}

impl FromStr for SlotWidth {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "8" => Ok(SlotWidth::Bits8),
            "16" => Ok(SlotWidth::Bits16),
            "32" => Ok(SlotWidth::Bits32),
            _ => Err(Error::InvalidSchema {
                parameter: "slot-bits",
                reason: format!("a slot is 8, 16 or 32 bits wide, not {text:?}"),
            }),
        }
    }
}

//! Unsigned integers of a fixed number of bits, packed into bytes from the lowest bit up.

/// Zero bytes behind packed integers, so that each is read with one eight-byte load.
pub(crate) const PADDING: usize = 8;

/// Appends packed integers to a byte vector.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    pending: u64,
    used: u32,
}

impl<'a> BitWriter<'a> {
    /// Starts behind what `out` holds.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        BitWriter {
            out,
            pending: 0,
            used: 0,
        }
    }

    /// Appends the low `bits` bits of `value`, at most 32; the bits above must be zero.
    pub(crate) fn push(&mut self, value: u32, bits: u32) {
        self.pending |= u64::from(value) << self.used;
        self.used += bits;
        if self.used >= 32 {
            let low = self.pending & u64::from(u32::MAX);
            self.out.extend_from_slice(&low.to_le_bytes()[..4]);
            self.pending >>= 32;
            self.used -= 32;
        }
    }

    /// Writes the last bits and the padding.
    pub(crate) fn finish(self) {
        let bytes = self.used.div_ceil(8) as usize;
        self.out
            .extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
        self.out.extend_from_slice(&[0; PADDING]);
    }
}

/// Bytes that `bits` packed bits take, padding included.
pub(crate) fn packed_bytes(bits: u64) -> u64 {
    bits.div_ceil(8) + PADDING as u64
}

/// The integer of `bits` bits, at most 32, that begins at bit `at`; `bytes` end in the padding.
pub(crate) fn read(bytes: &[u8], at: usize, bits: u32) -> u32 {
    let start = at / 8;
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[start..start + 8]);
    let value = u64::from_le_bytes(word) >> (at % 8);
    low32(value & mask(bits))
}

/// The low 32 bits of `value`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low bits are what is asked for"
)]
pub(crate) fn low32(value: u64) -> u32 {
    value as u32
}

/// A word whose low `bits` bits are ones.
pub(crate) fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

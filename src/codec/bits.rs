//! Unsigned integers of a fixed number of bits, packed into bytes starting at the lowest bit.

/// The number of zero bytes after packed integers, which let each be read with one eight-byte load.
pub(crate) const PADDING: usize = 8;

/// Appends integers of `bits` bits, at most 32, packed and without padding. The bits above must be zero.
pub(crate) fn write_all(values: impl ExactSizeIterator<Item = u32>, bits: u32, out: &mut Vec<u8>) {
    let start = out.len();
    let end = start + (values.len() * bits as usize).div_ceil(8);
    // The last word may reach beyond the end.
    out.resize(end + 8, 0);
    let mut words = out[start..].chunks_exact_mut(4);
    let (mut pending, mut used) = (0_u64, 0);
    for value in values {
        pending |= u64::from(value) << used;
        used += bits;
        if used >= 32
            && let Some(word) = words.next()
        {
            word.copy_from_slice(&low32(pending).to_le_bytes());
            pending >>= 32;
            used -= 32;
        }
    }
    if let Some(word) = words.next() {
        word.copy_from_slice(&low32(pending).to_le_bytes());
    }
    out.truncate(end);
}

/// The number of bytes that `bits` packed bits take, including padding.
pub(crate) fn packed_bytes(bits: u64) -> u64 {
    bits.div_ceil(8) + PADDING as u64
}

/// The integer of `bits` bits, at most 32, that begins at bit `at`. `bytes` must end in the padding.
pub(crate) fn read(bytes: &[u8], at: usize, bits: u32) -> u32 {
    let start = at / 8;
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[start..start + 8]);
    let value = u64::from_le_bytes(word) >> (at % 8);
    low32(value & mask(bits))
}

/// Replaces `values` by the integers of `bits` bits, at most 32, packed in `bytes`, which must end in the padding.
pub(crate) fn read_all(bytes: &[u8], bits: u32, values: &mut [u32]) {
    if let Some(read) = READERS.get(bits as usize) {
        read(bytes, values);
    }
}

/// The number of integers that are read at a time. They begin and end at byte boundaries.
const ROW: usize = 8;

/// The number of bytes that are read for a row of 32-bit integers.
const WINDOW: usize = 32 + PADDING;

/// Fills a slice with the integers packed in bytes.
type UnpackFn = fn(&[u8], &mut [u32]);

/// [`read_all`] for each number of bits. With a constant number, the positions of the integers need no computation.
const READERS: [UnpackFn; 33] = [
    read_of::<0>,
    read_of::<1>,
    read_of::<2>,
    read_of::<3>,
    read_of::<4>,
    read_of::<5>,
    read_of::<6>,
    read_of::<7>,
    read_of::<8>,
    read_of::<9>,
    read_of::<10>,
    read_of::<11>,
    read_of::<12>,
    read_of::<13>,
    read_of::<14>,
    read_of::<15>,
    read_of::<16>,
    read_of::<17>,
    read_of::<18>,
    read_of::<19>,
    read_of::<20>,
    read_of::<21>,
    read_of::<22>,
    read_of::<23>,
    read_of::<24>,
    read_of::<25>,
    read_of::<26>,
    read_of::<27>,
    read_of::<28>,
    read_of::<29>,
    read_of::<30>,
    read_of::<31>,
    read_of::<32>,
];

fn read_of<const BITS: usize>(bytes: &[u8], values: &mut [u32]) {
    let mut rest = bytes;
    let mut rows = values.chunks_exact_mut(ROW);
    let mut done = 0;
    while let Some(window) = rest.first_chunk::<WINDOW>()
        && let Some(row) = rows.next()
    {
        for (index, value) in row.iter_mut().enumerate() {
            let at = index * BITS;
            let mut word = [0; 8];
            word.copy_from_slice(&window[at / 8..at / 8 + 8]);
            *value = low32(u64::from_le_bytes(word) >> (at % 8) & ((1 << BITS) - 1));
        }
        rest = &rest[BITS..];
        done += ROW;
    }
    for (index, value) in values.iter_mut().enumerate().skip(done) {
        *value = read(bytes, index * BITS, low32(BITS as u64));
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_integers_are_read_as_one_by_one(
            bits in 0_u32..=32,
            values in prop::collection::vec(any::<u32>(), 0..60),
        ) {
            let values: Vec<u32> = values.iter().map(|value| value & low32(mask(bits))).collect();
            let mut bytes = Vec::new();
            write_all(values.iter().copied(), bits, &mut bytes);
            prop_assert_eq!(bytes.len(), (values.len() * bits as usize).div_ceil(8));
            bytes.extend_from_slice(&[0; PADDING]);
            let mut back = vec![7; values.len()];
            read_all(&bytes, bits, &mut back);
            prop_assert_eq!(&back, &values);
            for (index, &value) in values.iter().enumerate() {
                prop_assert_eq!(read(&bytes, index * bits as usize, bits), value);
            }
        }
    }
}

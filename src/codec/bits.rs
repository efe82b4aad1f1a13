//! Unsigned integers of a fixed number of bits, packed into bytes starting at the lowest bit.

/// Appends integers of `bits` bits, at most 32, packed. The bits above must be zero.
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

/// The integer of `bits` bits, at most 32, that begins at bit `at`.
pub(crate) fn read(bytes: &[u8], at: usize, bits: u32) -> u32 {
    let value = first_word(&bytes[at / 8..]) >> (at % 8);
    low32(value & mask(bits))
}

/// The little-endian words of `bytes`. Zeros follow the last byte.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(first_word)
}

/// The first eight bytes, or all and zeros behind them.
fn first_word(bytes: &[u8]) -> u64 {
    let word = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        word
    });
    u64::from_le_bytes(word)
}

/// Replaces `values` by the integers of `bits` bits, at most 32, packed in `bytes`.
pub(crate) fn read_all(bytes: &[u8], bits: u32, values: &mut [u32]) {
    if let Some(read) = READERS.get(bits as usize) {
        read(bytes, values);
    }
}

/// The number of integers that are read at a time. They begin and end at byte boundaries.
const ROW: usize = 8;

/// The number of bytes that are read for a row of 32-bit integers, each with a load of eight bytes.
const WINDOW: usize = 32 + 8;

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
            behind in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let values: Vec<u32> = values.iter().map(|value| value & low32(mask(bits))).collect();
            let mut bytes = Vec::new();
            write_all(values.iter().copied(), bits, &mut bytes);
            prop_assert_eq!(bytes.len(), (values.len() * bits as usize).div_ceil(8));
            bytes.extend_from_slice(&behind);
            let mut back = vec![7; values.len()];
            read_all(&bytes, bits, &mut back);
            prop_assert_eq!(&back, &values);
            for (index, &value) in values.iter().enumerate() {
                prop_assert_eq!(read(&bytes, index * bits as usize, bits), value);
            }
        }
    }
}

//! Unsigned integers in LEB128: seven bits a byte, the lowest first, with the top bit set in all bytes except the last.

/// The maximum number of bytes of an integer.
pub(crate) const MOST_BYTES: usize = 10;

/// Writes `value` to the start of `out`, and returns the number of bytes written, at most [`MOST_BYTES`].
///
/// `out` must have room for them.
pub(crate) fn write(mut value: u64, out: &mut [u8]) -> usize {
    let mut len = 0;
    while value > 0x7F {
        out[len] = value.to_le_bytes()[0] | 0x80;
        value >>= 7;
        len += 1;
    }
    out[len] = value.to_le_bytes()[0];
    len + 1
}

/// Takes an integer off the start of `bytes`, or returns `None` if they do not begin with one of 64 bits.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(MOST_BYTES).enumerate() {
        let bits = u64::from(byte & 0x7F);
        let shifted = bits << (7 * index);
        if shifted >> (7 * index) != bits {
            return None;
        }
        value |= shifted;
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

/// Maps a signed integer to an unsigned one that is small if its magnitude is small: 0, -1, 1, -2, ...
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Reverses [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_integer_survives(value in any::<u64>(), shift in 0_u32..64) {
            let value = value >> shift;
            let mut bytes = [0xFF; MOST_BYTES + 1];
            let len = write(value, &mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Some(value));
            prop_assert_eq!(rest.len(), bytes.len() - len);
            prop_assert_eq!(take(&mut &bytes[..len - 1]), None);
        }

        #[test]
        fn a_sign_survives(value in any::<i64>(), shift in 0_u32..64) {
            let value = value >> shift;
            prop_assert_eq!(unzigzag(zigzag(value)), value);
            prop_assert!(zigzag(value) <= 2 * value.unsigned_abs());
        }
    }

    #[test]
    fn what_is_longer_than_64_bits_is_refused() {
        let longest = [[0xFF; 9].as_slice(), &[1]].concat();
        assert_eq!(take(&mut &longest[..]), Some(u64::MAX));
        let too_large = [[0xFF; 9].as_slice(), &[2]].concat();
        assert_eq!(take(&mut &too_large[..]), None);
        assert_eq!(take(&mut &[0x80; 20][..]), None);
    }
}

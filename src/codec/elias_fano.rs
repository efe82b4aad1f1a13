//! Sorted sets of 32-bit integers in Elias-Fano coding.
//!
//! A set of n integers is stored as the lower l bits of each integer, followed by the upper parts as a bit string, in
//! which the i-th one is at place `high(i) + i`. With l = floor(log2(2^32 / n)), this takes at most l + 3 bits an
//! integer, within a bit of what any coding of n random integers needs. Elias, "Efficient Storage and Retrieval by
//! Content and Address of Static Files", JACM 21, 1974.
//!
//! | bytes | field |
//! |---|---|
//! | n l / 8 rounded up, and 8 of zero | the low bits of each integer |
//! | (n + (largest >> l) + 1) / 64 rounded up, times 8 | the high parts, as little-endian u64 |
//!
//! The caller must keep the number of integers. The empty set takes no bytes.

use super::bits::{self, PADDING, low32, packed_bytes};
use super::bytes::u64_at;

/// Appends the code of `set`, which must be sorted and free of repetitions.
pub(crate) fn encode(set: &[u32], out: &mut Vec<u8>) {
    let Some(&largest) = set.last() else { return };
    let low_bits = low_bits(set.len());
    let mask = low32(bits::mask(low_bits));
    bits::write_all(set.iter().map(|value| value & mask), low_bits, out);
    out.extend_from_slice(&[0; PADDING]);
    let start = out.len();
    let places = set.len() + high(largest, low_bits) + 1;
    out.resize(start + places.div_ceil(64) * 8, 0);
    let bytes = &mut out[start..];
    for (index, &value) in set.iter().enumerate() {
        let place = high(value, low_bits) + index;
        bytes[place / 8] |= 1 << (place % 8);
    }
}

/// The maximum size in bytes of the code of `count` integers.
pub(crate) fn most_bytes(count: u32) -> u64 {
    if count == 0 {
        return 0;
    }
    let low_bits = low_bits(count as usize);
    let places = u64::from(count) + u64::from(u32::MAX >> low_bits) + 1;
    packed_bytes(u64::from(count) * u64::from(low_bits)) + places.div_ceil(64) * 8
}

/// Replaces `set` by the `count` integers encoded in `bytes`, or describes what is wrong.
pub(crate) fn decode(bytes: &[u8], count: usize, set: &mut Vec<u32>) -> Result<(), &'static str> {
    set.clear();
    if count == 0 {
        return if bytes.is_empty() {
            Ok(())
        } else {
            Err("bytes where an empty shingle set has none")
        };
    }
    let low_bits = low_bits(count);
    let low_bytes = packed_bytes(count as u64 * u64::from(low_bits));
    let split = usize::try_from(low_bytes).unwrap_or(usize::MAX);
    if bytes.len() <= split || !(bytes.len() - split).is_multiple_of(8) {
        return Err("a shingle set of the wrong length");
    }
    let (low, high) = bytes.split_at(split);
    if high.len() < count.div_ceil(8) {
        return Err("a shingle set of the wrong length");
    }
    set.resize(count, 0);
    bits::read_all(low, low_bits, set);
    let mut places = set.iter_mut();
    let mut at = 0;
    for (index, word) in high.chunks_exact(8).enumerate() {
        let mut ones = u64_at(word, 0);
        while ones != 0 {
            let Some(value) = places.next() else {
                return Err("a shingle set with too many members");
            };
            let high = index * 64 + ones.trailing_zeros() as usize - at;
            *value |= low32((high as u64) << low_bits);
            at += 1;
            ones &= ones - 1;
        }
    }
    if at == count {
        Ok(())
    } else {
        Err("a shingle set with too few members")
    }
}

fn low_bits(count: usize) -> u32 {
    // 2^32 / count is at least one for every set of u32.
    ((1_u64 << 32) / count as u64).max(1).ilog2().min(31)
}

fn high(value: u32, low_bits: u32) -> usize {
    (value >> low_bits) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(set: &[u32]) -> Vec<u32> {
        let mut bytes = Vec::new();
        encode(set, &mut bytes);
        let mut back = vec![1, 2, 3];
        decode(&bytes, set.len(), &mut back).unwrap();
        back
    }

    proptest! {
        #[test]
        fn a_set_survives_its_code(set in prop::collection::btree_set(any::<u32>(), 0..600)) {
            let set: Vec<u32> = set.into_iter().collect();
            prop_assert_eq!(round_trip(&set), set.clone());
            let mut bytes = Vec::new();
            encode(&set, &mut bytes);
            let most = most_bytes(u32::try_from(set.len()).unwrap());
            prop_assert!(bytes.len() as u64 <= most);
        }

        #[test]
        fn no_bytes_make_decoding_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            count in 0_usize..400,
        ) {
            let mut set = Vec::new();
            if decode(&bytes, count, &mut set).is_ok() {
                prop_assert_eq!(set.len(), count);
            }
        }
    }

    #[test]
    fn a_count_that_memory_could_not_hold_is_refused() {
        let mut bytes = Vec::new();
        encode(&(0..64).collect::<Vec<_>>(), &mut bytes);
        for count in [1 << 31, u32::MAX as usize] {
            assert!(decode(&bytes, count, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn the_ends_of_the_range_and_runs_survive() {
        for set in [
            vec![],
            vec![0],
            vec![u32::MAX],
            vec![0, u32::MAX],
            (0..5000).collect(),
            (u32::MAX - 5000..=u32::MAX).collect(),
        ] {
            assert_eq!(round_trip(&set), set);
        }
    }

    #[test]
    fn random_sets_take_little_over_what_information_theory_asks() {
        let set: std::collections::BTreeSet<u32> = (0..300_u64)
            .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32)
            .collect();
        let set: Vec<u32> = set.into_iter().collect();
        let mut bytes = Vec::new();
        encode(&set, &mut bytes);
        // Random sets of this size need at least log2(2^32 / 300) + 1.44 = 25.2 bits a shingle.
        let bits = (bytes.len() * 8) as f64 / set.len() as f64;
        assert!(bits < 26.2, "{bits} bits a shingle");
    }

    #[test]
    fn a_code_of_another_count_or_length_is_refused() {
        let mut bytes = Vec::new();
        encode(&[5, 9, 1 << 30], &mut bytes);
        let mut set = Vec::new();
        assert!(decode(&bytes, 3, &mut set).is_ok());
        assert!(decode(&bytes, 2, &mut set).is_err());
        assert!(decode(&bytes, 4, &mut set).is_err());
        assert!(decode(&bytes, 0, &mut set).is_err());
        for len in 0..bytes.len() {
            assert!(decode(&bytes[..len], 3, &mut set).is_err(), "{len} bytes");
        }
    }
}

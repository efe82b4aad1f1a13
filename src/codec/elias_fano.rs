//! Sorted sets of 32-bit integers in Elias-Fano coding.
//!
//! A set of n integers is stored as the lower l bits of each integer, followed by the upper parts as a bit string, in
//! which the i-th one is at place `high(i) + i`. With l = floor(log2(2^32 / n)), this takes at most l + 3 bits an
//! integer, within a bit of what any coding of n random integers needs. Elias, "Efficient Storage and Retrieval by
//! Content and Address of Static Files", JACM 21, 1974.
//!
//! | bytes | field |
//! |---|---|
//! | n l / 8 rounded up | the low bits of each integer |
//! | (n + ceil(2^32 / 2^l)) / 8 rounded up | the high parts |
//!
//! Both count their bits from the lowest of the first byte. The number of integers, which the caller must keep, gives the
//! number of bytes. The empty set takes none.

use super::bits::{self, low32};

/// Appends the code of `set`, which must be sorted and free of repetitions.
pub(crate) fn encode(set: &[u32], out: &mut Vec<u8>) {
    if set.is_empty() {
        return;
    }
    let low_bits = low_bits(set.len());
    let mask = low32(bits::mask(low_bits));
    bits::write_all(set.iter().map(|value| value & mask), low_bits, out);
    let start = out.len();
    let high_bytes = high_places(set.len()).div_ceil(8);
    out.resize(start + usize::try_from(high_bytes).unwrap_or(0), 0);
    let bytes = &mut out[start..];
    for (index, &value) in set.iter().enumerate() {
        let place = high(value, low_bits) + index;
        bytes[place / 8] |= 1 << (place % 8);
    }
}

/// The size in bytes of the code of `count` integers.
pub(crate) fn code_bytes(count: usize) -> u64 {
    if count == 0 {
        return 0;
    }
    low_bytes(count) + high_places(count).div_ceil(8)
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
    let high = high_parts(bytes, count)?;
    // Each integer begins as its low bits. Its one among the high parts adds the rest: its place without the ones
    // before it.
    set.resize(count, 0);
    bits::read_all(bytes, low_bits, set);
    let mut places = set.iter_mut();
    let mut at = 0;
    for (index, word) in bits::words(high).enumerate() {
        let mut ones = word;
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

/// Whether one of `values`, which ascend, is among the `count` integers encoded in `bytes`. Decodes only integers that
/// begin like one of them.
pub(crate) fn has_any(bytes: &[u8], count: usize, values: &[u32]) -> Result<bool, &'static str> {
    if count == 0 {
        return Ok(false);
    }
    let low_bits = low_bits(count);
    let high_parts = high_parts(bytes, count)?;
    let mut words = bits::words(high_parts);
    let is_one = |place: usize| {
        let byte = high_parts.get(place / 8);
        byte.is_some_and(|byte| byte >> (place % 8) & 1 == 1)
    };
    // The zeros of the words before `next`, and those of the word before `next` that were not passed.
    let (mut zeros, mut next, mut left) = (0, 0, 0_u64);
    for &value in values {
        let high = high(value, low_bits);
        // Integers that begin with `high` follow zero number `high`, counted from 1.
        while zeros < high {
            let Some(word) = words.next() else {
                return Ok(false);
            };
            left = !word;
            zeros += left.count_ones() as usize;
            next += 64;
        }
        // The group begins behind its zero. The zeros before that one in its word are cleared first.
        let mut place = 0;
        if high > 0 {
            let mut rest = left;
            for _ in 0..high - (zeros - left.count_ones() as usize) - 1 {
                rest &= rest - 1;
            }
            place = next - 64 + rest.trailing_zeros() as usize + 1;
        }
        // Each one that follows is an integer of the group, and its low bits decide.
        let wanted = value & low32(bits::mask(low_bits));
        while is_one(place) && place - high < count {
            let at = (place - high) * low_bits as usize;
            if bits::read(bytes, at, low_bits) == wanted {
                return Ok(true);
            }
            place += 1;
        }
    }
    Ok(false)
}

/// The high parts of the integers, behind their low bits.
fn high_parts(bytes: &[u8], count: usize) -> Result<&[u8], &'static str> {
    let split = usize::try_from(low_bytes(count)).ok();
    let high = split.and_then(|at| bytes.get(at..));
    high.filter(|_| bytes.len() as u64 == code_bytes(count))
        .ok_or("a shingle set of the wrong length")
}

/// The size in bytes of the low bits of `count` integers.
fn low_bytes(count: usize) -> u64 {
    (count as u64 * u64::from(low_bits(count))).div_ceil(8)
}

/// The number of places in the high parts of `count` integers: one for each, and one for each value that they can have.
fn high_places(count: usize) -> u64 {
    let values = u64::from(u32::MAX >> low_bits(count)) + 1;
    (count as u64).saturating_add(values)
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
            prop_assert_eq!(bytes.len() as u64, code_bytes(set.len()));
        }

        #[test]
        fn a_code_has_its_members(
            set in prop::collection::btree_set(any::<u32>(), 0..600),
            dense in prop::collection::btree_set(0_u32..900, 1..600),
            values in prop::collection::btree_set(any::<u32>(), 0..30),
            members in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        ) {
            for set in [set, dense] {
                let set: Vec<u32> = set.into_iter().collect();
                let mut bytes = Vec::new();
                encode(&set, &mut bytes);
                let mut asked = values.clone();
                asked.extend(members.iter().filter(|_| !set.is_empty()).map(|it| *it.get(&set)));
                for value in values.iter().chain(&asked) {
                    let expected = set.binary_search(value).is_ok();
                    prop_assert_eq!(has_any(&bytes, set.len(), &[*value]), Ok(expected));
                }
                let asked: Vec<u32> = asked.into_iter().collect();
                let expected = asked.iter().any(|value| set.binary_search(value).is_ok());
                prop_assert_eq!(has_any(&bytes, set.len(), &asked), Ok(expected));
            }
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
            let values: Vec<u32> = (0..=u32::MAX).step_by(9_999_991).collect();
            has_any(&bytes, count, &values).unwrap_or_default();
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

//! Buckets that were met before.

use super::bucket::Bucket;

/// Buckets that are remembered, as a power of two.
const BITS: u32 = 20;

/// Spreads numbers over the places: the fractional part of the golden ratio, odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The last million buckets, more or less: each has one place, which it leaves to the next one that
/// has it. So a bucket that is said to have been met was, and memory is 8 MiB.
#[derive(Debug)]
pub(super) struct Met {
    places: Vec<u64>,
}

impl Met {
    pub(super) fn new() -> Met {
        Met {
            places: vec![0; 1 << BITS],
        }
    }

    /// Takes note of a bucket; says whether it is known to have been met before.
    pub(super) fn again(&mut self, bucket: Bucket) -> bool {
        let number = number(bucket);
        let place = number.wrapping_mul(GOLDEN) >> (u64::BITS - BITS);
        let place = usize::try_from(place).unwrap_or_default();
        std::mem::replace(&mut self.places[place], number) == number
    }
}

/// A number for each bucket, not 0.
fn number(bucket: Bucket) -> u64 {
    match bucket {
        Bucket::Band { band, key } => ((u64::from(band) + 1) << 32) | key,
        // Half of a hash of 128 bits has 64.
        Bucket::Copies(hash) => u64::try_from(hash >> 64).unwrap_or_default() | 1 << 63,
    }
}

#[cfg(test)]
mod tests {
    use super::{Bucket, Met};

    #[test]
    fn only_what_was_met_is_met_again() {
        let mut met = Met::new();
        let buckets: Vec<Bucket> = (0..3000_u32)
            .map(|i| Bucket::Band {
                band: i % 60,
                key: u64::from(i / 60),
            })
            .chain((0..3000).map(|i| Bucket::Copies(i << 100)))
            .collect();
        assert!(!buckets.iter().any(|&bucket| met.again(bucket)));
        let again = buckets.iter().filter(|&&bucket| met.again(bucket)).count();
        assert!(again > 5900, "{again}");
    }
}

//! A memory of recent buckets.

use super::bucket::BucketId;

/// The base-2 logarithm of the number of buckets that are remembered.
const BITS: u32 = 20;

/// Spreads numbers over the places: the fractional part of the golden ratio, which is odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// About a million recent buckets.
///
/// Each bucket has one place, which it keeps until another bucket takes it. So a bucket reported as seen was seen
/// before. The memory is 8 MiB.
#[derive(Debug)]
pub(super) struct RecentBuckets {
    places: Vec<u64>,
}

impl RecentBuckets {
    pub(super) fn new() -> RecentBuckets {
        RecentBuckets {
            places: vec![0; 1 << BITS],
        }
    }

    /// Records a bucket, and returns whether it is known to have been seen before.
    pub(super) fn again(&mut self, bucket: BucketId) -> bool {
        let number = number(bucket);
        let place = number.wrapping_mul(GOLDEN) >> (u64::BITS - BITS);
        let place = usize::try_from(place).unwrap_or_default();
        std::mem::replace(&mut self.places[place], number) == number
    }
}

/// A nonzero number for each bucket.
fn number(bucket: BucketId) -> u64 {
    match bucket {
        BucketId::Band { band, key } => ((u64::from(band) + 1) << 32) | key,
        // The upper half of a 128-bit hash has 64 bits.
        BucketId::Copies(hash) => u64::try_from(hash >> 64).unwrap_or_default() | 1 << 63,
    }
}

#[cfg(test)]
mod tests {
    use super::{BucketId, RecentBuckets};

    #[test]
    fn only_what_was_met_is_met_again() {
        let mut met = RecentBuckets::new();
        let buckets: Vec<BucketId> = (0..3000_u32)
            .map(|i| BucketId::Band {
                band: i % 60,
                key: u64::from(i / 60),
            })
            .chain((0..3000).map(|i| BucketId::Copies(i << 100)))
            .collect();
        assert!(!buckets.iter().any(|&bucket| met.again(bucket)));
        let again = buckets.iter().filter(|&&bucket| met.again(bucket)).count();
        assert!(again > 5900, "{again}");
    }
}

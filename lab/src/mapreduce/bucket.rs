//! The names of buckets, by which lines are sorted.

/// A bucket, in which documents meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BucketId {
    /// The documents whose signatures have this 32-bit hash in this band.
    Band { band: u32, key: u64 },
    /// The copies of a text without shingles, by the first half of its BLAKE3 hash.
    Copies(u128),
}

/// The spelling of the buckets of `bands` bands.
///
/// All names of bands have the same length, so that any order that compares character by character keeps equal names
/// together.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketNames {
    bands: u32,
    digits: usize,
}

impl BucketNames {
    /// The names of buckets in `bands` bands.
    pub(super) fn new(bands: u32) -> BucketNames {
        let digits = bands.saturating_sub(1).to_string().len();
        BucketNames { bands, digits }
    }

    /// The name of a bucket.
    pub(super) fn name(self, bucket: BucketId) -> String {
        let digits = self.digits;
        match bucket {
            BucketId::Band { band, key } => format!("{band:0digits$}:{key:08x}"),
            BucketId::Copies(hash) => format!("copy:{hash:032x}"),
        }
    }

    /// The bucket with this name. Each bucket has only one spelling.
    pub(super) fn bucket(self, name: &[u8]) -> Option<BucketId> {
        let (kind, hash) = std::str::from_utf8(name).ok()?.split_once(':')?;
        let bucket = if kind == "copy" {
            BucketId::Copies(u128::from_str_radix(hash, 16).ok()?)
        } else {
            BucketId::Band {
                band: kind.parse().ok().filter(|&band| band < self.bands)?,
                key: u32::from_str_radix(hash, 16).ok()?.into(),
            }
        };
        (self.name(bucket).as_bytes() == name).then_some(bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::{BucketId, BucketNames};

    #[test]
    fn every_bucket_has_one_name() {
        let names = BucketNames::new(60);
        for (bucket, name) in [
            (BucketId::Band { band: 7, key: 0xab }, "07:000000ab"),
            (
                BucketId::Band {
                    band: 59,
                    key: u32::MAX.into(),
                },
                "59:ffffffff",
            ),
            (
                BucketId::Copies(15),
                "copy:0000000000000000000000000000000f",
            ),
        ] {
            assert_eq!(names.name(bucket), name);
            assert_eq!(names.bucket(name.as_bytes()), Some(bucket));
        }
        for wrong in [
            "7:000000ab",
            "07:AB",
            "07:000000AB",
            "+7:000000ab",
            "07",
            "copy:f",
            "60:000000ab",
            "",
        ] {
            assert_eq!(names.bucket(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(
            BucketNames::new(1).name(BucketId::Band { band: 0, key: 0 }),
            "0:00000000"
        );
    }
}

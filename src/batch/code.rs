//! Codes that represent contents in the search for candidates.

/// Bits of the content's hash.
const HASH_BITS: u32 = 40;

/// The largest number of shingles in a code, which also stands for larger numbers.
const MOST: u32 = (1 << 23) - 1;

/// A content in eight bytes: its number of shingles, and 40 bits of its hash.
///
/// An engine sends it to every bucket of a text, 17 times or more. Codes are below 2^63 and sorted first by the
/// number of shingles, as [`BucketWalk`](super::BucketWalk) needs them. 8,388,607 means this number or a larger one.
/// Two contents with equal numbers of shingles have the same code with a probability of 10^-12. A look-up of the code
/// then finds both, which costs one more comparison.
///
/// ```
/// use dedupdb::batch::ContentCode;
///
/// let (a, b) = (ContentCode::new(&[7; 32], 400), ContentCode::new(&[1; 32], 401));
/// assert!(a < b && b.number() < 1 << 63);
/// assert_eq!((a.size(), ContentCode::from_number(a.number())), (400, a));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentCode(u64);

impl ContentCode {
    /// Returns the code of a content with this BLAKE3 hash and number of shingles.
    pub fn new(hash: &[u8; 32], size: u32) -> ContentCode {
        let part = hash.iter().take(HASH_BITS as usize / 8);
        let part = part.fold(0, |part, &byte| part << 8 | u64::from(byte));
        ContentCode(u64::from(size.min(MOST)) << HASH_BITS | part)
    }

    /// Returns the code with this number. Every number is a code, even if no content has it.
    pub fn from_number(number: u64) -> ContentCode {
        ContentCode(number)
    }

    /// Returns the code as a number, below 2^63.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the number of shingles, or 8,388,607 if there are as many or more.
    pub fn size(self) -> u32 {
        u32::try_from(self.0 >> HASH_BITS).unwrap_or(MOST)
    }
}

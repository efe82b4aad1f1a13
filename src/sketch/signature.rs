//! The sketch of one shingle set.

use super::width::SlotWidth;

/// The sketch of one shingle set: a slot for each permutation, stored little-endian.
///
/// ```
/// use dedupdb::sketching::{Family, Signer, SlotWidth};
///
/// let signer = Signer::new(Family::Affine32, 1, 128, SlotWidth::Bits16)?;
/// let signature = signer.sign(&[3, 1, 4, 1, 5]);
/// assert_eq!(signature.len(), 128);
/// assert_eq!(signature.as_bytes().len(), 256);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    width: SlotWidth,
    bytes: Vec<u8>,
}

impl Signature {
    /// Returns the signature with these little-endian slots, or `None` if the last slot is incomplete.
    pub fn from_bytes(width: SlotWidth, bytes: Vec<u8>) -> Option<Signature> {
        bytes
            .len()
            .is_multiple_of(width.bytes())
            .then_some(Signature { width, bytes })
    }

    /// Returns the little-endian slots.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the width of the slots.
    pub fn width(&self) -> SlotWidth {
        self.width
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.width.bytes()
    }

    /// Returns whether the signature has no slots.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns slot `i`: the minimum under permutation `i`, or the low bits of a mixture of it.
    ///
    /// Returns `None` if there is no slot `i`.
    pub fn slot(&self, i: usize) -> Option<u32> {
        let slot = self.bytes.chunks_exact(self.width.bytes()).nth(i)?;
        let mut bytes = [0; 4];
        bytes[..slot.len()].copy_from_slice(slot);
        Some(u32::from_le_bytes(bytes))
    }

    /// Returns the first `slots` slots, which are the signature of the same set under that many permutations.
    ///
    /// Returns the whole signature if it has no more slots.
    #[must_use]
    pub fn prefix(&self, slots: usize) -> Signature {
        let bytes = slots.min(self.len()) * self.width.bytes();
        Signature {
            width: self.width,
            bytes: self.bytes[..bytes].to_vec(),
        }
    }
}

//! Computing signatures from shingles.

use std::cell::Cell;
use std::ops::Range;

use super::family::Family;
use super::kernel::BLOCK;
use super::permutations::Permutations;
use super::signature::Signature;
use super::simd::SimdLevel;
use super::width::SlotWidth;
use crate::error::{Error, Result};

/// The maximum number of permutations of a signature.
pub(crate) const MAX_PERMUTATIONS: u32 = 16_384;

thread_local! {
    /// The memory in which a thread signs, kept between texts: a few bytes a slot, of which there are few.
    static MINIMA: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Computes signatures: the minimum of a shingle set under each of k permutations.
///
/// A signature depends only on the set, not on the order or repetition of its shingles. Slot `i` depends on the family,
/// the seed and `i`, but not on k. So the signature under fewer permutations is a prefix of the one under more.
///
/// ```
/// use dedupdb::sketching::{Estimate, Family, Signer, SlotWidth, agreeing};
///
/// let signer = Signer::new(Family::Affine32, 1, 256, SlotWidth::Bits16)?;
/// let a: Vec<u32> = (0..900).map(|i: u32| i.wrapping_mul(0x9E37_79B1)).collect();
/// let (a, b) = (signer.sign(&a[..800]), signer.sign(&a[100..]));
///
/// // 700 of 900 shingles are in both.
/// let equal = agreeing(a.as_bytes(), b.as_bytes(), signer.width());
/// let estimate = Estimate::new(equal, signer.permutations(), signer.width());
/// assert!((estimate.jaccard - 7.0 / 9.0).abs() < 4.0 * estimate.error);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signer {
    seed: u64,
    permutations: u32,
    width: SlotWidth,
    drawn: Permutations,
    level: SimdLevel,
}

impl Signer {
    /// Returns the signer of `permutations` permutations of a family, 1 to 16384.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if `permutations` is outside its range.
    pub fn new(family: Family, seed: u64, permutations: u32, width: SlotWidth) -> Result<Signer> {
        if !(1..=MAX_PERMUTATIONS).contains(&permutations) {
            return Err(Error::InvalidSchema {
                parameter: "permutations",
                reason: format!(
                    "a signature has 1 to {MAX_PERMUTATIONS} permutations, not {permutations}"
                ),
            });
        }
        let drawn = Permutations::draw(family, seed, permutations);
        Ok(Signer {
            seed,
            permutations,
            width,
            drawn,
            level: SimdLevel::best(),
        })
    }

    /// Returns the signature of a shingle set.
    ///
    /// Every minimum of the empty set is [`u32::MAX`].
    pub fn sign(&self, shingles: &[u32]) -> Signature {
        let mut bytes = Vec::with_capacity(self.signature_bytes());
        self.sign_into(shingles, &mut Vec::new(), &mut bytes);
        // The bytes are whole slots, since whole slots were appended.
        Signature::from_bytes(self.width, bytes).unwrap_or_else(|| unreachable!())
    }

    /// Appends the little-endian slots of a shingle set's signature to `out`.
    ///
    /// `scratch` is working memory that can be reused between calls, and its content is ignored. Once it and `out` have
    /// enough capacity, a call allocates nothing.
    pub fn sign_into(&self, shingles: &[u32], scratch: &mut Vec<u32>, out: &mut Vec<u8>) {
        self.extend(0, shingles, scratch, out);
    }

    /// The first `slots` slots of a shingle set's signature, all if it has fewer, made in memory that the thread keeps.
    pub(crate) fn first_slots(&self, slots: u32, shingles: &[u32]) -> Vec<u8> {
        let slots = slots.min(self.permutations);
        let mut bytes = Vec::with_capacity(slots as usize * self.width.bytes());
        let mut scratch = MINIMA.take();
        self.append(0..slots, shingles, &mut scratch, &mut bytes);
        MINIMA.set(scratch);
        bytes
    }

    /// Appends the slots `from..` of a shingle set's signature to `out`.
    ///
    /// This extends a signature of `from` slots.
    ///
    /// Appends nothing if there are no such slots. `scratch` is as for [`Signer::sign_into`].
    ///
    /// ```
    /// use dedupdb::sketching::{Family, Signer, SlotWidth};
    ///
    /// let short = Signer::new(Family::Affine32, 1, 100, SlotWidth::Bits16)?;
    /// let long = Signer::new(Family::Affine32, 1, 256, SlotWidth::Bits16)?;
    /// let mut bytes = short.sign(&[3, 1, 4]).as_bytes().to_vec();
    /// long.extend(short.permutations(), &[3, 1, 4], &mut Vec::new(), &mut bytes);
    /// assert_eq!(bytes, long.sign(&[3, 1, 4]).as_bytes());
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn extend(&self, from: u32, shingles: &[u32], scratch: &mut Vec<u32>, out: &mut Vec<u8>) {
        if from < self.permutations {
            self.append(from..self.permutations, shingles, scratch, out);
        }
    }

    /// Appends these slots of a shingle set's signature.
    fn append(
        &self,
        slots: Range<u32>,
        shingles: &[u32],
        scratch: &mut Vec<u32>,
        out: &mut Vec<u8>,
    ) {
        let places = slots.start as usize..slots.end as usize;
        let minima = self.minima_of(places, shingles, scratch);
        self.append_slots(slots.start, minima, out);
    }

    /// Appends the slots from number `from` on, which are cut from these minima.
    fn append_slots(&self, from: u32, minima: &mut [u32], out: &mut Vec<u8>) {
        if self.width.is_narrow() {
            self.level.mix(from, minima);
        }
        self.width.append(minima, out);
    }

    /// Returns the full 32-bit minimum under each permutation, [`u32::MAX`] for the empty set.
    ///
    /// The minima of a union of sets are the slot-wise minima of the minima of the sets.
    pub fn minima(&self, shingles: &[u32]) -> Vec<u32> {
        let mut minima = Vec::new();
        let slots = self.permutations as usize;
        self.minima_of(0..slots, shingles, &mut minima);
        minima.truncate(slots);
        minima
    }

    /// Returns the signature of the set that has these minima, as [`Signer::minima`] returns them.
    ///
    /// ```
    /// use dedupdb::sketching::{Family, Signer, SlotWidth};
    ///
    /// let signer = Signer::new(Family::Affine32, 1, 128, SlotWidth::Bits16)?;
    /// let (a, b) = (signer.minima(&[3, 1]), signer.minima(&[4]));
    /// let of_both = a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect();
    /// assert_eq!(signer.sign_minima(of_both), signer.sign(&[3, 1, 4]));
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn sign_minima(&self, mut minima: Vec<u32>) -> Signature {
        let mut bytes = Vec::with_capacity(self.signature_bytes());
        self.append_slots(0, &mut minima, &mut bytes);
        // The bytes are whole slots, since whole slots were appended.
        Signature::from_bytes(self.width, bytes).unwrap_or_else(|| unreachable!())
    }

    /// Computes the minima of the blocks that contain these slots, and returns those of the slots.
    fn minima_of<'a>(
        &self,
        slots: Range<usize>,
        shingles: &[u32],
        scratch: &'a mut Vec<u32>,
    ) -> &'a mut [u32] {
        let first = slots.start / BLOCK;
        scratch.clear();
        scratch.resize((slots.end.div_ceil(BLOCK) - first) * BLOCK, u32::MAX);
        let minima = scratch.as_chunks_mut().0;
        self.drawn.lower(self.level, first, shingles, minima);
        &mut scratch[slots.start - first * BLOCK..slots.end - first * BLOCK]
    }

    /// Returns the seed of the permutations.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of permutations, which is the number of slots of a signature.
    pub fn permutations(&self) -> u32 {
        self.permutations
    }

    /// Returns the width of the slots.
    pub fn width(&self) -> SlotWidth {
        self.width
    }

    /// Returns the size of a signature in bytes.
    pub fn signature_bytes(&self) -> usize {
        self.permutations as usize * self.width.bytes()
    }
}

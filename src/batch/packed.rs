//! Packed shingle sets, which are compared exactly.

use super::columns::slices;
use crate::error::{Error, Result};
use crate::parallel;
use crate::text::{Fingerprints, ShingleSet};

/// The name of the column in errors.
const COLUMN: &str = "sets";

/// Pairs per task.
const CHUNK: usize = 256;

/// Returns the exact Jaccard similarity of two packed sets, 0 to 1. None if some bytes are not a packed set of the
/// given number of shingles.
///
/// A set is given by its number of shingles and the bytes of [`ShingleSet::to_packed`]. The result is the same as that
/// of a store: two sets of at most 16 shingles are compared with 64 bits per shingle, others with 32. Two empty sets
/// have similarity 0; copies of a text without shingles are identified by their hash.
///
/// ```
/// use dedupdb::batch;
/// use dedupdb::sketching::{Shingler, Shingling};
///
/// let shingler = Shingler::new(Shingling::Word(1), true, true)?;
/// let (a, b) = (shingler.shingles("night tram four")?, shingler.shingles("night bus four")?);
/// let (packed_a, packed_b) = (a.to_packed(), b.to_packed());
/// assert_eq!(batch::verify((3, &packed_a), (3, &packed_b)), Some(0.5));
/// assert_eq!(batch::verify((3, &packed_a), (3, b"tram")), None);
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn verify(a: (u32, &[u8]), b: (u32, &[u8])) -> Option<f64> {
    Some(unpack(a)?.jaccard(&unpack(b)?))
}

fn unpack((size, bytes): (u32, &[u8])) -> Option<ShingleSet> {
    ShingleSet::from_packed(bytes, size as usize)
}

/// A set with the fingerprints of its text, which are every `step`-th shingle, if there are any.
pub(super) fn fingerprinted(
    packed: (u32, &[u8]),
    step: Option<u32>,
    fingerprints: &[u8],
) -> Option<ShingleSet> {
    let set = unpack(packed)?;
    let Some(step) = step else {
        return Some(set);
    };
    let fingerprints = Fingerprints::from_bytes(fingerprints, step, set.as_slice())?;
    Some(set.with_fingerprints(Some(fingerprints)))
}

/// A column of packed sets.
///
/// ```
/// use dedupdb::sketching::ShingleSet;
/// use dedupdb::batch::PackedSets;
///
/// let a = ShingleSet::from_hashes(vec![1, 2, 3]).to_packed();
/// let b = ShingleSet::from_hashes(vec![2, 3, 4]).to_packed();
/// let offsets = [0, a.len(), a.len() + b.len()];
/// let bytes = [a, b].concat();
/// let sets = PackedSets::new(&[3, 3], &offsets, &bytes)?;
/// assert_eq!(sets.jaccards(&[(0, 1), (1, 1)])?, [0.5, 1.0]);
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackedSets<'a> {
    sizes: &'a [u32],
    sets: Vec<&'a [u8]>,
    /// The distance of the fingerprints, if the sets have any, and those of each.
    step: Option<u32>,
    fingerprints: Vec<&'a [u8]>,
}

impl<'a> PackedSets<'a> {
    /// Makes a column of sets with these numbers of shingles. The bytes of set `i` run from `offsets[i]` up to
    /// `offsets[i + 1]`, as for [`texts`](super::texts). Sets are unpacked when they are compared.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] if the number of offsets is not the number of sizes plus one, or an offset is outside
    /// the bytes or below the one before it.
    pub fn new<O>(sizes: &'a [u32], offsets: &[O], bytes: &'a [u8]) -> Result<PackedSets<'a>>
    where
        O: Copy + TryInto<usize>,
    {
        let sets = slices(COLUMN, offsets, bytes)?;
        if sets.len() == sizes.len() {
            return Ok(PackedSets {
                sizes,
                sets,
                step: None,
                fingerprints: Vec::new(),
            });
        }
        Err(Error::InvalidColumn {
            column: COLUMN,
            row: sets.len().min(sizes.len()),
            reason: format!("there are {} sizes and {} sets", sizes.len(), sets.len()),
        })
    }

    /// Makes a column of sets from trusted offsets: one more than there are sizes, ascending and within the bytes.
    pub(super) fn trusted(sizes: &'a [u32], offsets: &[u64], bytes: &'a [u8]) -> PackedSets<'a> {
        let sets = slices(COLUMN, offsets, bytes).unwrap_or_default();
        debug_assert_eq!(sets.len(), sizes.len(), "as many sets as sizes");
        PackedSets {
            sizes,
            sets,
            step: None,
            fingerprints: Vec::new(),
        }
    }

    /// Gives the sets the fingerprints of their texts, from trusted offsets.
    pub(super) fn with_fingerprints(
        mut self,
        step: Option<u32>,
        offsets: &[u64],
        bytes: &'a [u8],
    ) -> PackedSets<'a> {
        self.step = step;
        self.fingerprints = slices(COLUMN, offsets, bytes).unwrap_or_default();
        self
    }

    /// Returns the number of sets.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns whether there are no sets.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Unpacks a set. Those of [`Sketches`](super::Sketches) have the fingerprints of their texts, if the schema has a
    /// passage.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] if the row does not exist, or its bytes are not a packed set of its number of
    /// shingles.
    pub fn shingles(&self, row: usize) -> Result<ShingleSet> {
        let fingerprints = self.fingerprints.get(row).copied().unwrap_or_default();
        self.unpacked(row, |packed| fingerprinted(packed, self.step, fingerprints))
    }

    fn unpacked(
        &self,
        row: usize,
        unpack: impl FnOnce((u32, &[u8])) -> Option<ShingleSet>,
    ) -> Result<ShingleSet> {
        let packed = self
            .sizes
            .get(row)
            .copied()
            .zip(self.sets.get(row).copied());
        packed.and_then(unpack).ok_or_else(|| Error::InvalidColumn {
            column: COLUMN,
            row,
            reason: match packed {
                None => format!("there are {} sets", self.len()),
                Some((size, _)) => format!("the bytes are no set of {size} shingles"),
            },
        })
    }

    /// Returns the exact Jaccard similarity of each pair of rows, 0 to 1, as [`verify`] does.
    ///
    /// It is faster to give pairs with the same first row together, because that row is then unpacked once. Uses the
    /// threads of the current rayon pool.
    ///
    /// # Errors
    ///
    /// Those of [`PackedSets::shingles`], for the first pair that has one.
    pub fn jaccards(&self, pairs: &[(usize, usize)]) -> Result<Vec<f64>> {
        let parts = pairs.chunks(CHUNK).collect();
        let parts = parallel::map(parts, |pairs| self.jaccards_of(pairs));
        let parts: Vec<Vec<f64>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(parts.concat())
    }

    fn jaccards_of(&self, pairs: &[(usize, usize)]) -> Result<Vec<f64>> {
        let mut jaccards = Vec::with_capacity(pairs.len());
        for same in pairs.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(first, _)) = same.first() else {
                continue;
            };
            let first = self.unpacked(first, unpack)?;
            for &(_, second) in same {
                jaccards.push(first.jaccard(&self.unpacked(second, unpack)?));
            }
        }
        Ok(jaccards)
    }
}

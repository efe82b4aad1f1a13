//! The band keys of texts.

use crate::error::{Error, Result};

/// The number of bits of a band key.
///
/// Texts that share no band can have the same key by chance, and are then compared unnecessarily. With n texts and b
/// bands, each text has n b / 2^bits such candidates. For 10^9 texts and 17 bands, a text has 4 of them with keys of 32
/// bits; with 64 bits, one text in 10^9 has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyWidth {
    /// The hashes of stores, [`Bands::hash`](crate::sketching::Bands::hash): below 2^32. Keys of different bands may
    /// be equal, so a bucket is identified by band and key.
    Bits32,
    /// The hashes of [`Bands::key`](crate::sketching::Bands::key), whose upper halves are the 32-bit keys. A key also
    /// identifies its band.
    #[default]
    Bits64,
}

impl KeyWidth {
    /// Cuts a 64-bit key to this width.
    pub(super) fn cut(self, key: u64) -> u64 {
        match self {
            KeyWidth::Bits32 => key >> 32,
            KeyWidth::Bits64 => key,
        }
    }
}

/// A matrix of band keys: a row for each text, with a key for each band.
///
/// ```
/// use dedupdb::batch::BandKeys;
///
/// let keys = BandKeys::new(&[10, 20, 30, /* second row */ 11, 20, 30], 3)?;
/// assert_eq!((keys.len(), keys.bands()), (2, 3));
/// assert_eq!(keys.row(1), Some(&[11, 20, 30][..]));
/// assert_eq!(keys.first_shared(0, 1), Some(1));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BandKeys<'a> {
    keys: &'a [u64],
    bands: usize,
}

impl<'a> BandKeys<'a> {
    /// Makes a matrix from keys, in rows of `bands` keys.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidColumn`] if `bands` is 0, or the last row is incomplete.
    pub fn new(keys: &'a [u64], bands: usize) -> Result<BandKeys<'a>> {
        if bands > 0 && keys.len().is_multiple_of(bands) {
            return Ok(BandKeys { keys, bands });
        }
        Err(Error::InvalidColumn {
            column: "keys",
            row: keys.len().checked_div(bands).unwrap_or_default(),
            reason: format!("{} keys do not divide into rows of {bands}", keys.len()),
        })
    }

    /// Makes a matrix from trusted keys: all rows are complete, and there is at least one band.
    pub(super) fn trusted(keys: &'a [u64], bands: usize) -> BandKeys<'a> {
        debug_assert!(keys.len().is_multiple_of(bands), "rows are whole");
        BandKeys { keys, bands }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.keys.len() / self.bands
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the number of keys of a row, at least 1.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Returns all keys, row by row.
    pub fn as_slice(&self) -> &'a [u64] {
        self.keys
    }

    /// Returns the keys of a row, in the order of the bands.
    pub fn row(&self, row: usize) -> Option<&'a [u64]> {
        let start = row.checked_mul(self.bands)?;
        self.keys.get(start..start.checked_add(self.bands)?)
    }

    /// Returns the first band, from 0, whose key two rows share. None if there is no such band, or a row does not
    /// exist.
    pub fn first_shared(&self, a: usize, b: usize) -> Option<usize> {
        first_shared(self.row(a)?, self.row(b)?)
    }
}

/// The first band, from 0, that two texts with these keys share.
pub(super) fn first_shared(a: &[u64], b: &[u64]) -> Option<usize> {
    a.iter().zip(b).position(|(a, b)| a == b)
}

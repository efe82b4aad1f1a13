//! The shape of bands in a signature.

use std::fmt;
use std::ops::Range;
use std::slice::ChunksExact;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::sketch::{MAX_PERMUTATIONS, SlotWidth};

/// A shape: `b` bands of `r` consecutive slots each, starting at the first slot.
///
/// Two signatures are candidates for each other if all slots of at least one band agree.
///
/// ```
/// use dedupdb::sketching::Bands;
///
/// let shape = Bands::new(18, 7, 128)?;
/// assert_eq!(shape, "18x7".parse()?);
/// assert_eq!((shape.bands(), shape.rows(), shape.used()), (18, 7, 126));
/// # Ok::<(), dedupdb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    bands: u32,
    rows: u32,
}

impl Bands {
    /// Returns the shape of `bands` bands of `rows` rows in signatures of `permutations` slots.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSchema`] if either is 0 or the bands need more slots than there are. The message says what would
    /// fit.
    pub fn new(bands: u32, rows: u32, permutations: u32) -> Result<Bands> {
        let needed = u64::from(bands) * u64::from(rows);
        if needed == 0 {
            return Err(invalid(format!(
                "{bands} bands of {rows} rows hold no slot: both must be at least 1"
            )));
        }
        if needed > u64::from(permutations) {
            let fits = what_fits(bands, rows, permutations);
            return Err(invalid(format!(
                "{} of {} need {needed} permutations and there are {permutations}: {fits}",
                counted(bands, "band"),
                counted(rows, "row"),
            )));
        }
        Ok(Bands { bands, rows })
    }

    /// Returns a shape known to be within its range.
    pub(super) fn trusted(bands: u32, rows: u32) -> Bands {
        debug_assert!(bands > 0 && rows > 0, "a shape holds at least one slot");
        Bands { bands, rows }
    }

    /// Returns the number of bands, b.
    pub fn bands(&self) -> u32 {
        self.bands
    }

    /// Returns the number of rows of a band, r: its slots, all of which must agree.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the approximate number of bytes that the postings of a document take in a store, one in every band.
    pub fn posting_bytes(&self) -> f64 {
        5.5 * f64::from(self.bands)
    }

    /// Returns the number of slots that the bands cover, b r. Later slots only serve estimates.
    pub fn used(&self) -> u32 {
        self.bands * self.rows
    }

    /// Returns the number of bands whose slots all agree between two signature rows, or `None` if a row is
    /// shorter than [`Bands::used`] slots of `width`.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let shape = Bands::new(2, 2, 4)?;
    /// assert_eq!(shape.shared(&[1, 2, 3, 4], &[1, 2, 9, 4], SlotWidth::Bits8), Some(1));
    /// assert_eq!(shape.shared(&[1, 2, 3, 4], &[1, 2, 9], SlotWidth::Bits8), None);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn shared(&self, a: &[u8], b: &[u8], width: SlotWidth) -> Option<u32> {
        let (a, b) = (self.cut(a, width)?, self.cut(b, width)?);
        Some(a.zip(b).map(|(a, b)| u32::from(a == b)).sum())
    }

    /// Returns those of some bands whose slots all agree between two signature rows, ascending.
    ///
    /// If rows are too short, only bands that are in both rows count.
    #[inline]
    pub(crate) fn agreeing(
        self,
        a: &[u8],
        b: &[u8],
        width: SlotWidth,
        bands: Range<u32>,
    ) -> impl Iterator<Item = u32> {
        let length = self.rows as usize * width.bytes();
        let start = bands.start as usize * length;
        let mut a = a.get(start..).unwrap_or_default();
        let mut b = b.get(start..).unwrap_or_default();
        let of_both = bands.map_while(move |band| {
            let (of_a, of_b);
            (of_a, a) = a.split_at_checked(length)?;
            (of_b, b) = b.split_at_checked(length)?;
            Some((band, are_equal(of_a, of_b)))
        });
        let agreeing = of_both.filter(|&(_, is_equal)| is_equal);
        agreeing.map(|(band, _)| band)
    }

    /// Returns the bands of a row of slots of `width`, in order, or `None` if it is too short.
    pub(super) fn cut(self, row: &[u8], width: SlotWidth) -> Option<ChunksExact<'_, u8>> {
        let bands = row.get(..self.used() as usize * width.bytes())?;
        Some(bands.chunks_exact(self.rows as usize * width.bytes()))
    }

    /// Returns the byte range of a band within a row of slots of `width`, or `None` on overflow.
    pub(super) fn range(self, band: u32, width: SlotWidth) -> Option<Range<usize>> {
        let length = self.rows as usize * width.bytes();
        let start = (band as usize).checked_mul(length)?;
        Some(start..start.checked_add(length)?)
    }
}

/// Returns whether bands of the same length are equal. Those of 8 to 16 bytes are compared in place, as two words.
#[inline]
fn are_equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() > 16 {
        return a == b;
    }
    let words = |band: &[u8]| Some([*band.first_chunk::<8>()?, *band.last_chunk::<8>()?]);
    match (words(a), words(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Returns which shapes close to the requested one fit.
fn what_fits(bands: u32, rows: u32, permutations: u32) -> String {
    let fewer = (permutations / rows > 0).then(|| {
        format!(
            "at most {} of {}",
            counted(permutations / rows, "band"),
            counted(rows, "row")
        )
    });
    let shorter = (permutations / bands > 0).then(|| {
        format!(
            "{} of {}",
            counted(bands, "band"),
            counted(permutations / bands, "row")
        )
    });
    match (fewer, shorter) {
        (Some(fewer), Some(shorter)) => format!("{fewer}, or {shorter}, fit"),
        (Some(one), None) | (None, Some(one)) => format!("{one} fit"),
        (None, None) => format!("bands times rows may be at most {permutations}"),
    }
}

/// Returns a number with its noun, which is in the plural unless the number is 1.
pub(super) fn counted(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn invalid(reason: String) -> Error {
    Error::InvalidSchema {
        parameter: "bands",
        reason,
    }
}

impl fmt::Display for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.bands, self.rows)
    }
}

/// Parses `BANDSxROWS`, such as `18x7`.
///
/// Whether a signature has that many slots is checked by [`Bands::new`].
impl FromStr for Bands {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('x').and_then(|(bands, rows)| {
            Some((bands.parse::<u32>().ok()?, rows.parse::<u32>().ok()?))
        });
        let Some((bands, rows)) = numbers else {
            return Err(invalid(format!(
                "give BANDSxROWS, for example 18x7, not {text:?}"
            )));
        };
        Bands::new(bands, rows, MAX_PERMUTATIONS)
    }
}

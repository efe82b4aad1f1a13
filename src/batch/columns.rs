//! Columns of values of variable length: offsets into bytes.

use crate::error::{Error, Result};

/// Returns the texts of a column: text `i` is the bytes from `offsets[i]` up to `offsets[i + 1]`.
///
/// This is the layout of strings in Arrow, with offsets of 32 or 64 bits: `n + 1` ascending offsets for `n` texts. The
/// first offset need not be 0. Nothing is copied. If there are no offsets, there are no texts.
///
/// # Errors
///
/// [`Error::InvalidColumn`] names the first row whose offsets are outside the bytes or descend, or
/// whose bytes are not UTF-8.
///
/// ```
/// use dedupdb::batch;
///
/// assert_eq!(batch::texts(&[0_i32, 4, 4, 7], b"tramBus")?, ["tram", "", "Bus"]);
/// assert!(batch::texts(&[0_i64, 9], b"tram").is_err());
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn texts<'a, O>(offsets: &[O], bytes: &'a [u8]) -> Result<Vec<&'a str>>
where
    O: Copy + TryInto<usize>,
{
    let text = |(row, bytes)| {
        std::str::from_utf8(bytes).map_err(|error| Error::InvalidColumn {
            column: "texts",
            row,
            reason: error.to_string(),
        })
    };
    let slices = slices("texts", offsets, bytes)?;
    slices.into_iter().enumerate().map(text).collect()
}

/// The values of a column.
pub(super) fn slices<'a, O>(
    column: &'static str,
    offsets: &[O],
    bytes: &'a [u8],
) -> Result<Vec<&'a [u8]>>
where
    O: Copy + TryInto<usize>,
{
    let slice = |(row, ends): (usize, &[O])| {
        let range = match ends {
            &[start, end] => start.try_into().ok().zip(end.try_into().ok()),
            _ => None,
        };
        let slice = range.and_then(|(start, end)| bytes.get(start..end));
        slice.ok_or_else(|| Error::InvalidColumn {
            column,
            row,
            reason: format!(
                "its offsets do not lie in the {} bytes of the column, one after the other",
                bytes.len()
            ),
        })
    };
    offsets.windows(2).enumerate().map(slice).collect()
}

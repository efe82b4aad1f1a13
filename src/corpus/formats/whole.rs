//! Files that are one document.

use std::io::{self, Read};

use crate::corpus::decode;
use crate::corpus::formats::format::Format;
use crate::corpus::formats::record::{Fault, Record, caught};
use crate::corpus::formats::web::html;
use crate::corpus::options::Options;

/// Reads a text or page to its end, which is after about `size` bytes; 0 stands for an unknown size.
///
/// # Errors
///
/// Those of reading; the inner one says why what was read gives no document.
pub(crate) fn read(
    reader: &mut dyn Read,
    size: u64,
    format: Format,
    options: &Options,
) -> io::Result<Result<Record, Fault>> {
    // A file may have grown since it was looked at, and standard input has no size.
    let most = options.max_document.saturating_add(1);
    let mut bytes = Vec::new();
    // Without room for all, the first bytes would be read a few at a time.
    bytes.try_reserve_exact(usize::try_from(size.min(most)).unwrap_or(0))?;
    let mut limited = reader.take(most);
    limited.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > options.max_document {
        return Ok(Err(Fault::too_large()));
    }
    Ok(caught(|| {
        let decoded = match format {
            Format::Html => {
                decode::check(&bytes, options.given_encoding())?;
                html::text(&bytes, options.given_encoding())
            }
            _ => decode::file(&bytes, options.given_encoding())?,
        };
        Ok(Record {
            id: None,
            is_lossy: false,
            decoded,
        })
    }))
}

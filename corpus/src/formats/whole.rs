//! Files that hold one document each.

use std::io::{self, Read};

use crate::decode;
use crate::formats::format::Format;
use crate::formats::record::{Record, RecordFault, caught};
use crate::formats::web::html;
use crate::options::Options;

/// Reads a text or page to its end. `size` is the expected number of bytes, or 0 if it is unknown.
///
/// # Errors
///
/// Those of reading. The inner error says why the bytes that were read are not a document.
pub(crate) fn read(
    reader: &mut dyn Read,
    size: u64,
    format: Format,
    options: &Options,
) -> io::Result<Result<Record, RecordFault>> {
    // A file may have grown since it was examined, and standard input has no size.
    let most = options.max_document.saturating_add(1);
    let mut bytes = Vec::new();
    // Without enough capacity, the first bytes would be read a few at a time.
    bytes.try_reserve_exact(usize::try_from(size.min(most)).unwrap_or(0))?;
    let mut limited = reader.take(most);
    limited.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > options.max_document {
        return Ok(Err(RecordFault::too_large()));
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

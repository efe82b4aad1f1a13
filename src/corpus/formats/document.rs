//! Files that are one document.

use std::io::{self, Read};
use std::path::Path;

use crate::corpus::decode;
use crate::corpus::formats::format::Format;
use crate::corpus::formats::record::{Fault, Record, caught};
use crate::corpus::formats::web::html;
use crate::corpus::options::Options;
use crate::corpus::source::Source;

/// The text of the file at `path`, if it is one document and can be read.
pub fn text(path: &Path, options: &Options) -> Option<String> {
    let format = options.format.unwrap_or_else(|| Format::of(path));
    if !path.is_file() || !format.is_document() {
        return None;
    }
    let mut reader = Source::File(path.to_owned()).open().ok()?;
    let read = read(&mut reader, format, options);
    Some(read.ok()?.ok()?.decoded.text)
}

/// Reads a text or page to its end.
///
/// # Errors
///
/// Those of reading; the inner one says why what was read gives no document.
pub(crate) fn read(
    reader: &mut dyn Read,
    format: Format,
    options: &Options,
) -> io::Result<Result<Record, Fault>> {
    let mut bytes = Vec::new();
    // A file may have grown since it was looked at, and standard input has no size.
    let mut limited = reader.take(options.max_document.saturating_add(1));
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

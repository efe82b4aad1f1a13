//! Files that are one document.

use std::io::{self, Read};

use crate::ingest::decode;
use crate::ingest::record::{Fault, Record};
use crate::inputs::Inputs;

/// Reads a text to its end.
///
/// # Errors
///
/// Those of reading; the inner one says why what was read gives no document.
pub(crate) fn text(reader: &mut dyn Read, inputs: &Inputs) -> io::Result<Result<Record, Fault>> {
    let mut bytes = Vec::new();
    // A file may have grown since it was looked at, and standard input has no size.
    let mut limited = reader.take(inputs.max_document.saturating_add(1));
    limited.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > inputs.max_document {
        return Ok(Err(Fault::too_large()));
    }
    let decoded = decode::file(bytes, inputs.encoding);
    Ok(decoded.map(|decoded| Record { id: None, decoded }))
}

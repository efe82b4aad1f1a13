//! Files that hold one document each.

use std::io::{self, Read};
use std::path::Path;

use crate::decode;
use crate::formats::array;
use crate::formats::format::{Format, is_json};
use crate::formats::mail::{maildir, mbox, message};
use crate::formats::record::{Record, caught};
use crate::formats::web::html;
use crate::options::Options;
use crate::skipped::RecordFault;
use crate::source::feed::Feed;

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
            Format::Eml => message::record(&bytes, options)?.decoded,
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
            strings: None,
        })
    }))
}

impl Options {
    /// Returns the text of the file at `path`, if it is one document and can be read.
    pub fn text(&self, path: &Path) -> Option<String> {
        let format = self.format_at(path);
        if !path.is_file() || !format.is_document() {
            return None;
        }
        let mut reader = Feed::File(path.to_owned()).open(self.memory).ok()?;
        let read = read(&mut reader, 0, format, self);
        Some(read.ok()?.ok()?.decoded.text)
    }

    /// Returns the format of the file at `path`. Files of JSON that begin like an array of objects are arrays. Files
    /// without an extension that begin like a mailbox are mailboxes, and those of a Maildir are messages.
    pub(crate) fn format_at(&self, path: &Path) -> Format {
        let named = self.format_of(path);
        if self.format.is_some() {
            return named;
        }
        if named == Format::Text && maildir::has(path) {
            return Format::Eml;
        }
        if named == Format::Text && path.extension().is_none() && mbox::begins(path) {
            return Format::Mbox;
        }
        let may_be = is_json(path) || named == Format::Jsonl;
        if !may_be || !path.is_file() {
            return named;
        }
        let feed = Feed::File(path.to_owned());
        let opened = feed.open_text(self.given_encoding(), self.memory);
        let begins = opened.and_then(|(mut bytes, _)| array::begins(&mut bytes));
        // What cannot be read is reported when it is read.
        if begins.unwrap_or(false) {
            Format::Json
        } else {
            named
        }
    }
}

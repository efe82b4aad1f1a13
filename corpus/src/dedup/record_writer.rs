//! A file of records that is being written.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use encoding_rs::UTF_8;

use crate::decode::decode;
use crate::dedup::encoder::{Encoder, Outlet};
use crate::{Format, OpenedFile};

/// The records so far.
pub(crate) struct RecordWriter {
    encoder: Encoder,
    /// Whether the records may come from several files, which may be in several encodings.
    is_of_several: bool,
    /// Whether the records of the current file are written in UTF-8.
    is_recoded: bool,
    has_header: bool,
    /// Of an array, the number of its elements so far.
    elements: Option<u64>,
    /// Whether the last line has its ending.
    is_at_line: bool,
}

impl RecordWriter {
    /// Creates a stream of records of `format` into `place`, compressed as `name` says. If they are of several files, lines and
    /// rows in other encodings are written in UTF-8.
    ///
    /// # Errors
    ///
    /// Those of the compressor.
    pub(crate) fn new(
        place: Outlet,
        name: &Path,
        format: Format,
        is_of_several: bool,
    ) -> io::Result<RecordWriter> {
        Ok(RecordWriter {
            encoder: Encoder::new(place, name, format == Format::Warc)?,
            is_of_several,
            is_recoded: false,
            has_header: false,
            elements: (format == Format::Json).then_some(0),
            is_at_line: true,
        })
    }

    /// Starts a file of records: writes its header, unless one has been written.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn open(&mut self, opened: &OpenedFile) -> io::Result<()> {
        // Messages and archived pages say themselves how they are encoded.
        let names_none = !matches!(opened.format, Format::Warc | Format::Mbox);
        self.is_recoded = self.is_of_several && names_none;
        if self.has_header || opened.header.is_empty() {
            return Ok(());
        }
        self.has_header = true;
        self.write(&opened.header)
    }

    /// Writes a header or record; into an array, as an element on a line of its own. If the one before has no line ending,
    /// as the last line of a file may not, this adds one.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn write(&mut self, record: &[u8]) -> io::Result<()> {
        let record = &*if self.is_recoded {
            in_utf8(record)
        } else {
            Cow::Borrowed(record)
        };
        if let Some(elements) = &mut self.elements {
            let before: &[u8] = if *elements == 0 { b"[\n" } else { b",\n" };
            *elements += 1;
            self.encoder.write(before)?;
            return self.encoder.write(record.trim_ascii());
        }
        if !self.is_at_line {
            self.encoder.write(b"\n")?;
        }
        self.is_at_line = record.ends_with(b"\n") || record.ends_with(b"\r");
        self.encoder.write(record)
    }

    /// Finishes the file durably.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.elements {
            Some(0) => self.encoder.write(b"[]\n")?,
            Some(_) => self.encoder.write(b"\n]\n")?,
            None => {}
        }
        self.encoder.finish()
    }
}

/// Returns a record in UTF-8. One that is UTF-8 except for a few bytes stays as it is.
fn in_utf8(record: &[u8]) -> Cow<'_, [u8]> {
    let decoded = decode(record, None);
    match decoded.text {
        Cow::Owned(text) if decoded.encoding != UTF_8.name() => Cow::Owned(text.into_bytes()),
        _ => Cow::Borrowed(record),
    }
}

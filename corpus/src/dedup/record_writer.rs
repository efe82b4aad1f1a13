//! A file of records that is being written.

use std::io;
use std::path::Path;

use crate::dedup::encoder::{Encoder, Outlet};
use crate::{Format, OpenedFile};

/// The records so far.
pub(crate) struct RecordWriter {
    encoder: Encoder,
    has_header: bool,
    /// Of an array, the number of its elements so far.
    elements: Option<u64>,
    /// Whether the last line has its ending.
    is_at_line: bool,
}

impl RecordWriter {
    /// Creates a stream of records of `format` into `place`, compressed as `name` says.
    ///
    /// # Errors
    ///
    /// Those of the compressor.
    pub(crate) fn new(place: Outlet, name: &Path, format: Format) -> io::Result<RecordWriter> {
        Ok(RecordWriter {
            encoder: Encoder::new(place, name, format == Format::Warc)?,
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
        if self.has_header || opened.header.is_empty() {
            return Ok(());
        }
        self.has_header = true;
        self.write(&opened.header)
    }

    /// Writes a header or record as it is; into an array, as an element on a line of its own. If the one before has no line
    /// ending, as the last line of a file may not, this adds one.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn write(&mut self, record: &[u8]) -> io::Result<()> {
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

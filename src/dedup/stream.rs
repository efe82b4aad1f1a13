//! A file of records that is being written.

use std::io;
use std::path::Path;

use crate::corpus::{Format, Opened};

use crate::dedup::encoder::{Encoder, Outlet};
use crate::publish::manifest::Listed;

/// The records so far.
pub(crate) struct Stream {
    encoder: Encoder,
    has_header: bool,
    /// Whether the last line has its ending.
    is_at_line: bool,
}

impl Stream {
    /// Creates a stream of records of `format` into `place`, compressed as `name` says.
    ///
    /// # Errors
    ///
    /// Those of the compressor.
    pub(crate) fn new(place: Outlet, name: &Path, format: Format) -> io::Result<Stream> {
        Ok(Stream {
            encoder: Encoder::new(place, name, format == Format::Warc)?,
            has_header: false,
            is_at_line: true,
        })
    }

    /// Starts a file of records: writes its header, unless one has been written.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn open(&mut self, opened: &Opened) -> io::Result<()> {
        if self.has_header || opened.header.is_empty() {
            return Ok(());
        }
        self.has_header = true;
        self.write(&opened.header)
    }

    /// Writes a header or record as it is. If the one before has no line ending, as the last line of a file may not,
    /// this adds one.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn write(&mut self, record: &[u8]) -> io::Result<()> {
        if !self.is_at_line {
            self.encoder.write(b"\n")?;
        }
        self.is_at_line = record.ends_with(b"\n") || record.ends_with(b"\r");
        self.encoder.write(record)
    }

    /// Finishes the file durably. Returns its entry for the manifest, if it is to be listed.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn finish(self) -> io::Result<Option<Listed>> {
        self.encoder.finish()
    }
}

//! A file that is made durable while it is being written.

use std::fs::File;
use std::io::{self, Write};

/// The file is synced each time it has grown by this many bytes.
///
/// The disk then works while there is more to compute, and little is left to wait for at the end.
const STEP: usize = 8 << 20;

/// A file that is written sequentially.
#[derive(Debug)]
pub(crate) struct DurableFile {
    file: File,
    /// The number of bytes since the last sync.
    since: usize,
}

impl DurableFile {
    pub(crate) fn new(file: File) -> DurableFile {
        DurableFile { file, since: 0 }
    }

    /// Finishes the file and makes it durable.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Write for DurableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.since += written;
        if self.since >= STEP {
            self.since = 0;
            self.file.sync_data()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

//! Files and folders that are made durable.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;
use walkdir::WalkDir;

use super::error::{Result, WithPath as _};

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

/// Makes a folder and everything in it durable.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn sync_tree(root: &Path) -> Result<()> {
    let entries: Vec<_> = WalkDir::new(root).sort_by_file_name().into_iter().collect();
    let synced = entries.into_par_iter().map(|entry| {
        let entry = entry.map_err(io::Error::from).of(root)?;
        if entry.file_type().is_file() || cfg!(unix) {
            let synced = File::open(entry.path()).and_then(|file| file.sync_all());
            synced.of(entry.path())?;
        }
        Ok(())
    });
    // The reported error is that of the first entry, whatever the order of the threads.
    synced.collect::<Vec<_>>().into_iter().collect()
}

//! The files that an output names.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Seek};
use std::path::{Path, PathBuf};

use super::coded::{get_read_file, put_read_file};
use super::non_utf8_names::NonUtf8Names;
use crate::ReadFile;
use crate::dedup::error::{Error, Result};
use crate::publish::error::WithPath;

/// The number of files to check between two calls of the observer.
const CHECKED: u64 = 256;

/// The files that an output names, on disk, as they were when they were read.
#[derive(Debug)]
pub(crate) struct FileSpool {
    writer: BufWriter<File>,
    count: u64,
    folder: PathBuf,
    names: NonUtf8Names,
}

impl FileSpool {
    /// Starts without files, in an unnamed file in `folder`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn begin(folder: &Path) -> Result<FileSpool> {
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|error| Error::temporary(folder, error))?;
        Ok(FileSpool {
            writer: BufWriter::new(file),
            count: 0,
            folder: folder.to_owned(),
            names: NonUtf8Names::default(),
        })
    }

    /// Adds a file.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn add(&mut self, path: &Path, file: &ReadFile) -> Result<()> {
        self.count += 1;
        let name = self.names.put(&mut self.writer, path);
        let put = name.and_then(|_| put_read_file(&mut self.writer, file));
        put.map_err(|error| Error::temporary(&self.folder, error))?;
        Ok(())
    }

    /// Checks that all files are as they were when they were read. A file that grew has changed as well: what was read
    /// may be only a part of it now, or nowhere in it. Calls `wait` from time to time.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`]; those of the system and of `wait`.
    pub(crate) fn check(self, wait: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let temporary = |error| Error::temporary(&self.folder, error);
        let file = self.writer.into_inner();
        let mut file = file.map_err(|error| temporary(error.into_error()))?;
        file.rewind().map_err(temporary)?;
        let mut reader = BufReader::new(file);
        let mut next = || -> io::Result<_> {
            let path = self.names.get(&mut reader)?;
            Ok((path, get_read_file(&mut reader)?))
        };
        for number in 0..self.count {
            if number.is_multiple_of(CHECKED) {
                wait()?;
            }
            let (path, file) = next().map_err(temporary)?;
            let is_as_read = match fs::metadata(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => false,
                found => file.is(&path, &found.of(&path)?),
            };
            if !is_as_read {
                return Err(Error::Changed { path });
            }
        }
        Ok(())
    }
}

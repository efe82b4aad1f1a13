//! The texts of a spool.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use super::coded::{get, get_bytes, get_known, get_line, get_text, get_time};
use super::non_utf8_names::NonUtf8Names;
use crate::dedup::error::{Error, Result};
use crate::{Origin, SourcedText};

/// The texts of a spool.
#[derive(Debug)]
pub(crate) struct SpooledTexts {
    pub(super) reader: BufReader<File>,
    pub(super) folder: PathBuf,
    pub(super) path: PathBuf,
    pub(super) names: Arc<NonUtf8Names>,
}

impl SpooledTexts {
    /// Opens the same texts for another reader.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn again(&self) -> Result<SpooledTexts> {
        let file = File::open(&self.path);
        let file = file.map_err(|error| Error::temporary(&self.folder, error))?;
        Ok(SpooledTexts {
            reader: BufReader::new(file),
            folder: self.folder.clone(),
            path: self.path.clone(),
            names: self.names.clone(),
        })
    }

    /// Returns the document whose text is at `offset`, with the data that judging it needs.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn read(&mut self, offset: u64) -> Result<SourcedText> {
        let read = self.read_at(offset);
        read.map_err(|error| Error::temporary(&self.folder, error))
    }

    fn read_at(&mut self, offset: u64) -> io::Result<SourcedText> {
        let reader = &mut self.reader;
        reader.seek(SeekFrom::Start(offset))?;
        let key = get_text(reader)?;
        let text = get_text(reader)?;
        let source = self.names.get(reader)?;
        let line = get_line(reader)?;
        let size = get(reader)?.checked_sub(1);
        let origin = Origin {
            record: line,
            size,
            bytes: size.unwrap_or(text.len() as u64),
            modified: get_time(reader)?,
            read: get_known(reader)?,
            is_extracted: get(reader)? == 1,
            attachments: get_bytes(reader)?.try_into().ok().map(Box::new),
            ..Origin::new(key, source)
        };
        Ok(SourcedText::new(text, origin))
    }
}

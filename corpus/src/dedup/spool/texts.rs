//! The texts of a spool.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use dedupdb::write::SourceFile;
use encoding_rs::{Encoding, UTF_8};

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
        let sought = self.reader.seek(SeekFrom::Start(offset));
        sought.map_err(|error| Error::temporary(&self.folder, error))?;
        self.read_next()
    }

    /// Returns the document behind the one that was read last, or the first one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn read_next(&mut self) -> Result<SourcedText> {
        let read = self.get_document();
        read.map_err(|error| Error::temporary(&self.folder, error))
    }

    fn get_document(&mut self) -> io::Result<SourcedText> {
        let reader = &mut self.reader;
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
            encoding: Encoding::for_label(&get_bytes(reader)?).map_or(UTF_8.name(), Encoding::name),
            // The path of a folder has its end, which tells it from a file.
            file: Some(get_text(reader)?)
                .filter(|path| !path.is_empty())
                .map(|path| SourceFile::new(&path)),
            ..Origin::new(key, source)
        };
        Ok(SourcedText::new(text, origin))
    }
}

//! Documents on disk, between reading, judging and writing.

mod coded;
mod files;
mod non_utf8_names;
mod records;
mod texts;

pub(crate) use files::FileSpool;
pub(crate) use records::SpooledRecords;
pub(crate) use texts::SpooledTexts;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};
use std::path::PathBuf;
use std::sync::Arc;

use crate::dedup::error::{Error, Result};
use crate::publish::error::{self as publish, WithPath};
use crate::publish::work::WorkFolder;
use crate::{Nth, OpenedFile, SourcedText, TableSource, UnreadRecord};
use coded::{put, put_bytes, put_known, put_line, put_time};
use non_utf8_names::NonUtf8Names;

/// A spool of two files: the texts, which are read in the order of judgement, and the records, which are read in the
/// order of the input.
#[derive(Debug)]
pub(crate) struct Spool {
    texts: BufWriter<File>,
    /// The path of the texts.
    path: PathBuf,
    records: BufWriter<File>,
    /// The offset of the next text.
    offset: u64,
    /// The approximate number of bytes of the records.
    recorded: u64,
    /// The maximum number of bytes of both files.
    most: u64,
    folder: PathBuf,
    names: NonUtf8Names,
    tables: Vec<Arc<TableSource>>,
}

/// The approximate number of bytes of a record or file in addition to its content.
const HEAD: u64 = 104;

const OPENED: u64 = 0;
const RECORD: u64 = 1;
const FILE: u64 = 2;
const UNREAD: u64 = 3;

impl Spool {
    /// Creates an empty spool in the folder for temporary data. It may take `limit` bytes, or nine tenths of the free
    /// space.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn new(work: &WorkFolder, limit: Option<u64>) -> Result<Spool> {
        let create = |name| {
            let path = work.path(name);
            let mut options = File::options();
            let file = options.read(true).write(true).create_new(true).open(&path);
            Ok::<_, publish::Error>(BufWriter::new(file.of(&path)?))
        };
        let folder = work.folder().to_owned();
        let most = match limit {
            Some(limit) => limit,
            None => match fs4::statvfs(&folder).of(&folder)? {
                // Some file systems report no size at all.
                known if known.total_space() == 0 => u64::MAX,
                known => known.available_space() / 10 * 9,
            },
        };
        Ok(Spool {
            texts: create("texts")?,
            path: work.path("texts"),
            records: create("records")?,
            offset: 0,
            recorded: 0,
            most,
            folder,
            names: NonUtf8Names::default(),
            tables: Vec::new(),
        })
    }

    /// Adds a file whose records follow.
    ///
    /// # Errors
    ///
    /// Those of the system; the spool takes too much space.
    pub(crate) fn open(&mut self, opened: &OpenedFile) -> Result<()> {
        let put = self.put_opened(opened);
        self.done(put)
    }

    /// Adds a document. Returns the offset of its text.
    ///
    /// # Errors
    ///
    /// Those of the system; the spool takes too much space.
    pub(crate) fn push(&mut self, document: &SourcedText) -> Result<u64> {
        let put = self.put_document(document);
        self.done(put)
    }

    /// Adds a record that is not a document.
    ///
    /// # Errors
    ///
    /// Those of the system; the spool takes too much space.
    pub(crate) fn push_unread(&mut self, record: &UnreadRecord) -> Result<()> {
        let put = self.put_record(UNREAD, record.nth, &record.verbatim);
        self.done(put)
    }

    /// Checks the limit after a write, and names the folder in an error.
    fn done<T>(&self, put: io::Result<T>) -> Result<T> {
        let put = put.map_err(|error| Error::temporary(&self.folder, error))?;
        if self.offset + self.recorded > self.most {
            return Err(Error::TemporaryLimit {
                folder: self.folder.clone(),
                limit: self.most,
            });
        }
        Ok(put)
    }

    fn put_opened(&mut self, opened: &OpenedFile) -> io::Result<()> {
        put(&mut self.records, OPENED)?;
        put(&mut self.records, opened.format.code() as u64)?;
        self.names.put(&mut self.records, &opened.source)?;
        self.recorded += put_bytes(&mut self.records, &opened.header)?;
        put(&mut self.records, opened.table.is_some().into())?;
        self.tables.extend(opened.table.clone());
        Ok(())
    }

    fn put_document(&mut self, document: &SourcedText) -> io::Result<u64> {
        if let Some(nth) = document.record {
            self.put_record(RECORD, nth, &document.verbatim)?;
        } else {
            // Enough for the name, and for what is known of the file.
            self.recorded += HEAD;
            put(&mut self.records, FILE)?;
            self.names.put(&mut self.records, &document.source)?;
            put_known(&mut self.records, document.read.as_ref())?;
        }
        let offset = self.offset;
        for text in [&*document.key, document.text()] {
            self.offset += put_bytes(&mut self.texts, text.as_bytes())?;
        }
        self.offset += self.names.put(&mut self.texts, &document.source)?;
        self.offset += put_line(&mut self.texts, document.record)?;
        self.offset += put(&mut self.texts, document.size.map_or(0, |size| size + 1))?;
        self.offset += put_time(&mut self.texts, document.modified)?;
        self.offset += put_known(&mut self.texts, document.read.as_ref())?;
        self.offset += put(&mut self.texts, document.is_extracted.into())?;
        let attachments = document.attachments.as_deref();
        self.offset += put_bytes(&mut self.texts, attachments.map_or(&[], |hash| hash))?;
        Ok(offset)
    }

    fn put_record(&mut self, kind: u64, nth: Nth, verbatim: &[u8]) -> io::Result<()> {
        put(&mut self.records, kind)?;
        put_line(&mut self.records, Some(nth))?;
        // More than its head takes.
        self.recorded += HEAD + put_bytes(&mut self.records, verbatim)?;
        Ok(())
    }

    /// Returns readers of the texts and of the records, from their beginnings.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> Result<(SpooledTexts, SpooledRecords)> {
        let folder = self.folder;
        let rewound = |writer: BufWriter<File>| -> io::Result<BufReader<File>> {
            let mut file = writer.into_inner()?;
            file.rewind()?;
            Ok(BufReader::new(file))
        };
        let finish = || -> io::Result<(SpooledTexts, SpooledRecords)> {
            let reader = rewound(self.records)?;
            let (names, tables) = (Arc::new(self.names), self.tables.into_iter());
            let texts = SpooledTexts {
                reader: rewound(self.texts)?,
                folder: folder.clone(),
                path: self.path,
                names: names.clone(),
            };
            let records = SpooledRecords {
                reader,
                names,
                tables,
            };
            Ok((texts, records))
        };
        finish().map_err(|error| Error::temporary(&folder, error))
    }
}

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
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use dedupdb::write::SourceFile;

use crate::dedup::error::{Error, Result};
use crate::publish::error::{self as publish, WithPath};
use crate::publish::work::WorkFolder;
use crate::{
    BATCH_BYTES, Item, ItemBatch, Nth, OpenedFile, Origin, SourcedText, TableSource, UnreadRecord,
    send_batches,
};
use coded::{put, put_bytes, put_known, put_line, put_place, put_time};
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
        self.check_room(0)?;
        Ok(put)
    }

    /// Returns the folder that it is in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the approximate number of bytes of both files.
    pub(crate) fn bytes(&self) -> u64 {
        self.offset + self.recorded
    }

    /// Checks that there is room for this number of bytes beside the spool.
    ///
    /// # Errors
    ///
    /// [`Error::TemporaryLimit`].
    pub(crate) fn check_room(&self, beside: u64) -> Result<()> {
        if self.bytes() + beside > self.most {
            return Err(Error::TemporaryLimit {
                folder: self.folder.clone(),
                limit: self.most,
            });
        }
        Ok(())
    }

    fn put_opened(&mut self, opened: &OpenedFile) -> io::Result<()> {
        put(&mut self.records, OPENED)?;
        put(&mut self.records, opened.format.code() as u64)?;
        self.names.put(&mut self.records, &opened.source)?;
        self.recorded += put_bytes(&mut self.records, &opened.header)?;
        put_place(&mut self.records, &opened.text)?;
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
        self.offset += put_bytes(&mut self.texts, document.encoding.as_bytes())?;
        let file = document.file.as_ref().map_or("", SourceFile::path);
        self.offset += put_bytes(&mut self.texts, file.as_bytes())?;
        Ok(offset)
    }

    fn put_record(&mut self, kind: u64, nth: Nth, verbatim: &[u8]) -> io::Result<()> {
        put(&mut self.records, kind)?;
        put_line(&mut self.records, Some(nth))?;
        // More than its head takes.
        self.recorded += HEAD + put_bytes(&mut self.records, verbatim)?;
        Ok(())
    }

    /// Reads all files and documents again in the order in which they were added, in batches, on a separate thread. They are
    /// known as far as judging and writing them needs.
    ///
    /// # Errors
    ///
    /// Those of the system; it allows no further thread.
    pub(crate) fn all(self) -> Result<Receiver<Result<ItemBatch>>> {
        let folder = self.folder.clone();
        let (mut texts, records) = self.finish()?;
        let whole = move |item: io::Result<Item<Origin>>| -> Result<Item> {
            Ok(
                match item.map_err(|error| Error::temporary(&folder, error))? {
                    Item::Document(record) => {
                        let mut document = texts.read_next()?;
                        document.origin.verbatim = record.verbatim;
                        Item::Document(document)
                    }
                    Item::Opened(opened) => Item::Opened(opened),
                    Item::Skipped(skipped) => Item::Skipped(skipped),
                    Item::Unchanged(key) => Item::Unchanged(key),
                },
            )
        };
        in_batches(records.map(whole))
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

/// Sends items in batches, on a separate thread.
///
/// # Errors
///
/// The system allows no further thread.
pub(crate) fn in_batches(
    items: impl Iterator<Item = Result<Item>> + Send + 'static,
) -> Result<Receiver<Result<ItemBatch>>> {
    let receiver = send_batches("spool", 1, move |sender| {
        let mut batch = ItemBatch::default();
        for item in items {
            match item {
                Ok(item) => {
                    batch.bytes += item.document().map_or(0, |it| it.text().len() as u64);
                    batch.items.push(item);
                }
                Err(error) => {
                    // If this fails, the receiver is gone.
                    drop(sender.send(Err(error)));
                    return;
                }
            }
            if batch.bytes >= BATCH_BYTES && sender.send(Ok(take(&mut batch))).is_err() {
                return;
            }
        }
        drop(sender.send(Ok(batch)));
    })?;
    Ok(receiver)
}

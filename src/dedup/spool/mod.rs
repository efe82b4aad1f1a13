//! Documents on disk between being read and being judged, and being judged and being written.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::vec;

use crate::clock;
use crate::corpus::{Format, Nth, Opened, Origin, Sourced, TableSource};

use crate::dedup::error::{Error, Result};
use crate::publish::error::{self as publish, Of};
use crate::publish::work::Work;

/// Two files: the texts, which are read in the order of the judgement, and the records, which are
/// read in that of the input.
#[derive(Debug)]
pub(crate) struct Spool {
    texts: BufWriter<File>,
    /// Where the texts are.
    path: PathBuf,
    records: BufWriter<File>,
    /// Where the next text begins.
    offset: u64,
    /// Bytes of records.
    recorded: u64,
    /// Bytes that both files may have.
    most: u64,
    folder: PathBuf,
    names: Names,
    tables: Vec<Arc<TableSource>>,
}

/// The names that are no UTF-8, which are few.
#[derive(Debug, Default)]
struct Names(Vec<PathBuf>);

/// A document or file as it was read.
#[derive(Debug)]
pub(crate) enum Spooled {
    Opened(Opened),
    Record(Vec<u8>, Nth),
    /// A file that is one document, with its size and time.
    File(PathBuf, u64, Option<SystemTime>),
}

/// Bytes of a record or file beside what it says, about.
const HEAD: u64 = 64;

const OPENED: u64 = 0;
const RECORD: u64 = 1;
const FILE: u64 = 2;

impl Spool {
    /// An empty spool in the folder for what is temporary, of at most `limit` bytes, or nine tenths of
    /// what is free.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn new(work: &Work, limit: Option<u64>) -> Result<Spool> {
        let create = |name| {
            let path = work.path(name);
            let mut options = File::options();
            let file = options.read(true).write(true).create_new(true).open(&path);
            Ok::<_, publish::Error>(BufWriter::new(file.of(&path)?))
        };
        let folder = work.folder().to_owned();
        let free = || fs4::available_space(&folder).of(&folder);
        let most = limit.map_or_else(|| free().map(|free| free / 10 * 9), Ok)?;
        Ok(Spool {
            texts: create("texts")?,
            path: work.path("texts"),
            records: create("records")?,
            offset: 0,
            recorded: 0,
            most,
            folder,
            names: Names::default(),
            tables: Vec::new(),
        })
    }

    /// Takes a file whose records come next.
    ///
    /// # Errors
    ///
    /// Those of the system, or there is no room for it.
    pub(crate) fn open(&mut self, opened: &Opened) -> Result<()> {
        let put = self.put_opened(opened);
        self.done(put)
    }

    /// Takes a document. Says where its text is.
    ///
    /// # Errors
    ///
    /// Those of the system, or there is no room for it.
    pub(crate) fn push(&mut self, document: &Sourced) -> Result<u64> {
        let put = self.put_document(document);
        self.done(put)
    }

    /// Says what a failure is of, and what to do.
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

    fn put_opened(&mut self, opened: &Opened) -> io::Result<()> {
        let format = match opened.format {
            Format::Csv => 0,
            Format::Tsv => 1,
            Format::Warc => 2,
            Format::Shingles => 4,
            Format::Parquet => 5,
            Format::Jsonl | Format::Text | Format::Html => 3,
        };
        put(&mut self.records, OPENED)?;
        put(&mut self.records, format)?;
        self.names.put(&mut self.records, &opened.source)?;
        self.recorded += put_bytes(&mut self.records, &opened.header)?;
        put(&mut self.records, opened.table.is_some().into())?;
        self.tables.extend(opened.table.clone());
        Ok(())
    }

    fn put_document(&mut self, document: &Sourced) -> io::Result<u64> {
        if let Some(nth) = document.record {
            put(&mut self.records, RECORD)?;
            put_line(&mut self.records, Some(nth))?;
            self.recorded += put_bytes(&mut self.records, &document.verbatim)?;
        } else {
            put(&mut self.records, FILE)?;
            self.names.put(&mut self.records, &document.source)?;
            put(&mut self.records, document.size.unwrap_or(0))?;
            put_time(&mut self.records, document.modified)?;
        }
        // Of a file the name and two numbers; of a record this is more than its head.
        self.recorded += HEAD;
        let offset = self.offset;
        let source = document.source.display().to_string();
        for bytes in [&document.key, document.text(), &source] {
            self.offset += put_bytes(&mut self.texts, bytes.as_bytes())?;
        }
        self.offset += put_line(&mut self.texts, document.record)?;
        self.offset += put(&mut self.texts, document.size.map_or(0, |size| size + 1))?;
        self.offset += put_time(&mut self.texts, document.modified)?;
        Ok(offset)
    }

    /// The texts and the records, from their beginnings.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> Result<(Texts, Records)> {
        let folder = self.folder;
        let rewound = |writer: BufWriter<File>| -> io::Result<BufReader<File>> {
            let mut file = writer.into_inner()?;
            file.rewind()?;
            Ok(BufReader::new(file))
        };
        let finish = || -> io::Result<(Texts, Records)> {
            let reader = rewound(self.records)?;
            let (names, tables) = (self.names, self.tables.into_iter());
            let texts = Texts {
                reader: rewound(self.texts)?,
                folder: folder.clone(),
                path: self.path,
            };
            let records = Records {
                reader,
                names,
                tables,
            };
            Ok((texts, records))
        };
        finish().map_err(|error| Error::temporary(&folder, error))
    }
}

/// The texts of a spool.
#[derive(Debug)]
pub(crate) struct Texts {
    reader: BufReader<File>,
    folder: PathBuf,
    path: PathBuf,
}

impl Texts {
    /// The same texts for another reader.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn again(&self) -> Result<Texts> {
        let file = File::open(&self.path);
        let file = file.map_err(|error| Error::temporary(&self.folder, error))?;
        Ok(Texts {
            reader: BufReader::new(file),
            folder: self.folder.clone(),
            path: self.path.clone(),
        })
    }

    /// The document whose text is at `offset`, as far as it matters for its judgement.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn read(&mut self, offset: u64) -> Result<Sourced> {
        let read = self.read_at(offset);
        read.map_err(|error| Error::temporary(&self.folder, error))
    }

    fn read_at(&mut self, offset: u64) -> io::Result<Sourced> {
        let reader = &mut self.reader;
        reader.seek(SeekFrom::Start(offset))?;
        let key = get_text(reader)?;
        let text = get_text(reader)?;
        let source = get_text(reader)?;
        let line = get_line(reader)?;
        let size = get(reader)?.checked_sub(1);
        let origin = Origin {
            record: line,
            size,
            bytes: size.unwrap_or(text.len() as u64),
            modified: get_time(reader)?,
            ..Origin::new(key, source.into())
        };
        Ok(Sourced::new(text, origin))
    }
}

/// The records of a spool.
#[derive(Debug)]
pub(crate) struct Records {
    reader: BufReader<File>,
    names: Names,
    tables: vec::IntoIter<Arc<TableSource>>,
}

impl Records {
    /// The next record or file.
    fn read(&mut self) -> io::Result<Option<Spooled>> {
        let mut first = [0];
        if self.reader.read(&mut first)? == 0 {
            return Ok(None);
        }
        self.reader.seek_relative(-1)?;
        let reader = &mut self.reader;
        Ok(Some(match get(reader)? {
            OPENED => Spooled::Opened(Opened {
                format: match get(reader)? {
                    0 => Format::Csv,
                    1 => Format::Tsv,
                    2 => Format::Warc,
                    4 => Format::Shingles,
                    5 => Format::Parquet,
                    _ => Format::Jsonl,
                },
                source: self.names.get(reader)?,
                header: get_bytes(reader)?,
                table: if get(reader)? == 1 {
                    self.tables.next()
                } else {
                    None
                },
            }),
            RECORD => {
                let nth =
                    get_line(reader)?.ok_or_else(|| io::Error::other("a number is missing"))?;
                Spooled::Record(get_bytes(reader)?, nth)
            }
            _ => {
                let path = self.names.get(reader)?;
                Spooled::File(path, get(reader)?, get_time(reader)?)
            }
        }))
    }
}

impl Iterator for Records {
    type Item = io::Result<Spooled>;

    fn next(&mut self) -> Option<io::Result<Spooled>> {
        self.read().transpose()
    }
}

impl Names {
    fn put(&mut self, writer: &mut impl Write, path: &Path) -> io::Result<()> {
        if let Some(name) = path.to_str() {
            put(writer, 0)?;
            put_bytes(writer, name.as_bytes())?;
        } else {
            self.0.push(path.to_owned());
            put(writer, self.0.len() as u64)?;
        }
        Ok(())
    }

    fn get(&self, reader: &mut impl Read) -> io::Result<PathBuf> {
        let Some(index) = get(reader)?.checked_sub(1) else {
            return Ok(get_text(reader)?.into());
        };
        let index = usize::try_from(index).map_err(io::Error::other)?;
        let name = self.0.get(index).cloned();
        name.ok_or_else(|| io::Error::other("a name is missing"))
    }
}

fn put(writer: &mut impl Write, number: u64) -> io::Result<u64> {
    writer.write_all(&number.to_le_bytes())?;
    Ok(size_of::<u64>() as u64)
}

fn put_bytes(writer: &mut impl Write, bytes: &[u8]) -> io::Result<u64> {
    let length = bytes.len() as u64;
    let head = put(writer, length)?;
    writer.write_all(bytes)?;
    Ok(head + length)
}

fn put_line(writer: &mut impl Write, line: Option<Nth>) -> io::Result<u64> {
    let (kind, number) = match line {
        None => (0, 0),
        Some(Nth::Line(number)) => (1, number),
        Some(Nth::Record(number)) => (2, number),
    };
    Ok(put(writer, kind)? + put(writer, number)?)
}

fn put_time(writer: &mut impl Write, time: Option<SystemTime>) -> io::Result<u64> {
    let time = time.and_then(clock::nanoseconds);
    let head = put(writer, time.is_some().into())?;
    Ok(head + put(writer, time.unwrap_or(0).cast_unsigned())?)
}

fn get(reader: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; size_of::<u64>()];
    reader.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn get_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = get(reader)?;
    let mut bytes = Vec::new();
    if reader.take(length).read_to_end(&mut bytes)? as u64 == length {
        return Ok(bytes);
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

fn get_text(reader: &mut impl Read) -> io::Result<String> {
    String::from_utf8(get_bytes(reader)?).map_err(io::Error::other)
}

fn get_time(reader: &mut impl Read) -> io::Result<Option<SystemTime>> {
    let is_known = get(reader)? == 1;
    let time = clock::at_nanoseconds(get(reader)?.cast_signed());
    Ok(is_known.then_some(time))
}

fn get_line(reader: &mut impl Read) -> io::Result<Option<Nth>> {
    let (kind, number) = (get(reader)?, get(reader)?);
    Ok(match kind {
        0 => None,
        1 => Some(Nth::Line(number)),
        _ => Some(Nth::Record(number)),
    })
}

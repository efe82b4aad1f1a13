//! The records of a spool.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::vec;

use super::coded::{get, get_bytes, get_known, get_line};
use super::names::NonUtf8Names;
use super::{OPENED, RECORD, SpooledItem, UNREAD};
use crate::{Format, OpenedFile, TableSource};

/// The records of a spool.
#[derive(Debug)]
pub(crate) struct SpooledRecords {
    pub(super) reader: BufReader<File>,
    pub(super) names: Arc<NonUtf8Names>,
    pub(super) tables: vec::IntoIter<Arc<TableSource>>,
}

impl SpooledRecords {
    /// Reads the next record or file.
    fn read(&mut self) -> io::Result<Option<SpooledItem>> {
        let mut first = [0];
        if self.reader.read(&mut first)? == 0 {
            return Ok(None);
        }
        self.reader.seek_relative(-1)?;
        let reader = &mut self.reader;
        Ok(Some(match get(reader)? {
            OPENED => SpooledItem::Opened(OpenedFile {
                format: match get(reader)? {
                    0 => Format::Csv,
                    1 => Format::Tsv,
                    2 => Format::Warc,
                    4 => Format::Shingles,
                    5 => Format::Parquet,
                    6 => Format::Json,
                    _ => Format::Jsonl,
                },
                source: self.names.get(reader)?,
                header: get_bytes(reader)?,
                // The columns were checked when the file was met.
                columns: Vec::new(),
                table: if get(reader)? == 1 {
                    self.tables.next()
                } else {
                    None
                },
            }),
            kind @ (RECORD | UNREAD) => {
                let nth =
                    get_line(reader)?.ok_or_else(|| io::Error::other("a number is missing"))?;
                let record = get_bytes(reader)?;
                if kind == RECORD {
                    SpooledItem::Record(record, nth)
                } else {
                    SpooledItem::Unread(record, nth)
                }
            }
            _ => {
                let path = self.names.get(reader)?;
                SpooledItem::File(path, get_known(reader)?)
            }
        }))
    }
}

impl Iterator for SpooledRecords {
    type Item = io::Result<SpooledItem>;

    fn next(&mut self) -> Option<io::Result<SpooledItem>> {
        self.read().transpose()
    }
}

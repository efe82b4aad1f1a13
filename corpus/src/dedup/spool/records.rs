//! The records of a spool.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use super::coded::{get, get_bytes, get_known, get_line, get_place};
use super::non_utf8_names::NonUtf8Names;
use super::{OPENED, RECORD, UNREAD};
use crate::{Format, Item, OpenedFile, Origin, Reason, Skipped, TableSource, UnreadRecord};

/// The records of a spool.
#[derive(Debug)]
pub(crate) struct SpooledRecords {
    pub(super) reader: BufReader<File>,
    pub(super) names: Arc<NonUtf8Names>,
    pub(super) tables: vec::IntoIter<Arc<TableSource>>,
}

impl SpooledRecords {
    /// Reads the next record or file, as far as writing it needs.
    fn read(&mut self) -> io::Result<Option<Item<Origin>>> {
        // A byte is read ahead, to tell the end from a record that is cut off.
        let mut first = [0];
        if self.reader.read(&mut first)? == 0 {
            return Ok(None);
        }
        self.reader.seek_relative(-1)?;
        let reader = &mut self.reader;
        Ok(Some(match get(reader)? {
            OPENED => Item::Opened(OpenedFile {
                format: Format::of_code(get(reader)?).ok_or(io::ErrorKind::InvalidData)?,
                source: self.names.get(reader)?,
                header: get_bytes(reader)?,
                // The columns were checked when the file was met.
                columns: Vec::new(),
                text: get_place(reader)?,
                table: if get(reader)? == 1 {
                    self.tables.next()
                } else {
                    None
                },
            }),
            kind @ (RECORD | UNREAD) => {
                let nth = get_line(reader)?.ok_or(io::ErrorKind::InvalidData)?;
                let verbatim = get_bytes(reader)?;
                if kind == UNREAD {
                    let unread = UnreadRecord { nth, verbatim };
                    let mut skipped = Skipped::file(Reason::BadRecord, Path::new(""));
                    skipped.record = Some(Box::new(unread));
                    return Ok(Some(Item::Skipped(skipped)));
                }
                Item::Document(Origin {
                    record: Some(nth),
                    verbatim,
                    ..Origin::new(String::new(), PathBuf::new())
                })
            }
            _ => {
                let path = self.names.get(reader)?;
                Item::Document(Origin {
                    read: get_known(reader)?,
                    ..Origin::new(String::new(), path)
                })
            }
        }))
    }
}

impl Iterator for SpooledRecords {
    type Item = io::Result<Item<Origin>>;

    fn next(&mut self) -> Option<io::Result<Item<Origin>>> {
        self.read().transpose()
    }
}

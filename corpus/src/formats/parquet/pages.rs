//! Bytes and pages of a Parquet file, checked for plausible headers.
//!
//! The library allocates what a header asks for before it checks that the data exists.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnDescriptor;

use crate::formats::parquet::budget::Budget;
use crate::formats::parquet::page_handover::ReaderRole;

/// The maximum size of a page in bytes. Writers start a new page after 1 MB, or after about a thousand rows.
const MAX_BYTES: u64 = 1 << 30;

/// The maximum number of values in a page.
const MAX_VALUES: u64 = 1 << 25;

/// A file in which reads past the end are refused.
///
/// Each reader has its own position, so other readers of the same file do not move it, even on other threads.
#[derive(Clone, Debug)]
pub(crate) struct BoundedFile {
    file: Arc<File>,
    size: u64,
}

impl BoundedFile {
    /// Returns the chunks of a file of `size` bytes.
    pub(crate) fn new(file: File, size: u64) -> BoundedFile {
        BoundedFile {
            file: Arc::new(file),
            size,
        }
    }

    fn at(&self, place: u64) -> FileCursor {
        FileCursor {
            file: self.file.clone(),
            place,
        }
    }

    fn check(&self, end: Option<u64>) -> Result<()> {
        if end.is_none_or(|end| end > self.size) {
            return Err(damaged("what it names lies behind its end"));
        }
        Ok(())
    }
}

impl Length for BoundedFile {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for BoundedFile {
    type T = BufReader<FileCursor>;

    fn get_read(&self, start: u64) -> Result<BufReader<FileCursor>> {
        self.check(Some(start))?;
        let mut reader = BufReader::new(self.at(start));
        if page_bytes(reader.fill_buf()?).is_some_and(|bytes| bytes > MAX_BYTES) {
            return Err(damaged("a page claims to have more than 1 GiB"));
        }
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.check(start.checked_add(length as u64))?;
        let mut bytes = vec![0; length];
        self.at(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// A position in a file.
#[derive(Debug)]
pub(crate) struct FileCursor {
    file: Arc<File>,
    place: u64,
}

impl Read for FileCursor {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&self.file, bytes, self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, place)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, place)
}

/// Returns the decompressed size of a page if `header` is a page header: its first three fields are integers, and this
/// is the second.
fn page_bytes(header: &[u8]) -> Option<u64> {
    const INTEGER: u8 = 0x15;
    let mut header = header;
    let mut integer = || {
        header = header.strip_prefix(&[INTEGER])?;
        variable(&mut header)
    };
    integer()?;
    let bytes = integer()?;
    integer()?;
    // The sign is in the lowest bit.
    Some(bytes >> 1)
}

/// Removes a variable-length integer from the front of `bytes`.
pub(crate) fn variable(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The pages of a column.
pub(crate) struct ColumnPages {
    reader: Box<dyn PageReader>,
    has_levels: bool,
    /// The budget for the values of all pages, if there is one.
    budget: Option<Budget>,
    /// Bytes of a value and its levels in memory, without the data that the value refers to.
    value_bytes: u64,
    /// The role of this reader in a file that is read twice.
    part: Option<ReaderRole>,
}

impl ColumnPages {
    pub(crate) fn new(pages: Box<dyn PageReader>, column: &ColumnDescriptor) -> ColumnPages {
        ColumnPages {
            reader: pages,
            has_levels: column.max_def_level() > 0,
            budget: None,
            value_bytes: value_bytes(column),
            part: None,
        }
    }

    /// Sets the role in a file that is read twice.
    pub(super) fn passing(self, part: Option<ReaderRole>) -> ColumnPages {
        ColumnPages { part, ..self }
    }

    /// Returns the pages of a column. Their values count toward a budget before they are read, because a row may have
    /// any number of them.
    pub(crate) fn within(
        pages: Box<dyn PageReader>,
        column: &ColumnDescriptor,
        budget: Budget,
    ) -> ColumnPages {
        ColumnPages {
            budget: Some(budget),
            ..ColumnPages::new(pages, column)
        }
    }

    /// Refuses a page that claims more values than it can have.
    fn check(&self, page: &Page) -> Result<()> {
        let values = u64::from(page.num_values());
        let bytes = page.buffer().len() as u64;
        let is_dictionary = matches!(page, Page::DictionaryPage { .. });
        let values = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY if !is_dictionary => {
                let counted = delta_values(page, self.has_levels);
                counted
                    .ok_or_else(|| damaged("a page has no lengths"))?
                    .max(values)
            }
            _ => values,
        };
        if values > MAX_VALUES || is_dictionary && values > bytes {
            return Err(damaged(
                "a page claims to have more values than it can have",
            ));
        }
        let budget = self.budget.as_ref().filter(|_| !is_dictionary);
        budget.map_or(Ok(()), |budget| {
            Ok(budget.count(values.saturating_mul(self.value_bytes))?)
        })
    }
}

/// Returns the bytes of a value and its levels in memory, without the data that the value refers to.
fn value_bytes(column: &ColumnDescriptor) -> u64 {
    let levels =
        2 * u64::from(column.max_def_level() > 0) + 2 * u64::from(column.max_rep_level() > 0);
    levels
        + match column.physical_type() {
            Type::BOOLEAN => 1,
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => size_of::<ByteArray>() as u64,
        }
}

/// Returns the number of lengths at the start of a page's values.
fn delta_values(page: &Page, has_levels: bool) -> Option<u64> {
    let bytes: &[u8] = page.buffer();
    let mut values = match page {
        Page::DataPage { .. } if has_levels => {
            let (length, rest) = bytes.split_first_chunk()?;
            rest.get(usize::try_from(u32::from_le_bytes(*length)).ok()?..)?
        }
        Page::DataPageV2 {
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => {
            let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
            bytes.get(usize::try_from(levels).ok()?..)?
        }
        Page::DataPage { .. } | Page::DictionaryPage { .. } => bytes,
    };
    // The sizes of a block and of its parts come first.
    variable(&mut values)?;
    variable(&mut values)?;
    variable(&mut values)
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            let page = match self.part.as_ref().and_then(ReaderRole::taken) {
                Some(page) => {
                    self.reader.skip_next_page()?;
                    Some(page)
                }
                None => self.reader.get_next_page()?,
            };
            let Some(page) = page else {
                return Ok(None);
            };
            self.check(&page)?;
            if let Some(part) = &mut self.part {
                part.passed(&page);
            }
            // Some writers end a column of lists with empty pages. The library would take one for the end.
            let is_empty = page.num_values() == 0 && page.is_data_page();
            if !is_empty {
                return Ok(Some(page));
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.reader.skip_next_page()?;
        if let Some(part) = &mut self.part {
            part.skipped();
        }
        Ok(())
    }
}

impl Iterator for ColumnPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

pub(crate) fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use parquet::basic::Encoding;
    use parquet::column::page::{Page, PageMetadata, PageReader};
    use parquet::errors::Result;
    use parquet::file::reader::ChunkReader;
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::{BoundedFile, ColumnPages};

    struct Given(Vec<Page>);

    impl Iterator for Given {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Result<Page>> {
            self.0.pop().map(Ok)
        }
    }

    impl PageReader for Given {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            self.next().transpose()
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            self.0.pop();
            Ok(())
        }
    }

    #[test]
    fn pages_of_nothing_are_passed_over() {
        let schema = parse_message_type("message m { required int32 n; }").unwrap();
        let schema = SchemaDescriptor::new(schema.into());
        let page = |num_values| Page::DataPage {
            buf: vec![0; 8].into(),
            num_values,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let given = Given([0, 1, 0, 0, 2].map(page).to_vec());
        let pages = ColumnPages::new(Box::new(given), &schema.column(0));
        let values = pages.map(|page| page.unwrap().num_values());
        assert_eq!(values.collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn readers_of_a_file_do_not_move_one_another() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
        file.write_all(&bytes).unwrap();
        let first = BoundedFile::new(file.try_clone().unwrap(), bytes.len() as u64);
        let second = BoundedFile::new(file, bytes.len() as u64);
        let mut reader = first.get_read(10).unwrap();
        let mut read = vec![0; 20_000];
        reader.read_exact(&mut read[..1]).unwrap();
        assert_eq!(
            second.get_bytes(50_000, 1000).unwrap(),
            bytes[50_000..51_000]
        );
        reader.read_exact(&mut read[1..]).unwrap();
        assert_eq!(read, bytes[10..20_010]);
    }
}

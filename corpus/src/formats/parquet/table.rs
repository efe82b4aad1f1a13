//! A whole Parquet file: its schema, and the rows of its groups.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use parquet::basic::Encoding;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::{ColumnDescPtr, TypePtr};

use crate::formats::parquet::budget::Budget;
use crate::formats::parquet::failure::{CopyFailure, failed};
use crate::formats::parquet::page_handover::{PageHandover, PagePosition, ReaderRole};
use crate::formats::parquet::pages::{BoundedFile, ColumnPages};
use crate::formats::parquet::{explain, open};
use crate::number::times::modified;

/// A table that is being read and can be read again.
pub(crate) struct TableSource {
    pub(crate) schema: TypePtr,
    /// The number of rows of each group.
    pub(crate) groups: Vec<u64>,
    /// The index of the column with the text, or of the first one.
    pub(crate) text: usize,
    again: RereadSource,
    /// Pages left by the first reader.
    passing: PageHandover,
}

/// Where a table can be read again.
#[derive(Debug)]
pub(crate) enum RereadSource {
    /// A file, with its size in bytes and its modification time.
    Path(PathBuf, u64, Option<SystemTime>),
    /// An unnamed copy of an input that can be read only once.
    Held(File),
}

impl TableSource {
    /// Returns the table of an open file with its texts in the column `text`, whose reader leaves its pages in `passing`.
    pub(crate) fn new(
        table: &SerializedFileReader<BoundedFile>,
        text: usize,
        again: RereadSource,
        passing: PageHandover,
    ) -> TableSource {
        let groups = table.metadata().row_groups().iter();
        TableSource {
            schema: table
                .metadata()
                .file_metadata()
                .schema_descr()
                .root_schema_ptr(),
            groups: groups.map(rows).collect(),
            text,
            again,
            passing,
        }
    }

    /// Opens the table again. Returns `None` if the file has changed.
    ///
    /// # Errors
    ///
    /// Those of the system, or the file is damaged.
    pub(crate) fn open(&self) -> io::Result<Option<ParquetTable>> {
        let file = match &self.again {
            RereadSource::Path(path, size, time) => {
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                if metadata.len() != *size || modified(&metadata) != *time {
                    return Ok(None);
                }
                file
            }
            RereadSource::Held(file) => file.try_clone()?,
        };
        let mut table = ParquetTable::open(file)?;
        let is_same = (0..self.groups.len()).all(|at| table.rows(at) == self.groups[at]);
        if table.groups() != self.groups.len() || !is_same {
            return Ok(None);
        }
        self.passing.begin();
        table.passing = self.passing.clone();
        Ok(Some(table))
    }
}

impl fmt::Debug for TableSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TableSource").field(&self.again).finish()
    }
}

impl PartialEq for TableSource {
    fn eq(&self, other: &TableSource) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for TableSource {}

/// An open Parquet file.
pub(crate) struct ParquetTable {
    file: SerializedFileReader<BoundedFile>,
    /// The bytes of the file.
    chunks: BoundedFile,
    budget: Budget,
    /// Pages left by another reader.
    passing: PageHandover,
}

impl Drop for ParquetTable {
    fn drop(&mut self) {
        self.passing.end();
    }
}

impl ParquetTable {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// The file is damaged.
    pub(crate) fn open(file: File) -> io::Result<ParquetTable> {
        let size = file.metadata()?.len();
        let chunks = BoundedFile::new(file, size);
        Ok(ParquetTable {
            file: open(chunks.clone())?,
            chunks,
            budget: Budget::new(size),
            passing: PageHandover::default(),
        })
    }

    pub(crate) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Returns the number of rows of a group, or 0 if there is no such group.
    pub(crate) fn rows(&self, group: usize) -> u64 {
        self.file.metadata().row_groups().get(group).map_or(0, rows)
    }

    pub(crate) fn schema(&self) -> TypePtr {
        self.file
            .metadata()
            .file_metadata()
            .schema_descr()
            .root_schema_ptr()
    }

    pub(crate) fn columns(&self) -> usize {
        self.file
            .metadata()
            .file_metadata()
            .schema_descr()
            .num_columns()
    }

    /// Returns the name of a column.
    pub(crate) fn column_name(&self, column: usize) -> String {
        let schema = self.file.metadata().file_metadata().schema_descr();
        schema.column(column).path().string()
    }

    /// Returns the description of a column.
    pub(crate) fn described(&self, column: usize) -> ColumnDescPtr {
        let schema = self.file.metadata().file_metadata().schema_descr();
        schema.column(column)
    }

    /// Returns the number of bytes of a group's column in the file.
    pub(crate) fn column_bytes(&self, group: usize, column: usize) -> usize {
        let groups = self.file.metadata().row_groups();
        let column = groups.get(group).and_then(|it| it.columns().get(column));
        column.map_or(0, |column| {
            usize::try_from(column.compressed_size()).unwrap_or(0)
        })
    }

    /// Returns the columns of a group that have at least one `part`th of its bytes each.
    pub(crate) fn large_columns(&self, group: usize, part: u64) -> Vec<usize> {
        let groups = self.file.metadata().row_groups();
        let columns = groups.get(group).map_or(&[][..], RowGroupMetaData::columns);
        let size =
            |column: &ColumnChunkMetaData| u64::try_from(column.compressed_size()).unwrap_or(0);
        let all = columns.iter().map(size).fold(0, u64::saturating_add);
        let is_large = |&at: &usize| size(&columns[at]) >= (all / part).max(1);
        (0..columns.len()).filter(is_large).collect()
    }

    /// Copies a column of a group unchanged, as the next column of `rows`.
    ///
    /// # Errors
    ///
    /// The column is not where its file says, or writing fails.
    pub(crate) fn splice<W: Write + Send>(
        &self,
        group: usize,
        column: usize,
        rows: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), CopyFailure> {
        let groups = self.file.metadata().row_groups();
        let found = groups.get(group).and_then(|it| it.columns().get(column));
        let missing = || CopyFailure::Read(io::Error::other("damaged: it is in no row group"));
        let metadata = found.ok_or_else(missing)?.clone();
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(metadata.compressed_size()).unwrap_or(0),
            rows_written: self.rows(group),
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        let spliced = rows.append_column(&self.chunks, close);
        spliced.map_err(|error| match error {
            ParquetError::External(_) => failed(error),
            error => CopyFailure::Read(explain(&error)),
        })
    }

    /// Returns the budget that limits the values read.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns a reader of a column's values in a group.
    ///
    /// # Errors
    ///
    /// There is no such column, or it is damaged.
    pub(crate) fn column(&self, group: usize, column: usize) -> io::Result<ColumnReader> {
        let place = PagePosition {
            group,
            column,
            number: 0,
        };
        let read = || {
            let group = self.file.get_row_group(group)?;
            let described = group.metadata().schema_descr().column(column);
            let pages = group.get_column_page_reader(column)?;
            let pages = ColumnPages::within(pages, &described, self.budget.clone());
            let part = Some(ReaderRole::Second(self.passing.clone(), place));
            Ok(get_column_reader(described, Box::new(pages.passing(part))))
        };
        read().map_err(|error| explain(&error))
    }

    /// Drops the waiting pages of a group that is no longer read, and of those before it.
    pub(crate) fn end_group(&self, group: usize) {
        self.passing.end_group(group);
    }

    /// Returns the properties to write another file of such rows: with this file's metadata except the keys `left_out`,
    /// and with columns encoded and compressed as in the first group.
    pub(crate) fn properties(&self, left_out: &[&str]) -> WriterProperties {
        let metadata = self.file.metadata();
        let pairs = metadata.file_metadata().key_value_metadata();
        let pairs = pairs.cloned().map(|mut pairs| {
            pairs.retain(|pair| !left_out.contains(&pair.key.as_str()));
            pairs
        });
        let mut properties = WriterProperties::builder().set_key_value_metadata(pairs);
        let Some(group) = metadata.row_groups().first() else {
            return properties.build();
        };
        let is_sorted =
            |other: &RowGroupMetaData| other.sorting_columns() == group.sorting_columns();
        if metadata.row_groups().iter().all(is_sorted) {
            properties = properties.set_sorting_columns(group.sorting_columns().cloned());
        }
        // Columns that this table does not have are compressed like its first column.
        if let Some(first) = group.columns().first() {
            properties = properties.set_compression(first.compression());
        }
        for column in group.columns() {
            let path = column.column_path().clone();
            let has_dictionary = column.dictionary_page_offset().is_some()
                || column.encodings().any(|encoding| {
                    matches!(
                        encoding,
                        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
                    )
                });
            let special = column.encodings().find(|encoding| {
                matches!(
                    encoding,
                    Encoding::DELTA_BINARY_PACKED
                        | Encoding::DELTA_BYTE_ARRAY
                        | Encoding::DELTA_LENGTH_BYTE_ARRAY
                        | Encoding::BYTE_STREAM_SPLIT
                )
            });
            properties = properties
                .set_column_compression(path.clone(), column.compression())
                .set_column_dictionary_enabled(path.clone(), has_dictionary);
            if let Some(encoding) = special {
                properties = properties.set_column_encoding(path, encoding);
            }
        }
        properties.build()
    }
}

fn rows(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

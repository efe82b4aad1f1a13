//! A Parquet file written from rows of other tables.

use std::io::{self, Write};
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnDescPtr;

use crate::formats::parquet::added_columns::{AddedCells, schema};
use crate::formats::parquet::chunk::{
    Chunk, ColumnCopier, ColumnEncoding, CopyLimits, RowText, check, copying,
};
use crate::formats::parquet::failure::{CopyFailure, failed, written};
use crate::formats::parquet::table::ParquetTable;

/// The approximate number of bytes of a group's encoded columns to hold in memory. Further bytes go to disk.
const MEMORY: usize = 64 << 20;

/// A column with at least one part in this many of its group's bytes is copied while rows arrive. There are few such
/// columns, so few of their pages are in memory at once. The others follow one by one when the group ends.
const LARGE: u64 = 16;

/// Metadata that describes the columns. Readers that rely on it would miss added columns.
const OF_COLUMNS: [&str; 2] = ["ARROW:schema", "huggingface"];

/// The rows so far, in a file with the schema and the metadata of the first table.
pub(crate) struct FilteredTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    coder: ColumnEncoder,
    /// The group whose rows are arriving.
    group: GroupFilter,
}

/// Encodes columns.
struct ColumnEncoder {
    /// The columns of the file.
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    /// The folder for large encoded columns.
    folder: PathBuf,
}

/// The state of a group.
#[derive(Default)]
struct GroupFilter {
    /// Which of its first rows are kept.
    kept: Vec<bool>,
    /// Whether any of them is dropped or changed.
    is_changed: bool,
    /// The columns that are being copied, with their numbers. Empty until a row is dropped or changed: if all rows are kept
    /// as they are, so are the columns.
    columns: Vec<(usize, Box<dyn ColumnCopier>)>,
}

/// Where rows come from: a group of a table.
#[derive(Clone, Copy)]
pub(crate) struct TableOrigin<'a> {
    pub(crate) table: &'a ParquetTable,
    pub(crate) group: usize,
    /// Called from time to time; whether to continue.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
}

impl<W: Write + Send> FilteredTable<W> {
    /// Starts a file for rows like those of `table`, with the columns `further`. Large encoded columns first go to
    /// unnamed files in `folder`.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn begin(
        place: W,
        folder: PathBuf,
        table: &ParquetTable,
        further: &[(String, AddedCells)],
    ) -> io::Result<FilteredTable<W>> {
        let left_out = if further.is_empty() {
            &[][..]
        } else {
            &OF_COLUMNS
        };
        let begin = || {
            let properties = Arc::new(table.properties(left_out));
            let schema = schema(table.schema(), further)?;
            SerializedFileWriter::new(place, schema, properties)
        };
        let writer = begin().map_err(written)?;
        let coder = ColumnEncoder {
            columns: writer.schema_descr().columns().to_vec(),
            properties: writer.properties().clone(),
            folder,
        };
        Ok(FilteredTable {
            writer,
            coder,
            group: GroupFilter::default(),
        })
    }

    /// Takes the next rows of the current group, as many as `kept` has, and keeps those for which it is true. `texts` are
    /// written in the column `text` of these rows, which are counted from 0 and in order.
    ///
    /// # Errors
    ///
    /// A column is damaged, writing fails, or the copy is stopped.
    pub(crate) fn take(
        &mut self,
        origin: TableOrigin<'_>,
        kept: &[bool],
        text: usize,
        mut texts: Vec<RowText>,
    ) -> Result<(), CopyFailure> {
        let GroupFilter {
            kept: all,
            is_changed,
            columns: begun,
        } = &mut self.group;
        let before = all.len();
        all.extend_from_slice(kept);
        *is_changed |= kept.contains(&false) || !texts.is_empty();
        let mut news = kept;
        if *is_changed && begun.is_empty() {
            let mut large = origin.table.large_columns(origin.group, LARGE);
            if let Err(place) = large.binary_search(&text) {
                large.insert(place, text);
            }
            let memory = MEMORY / large.len().max(1);
            for column in large {
                begun.push((column, self.coder.copying(origin, column, memory)?));
            }
            news = all;
            for (row, _) in &mut texts {
                *row += before;
            }
        }
        for (column, copying) in begun {
            let texts = if *column == text {
                take(&mut texts)
            } else {
                Vec::new()
            };
            let copied = copying.take(news, texts, origin.bounds());
            copied.map_err(|failure| origin.named(*column, failure))?;
        }
        Ok(())
    }

    /// Ends the current group, with the cells of the columns `further`. Rows that were not taken are dropped, and so is
    /// a group without kept rows.
    ///
    /// # Errors
    ///
    /// A column is damaged, writing fails, or the copy is stopped.
    pub(crate) fn end_group(
        &mut self,
        origin: TableOrigin<'_>,
        further: &[AddedCells],
    ) -> Result<(), CopyFailure> {
        let ended = take(&mut self.group);
        self.write_group(ended, origin, further)?;
        origin.table.end_group(origin.group);
        Ok(())
    }

    fn write_group(
        &mut self,
        ended: GroupFilter,
        origin: TableOrigin<'_>,
        further: &[AddedCells],
    ) -> Result<(), CopyFailure> {
        let GroupFilter {
            kept,
            is_changed,
            columns: begun,
        } = ended;
        if !kept.contains(&true) {
            return Ok(());
        }
        let rest = origin
            .table
            .rows(origin.group)
            .checked_sub(kept.len() as u64);
        let changed = || io::Error::other("it has fewer rows than before");
        let rest = rest.ok_or_else(changed).map_err(CopyFailure::Read)?;
        let is_whole = !is_changed && rest == 0;
        let mut begun = begun.into_iter().peekable();
        let mut rows = self.writer.next_row_group().map_err(failed)?;
        for column in 0..origin.table.columns() {
            let copied = if is_whole {
                origin.copy_as_is(column, &mut rows)
            } else {
                let copying = match begun.next_if(|(begun, _)| *begun == column) {
                    Some((_, copying)) => Ok(copying),
                    None => self.coder.copied(origin, column, &kept),
                };
                let chunk = copying.and_then(|copying| ended_after(copying, rest, origin));
                chunk.and_then(|chunk| chunk.append_to(&mut rows).map_err(failed))
            };
            copied.map_err(|failure| origin.named(column, failure))?;
        }
        for cells in further {
            if let Some(mut column) = rows.next_column().map_err(failed)? {
                cells.write(&mut column).map_err(failed)?;
                column.close().map_err(failed)?;
            }
        }
        rows.close().map_err(failed)?;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(written)
    }
}

impl ColumnEncoder {
    /// Starts to copy a column, with at most about `memory` bytes of it in memory.
    fn copying(
        &self,
        origin: TableOrigin<'_>,
        column: usize,
        memory: usize,
    ) -> Result<Box<dyn ColumnCopier>, CopyFailure> {
        let reader = origin.table.column(origin.group, column);
        let missing = || io::Error::other("damaged: it is in no schema");
        let described = self.columns.get(column).cloned().ok_or_else(missing);
        let coding = ColumnEncoding {
            column: described.map_err(CopyFailure::Read)?,
            properties: self.properties.clone(),
            memory,
            bytes: origin.table.column_bytes(origin.group, column),
            folder: &self.folder,
        };
        Ok(copying(reader.map_err(CopyFailure::Read)?, coding))
    }

    /// Copies the kept rows of a column.
    fn copied(
        &self,
        origin: TableOrigin<'_>,
        column: usize,
        kept: &[bool],
    ) -> Result<Box<dyn ColumnCopier>, CopyFailure> {
        let mut copying = self.copying(origin, column, MEMORY)?;
        copying.take(kept, Vec::new(), origin.bounds())?;
        Ok(copying)
    }
}

/// Ends a column after `rest` more rows, which are dropped. They are read nevertheless: if a column had a different
/// length, its values would end up in the wrong rows.
fn ended_after(
    mut copying: Box<dyn ColumnCopier>,
    mut rest: u64,
    origin: TableOrigin<'_>,
) -> Result<Chunk, CopyFailure> {
    const NONE: [bool; 1 << 12] = [false; 1 << 12];
    while rest > 0 {
        let now = usize::try_from(rest).map_or(NONE.len(), |rest| rest.min(NONE.len()));
        copying.take(&NONE[..now], Vec::new(), origin.bounds())?;
        rest -= now as u64;
    }
    copying.finish()
}

impl TableOrigin<'_> {
    fn bounds(&self) -> CopyLimits<'_> {
        CopyLimits {
            budget: self.table.budget(),
            goes_on: self.goes_on,
        }
    }

    /// Splices in a column whose rows are all kept, after checking that it is sound.
    fn copy_as_is<W: Write + Send>(
        &self,
        column: usize,
        rows: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), CopyFailure> {
        let table = self.table;
        let reader = table
            .column(self.group, column)
            .map_err(CopyFailure::Read)?;
        let described = table.described(column);
        check((reader, described), table.rows(self.group), self.bounds())?;
        table.splice(self.group, column, rows)
    }

    /// Adds the column to a read failure.
    fn named(&self, column: usize, failure: CopyFailure) -> CopyFailure {
        match failure {
            CopyFailure::Read(error) => {
                let (name, group) = (self.table.column_name(column), self.group + 1);
                let place = format!("its column {name:?} in row group {group}");
                CopyFailure::Read(io::Error::new(error.kind(), format!("{place}: {error}")))
            }
            failure => failure,
        }
    }
}

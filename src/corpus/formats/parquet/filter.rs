//! A file of columns that is written, of rows of others.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use crate::corpus::formats::parquet::further::{Cells, schema};
use crate::corpus::formats::parquet::table::Table;
use crate::corpus::formats::parquet::triplets::{Levels, Pace, Triplets, with_reader};

/// Why rows were not copied.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The table cannot be read.
    Read(io::Error),
    /// The file cannot be written.
    Written(io::Error),
    /// Nobody wants it any more.
    Stopped,
}

/// Metadata that says which columns there are, for readers who then would miss others.
const OF_COLUMNS: [&str; 2] = ["ARROW:schema", "huggingface"];

/// The rows so far, in a file with the schema and the metadata of the first table.
pub(crate) struct Filtered<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> Filtered<W> {
    /// Begins a file for rows like those of `table`, with `further` columns.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn begin(
        place: W,
        table: &Table,
        further: &[(String, Cells)],
    ) -> io::Result<Filtered<W>> {
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
        Ok(Filtered { writer })
    }

    /// Copies the rows of a group that are `kept`, all columns of them, as a group, with the cells of the
    /// `further` columns. Rows beyond the end of `kept` are not. Asks `goes_on` from time to time.
    ///
    /// # Errors
    ///
    /// A column is damaged, those of writing, or it does not go on.
    pub(crate) fn append(
        &mut self,
        table: &Table,
        group: usize,
        kept: &[bool],
        further: &[Cells],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        if !kept.contains(&true) {
            return Ok(());
        }
        let mut rows = self.writer.next_row_group().map_err(failed)?;
        for column in 0..table.columns() {
            let named = |error: io::Error| {
                let (name, group) = (table.column_name(column), group + 1);
                let place = format!("its column {name:?} in row group {group}");
                Failure::Read(io::Error::new(error.kind(), format!("{place}: {error}")))
            };
            let reader = table.column(group, column).map_err(named)?;
            let Some(mut writer) = rows.next_column().map_err(failed)? else {
                return Err(named(io::Error::other("damaged: it is in no schema")));
            };
            let copy = Copy {
                table,
                kept,
                left: table.rows(group),
                goes_on,
            };
            match with_reader!(reader, reader, T => copy.run::<T>(reader, &mut writer)) {
                Err(Failure::Read(error)) => return Err(named(error)),
                done => done?,
            }
            writer.close().map_err(failed)?;
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

/// How a column of a group is copied.
struct Copy<'a> {
    table: &'a Table,
    kept: &'a [bool],
    /// Rows that are still to be read.
    left: u64,
    goes_on: &'a dyn Fn() -> bool,
}

impl Copy<'_> {
    fn run<T: DataType>(
        self,
        mut reader: ColumnReaderImpl<T>,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), Failure>
    where
        T::T: AsBytes,
    {
        let writer = writer.typed::<T>();
        let highest = Levels::of(writer.get_descriptor());
        let mut triplets = Triplets::new(highest);
        let (mut pace, mut row, mut left) = (Pace::default(), 0, self.left);
        // Behind the last row that is kept nothing is of interest.
        let end = self
            .kept
            .iter()
            .rposition(|&kept| kept)
            .map_or(0, |at| at + 1);
        while left > 0 && row < end {
            if !(self.goes_on)() {
                return Err(Failure::Stopped);
            }
            let rows = pace.rows(left);
            let read = triplets.read(&mut reader, rows, self.table.budget());
            let bytes = read.map_err(Failure::Read)?;
            let levels = triplets.definition.len().max(triplets.values.len());
            pace.read(rows, bytes, levels);
            let kept = self.kept.get(row..).unwrap_or_default();
            if kept.len() < rows || kept[..rows].contains(&false) {
                triplets.retain(|row| kept.get(row).is_some_and(|&kept| kept));
            }
            let definition = (highest.definition > 0).then_some(&*triplets.definition);
            let repetition = (highest.repetition > 0).then_some(&*triplets.repetition);
            writer
                .write_batch(&triplets.values, definition, repetition)
                .map_err(failed)?;
            row += rows;
            left -= rows as u64;
        }
        Ok(())
    }
}

fn failed(error: ParquetError) -> Failure {
    Failure::Written(written(error))
}

/// What the system says, if it is that.
fn written(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error.to_string()),
        },
        error => io::Error::other(error),
    }
}

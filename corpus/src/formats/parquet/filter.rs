//! A Parquet file written from rows of other tables.

use std::io::{self, Write};
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnDescPtr;

use crate::formats::parquet::chunk::{Bounds, Chunk, Coding, Copying, check, copying};
use crate::formats::parquet::failure::{Failure, failed, written};
use crate::formats::parquet::further::{Cells, schema};
use crate::formats::parquet::table::Table;

/// The approximate number of bytes of a group's encoded columns to hold in memory. Further bytes go to disk.
const MEMORY: usize = 64 << 20;

/// A column with at least one part in this many of its group's bytes is copied while rows arrive. There are few such
/// columns, so few of their pages are in memory at once. The others follow one by one when the group ends.
const LARGE: u64 = 16;

/// Metadata that describes the columns. Readers that rely on it would miss added columns.
const OF_COLUMNS: [&str; 2] = ["ARROW:schema", "huggingface"];

/// The rows so far, in a file with the schema and the metadata of the first table.
pub(crate) struct Filtered<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    coder: Coder,
    /// The group whose rows are arriving.
    group: Group,
}

/// Encodes columns.
struct Coder {
    /// The columns of the file.
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    /// The folder for large encoded columns.
    folder: PathBuf,
}

/// The state of a group.
#[derive(Default)]
struct Group {
    /// Which of its first rows are kept.
    kept: Vec<bool>,
    /// Whether any of them is dropped.
    drops: bool,
    /// The columns that are being copied, with their numbers. Empty until a row is dropped: if all rows are kept,
    /// columns are copied as they are.
    begun: Vec<(usize, Box<dyn Copying>)>,
}

/// Where rows come from: a group of a table.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) table: &'a Table,
    pub(crate) group: usize,
    /// Called from time to time; whether to continue.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
}

impl<W: Write + Send> Filtered<W> {
    /// Starts a file for rows like those of `table`, with the columns `further`. Large encoded columns first go to
    /// unnamed files in `folder`.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn begin(
        place: W,
        folder: PathBuf,
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
        let coder = Coder {
            columns: writer.schema_descr().columns().to_vec(),
            properties: writer.properties().clone(),
            folder,
        };
        Ok(Filtered {
            writer,
            coder,
            group: Group::default(),
        })
    }

    /// Takes the next rows of the current group, as many as `kept` has, and keeps those for which it is true.
    ///
    /// # Errors
    ///
    /// A column is damaged, writing fails, or the copy is stopped.
    pub(crate) fn take(&mut self, origin: Origin<'_>, kept: &[bool]) -> Result<(), Failure> {
        let Group {
            kept: all,
            drops,
            begun,
        } = &mut self.group;
        all.extend_from_slice(kept);
        *drops |= kept.contains(&false);
        let mut news = kept;
        if *drops && begun.is_empty() {
            let large = origin.table.large_columns(origin.group, LARGE);
            let memory = MEMORY / large.len().max(1);
            for column in large {
                begun.push((column, self.coder.copying(origin, column, memory)?));
            }
            news = all;
        }
        for (column, copying) in begun {
            let copied = copying.take(news, origin.bounds());
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
        origin: Origin<'_>,
        further: &[Cells],
    ) -> Result<(), Failure> {
        let ended = take(&mut self.group);
        self.write_group(ended, origin, further)?;
        origin.table.end_group(origin.group);
        Ok(())
    }

    fn write_group(
        &mut self,
        ended: Group,
        origin: Origin<'_>,
        further: &[Cells],
    ) -> Result<(), Failure> {
        let Group { kept, drops, begun } = ended;
        if !kept.contains(&true) {
            return Ok(());
        }
        let rest = origin
            .table
            .rows(origin.group)
            .checked_sub(kept.len() as u64);
        let changed = || io::Error::other("it has fewer rows than before");
        let rest = rest.ok_or_else(changed).map_err(Failure::Read)?;
        let is_whole = !drops && rest == 0;
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

impl Coder {
    /// Starts to copy a column, with at most about `memory` bytes of it in memory.
    fn copying(
        &self,
        origin: Origin<'_>,
        column: usize,
        memory: usize,
    ) -> Result<Box<dyn Copying>, Failure> {
        let reader = origin.table.column(origin.group, column);
        let missing = || io::Error::other("damaged: it is in no schema");
        let described = self.columns.get(column).cloned().ok_or_else(missing);
        let coding = Coding {
            column: described.map_err(Failure::Read)?,
            properties: self.properties.clone(),
            memory,
            bytes: origin.table.column_bytes(origin.group, column),
            folder: &self.folder,
        };
        Ok(copying(reader.map_err(Failure::Read)?, coding))
    }

    /// Copies the kept rows of a column.
    fn copied(
        &self,
        origin: Origin<'_>,
        column: usize,
        kept: &[bool],
    ) -> Result<Box<dyn Copying>, Failure> {
        let mut copying = self.copying(origin, column, MEMORY)?;
        copying.take(kept, origin.bounds())?;
        Ok(copying)
    }
}

/// Ends a column after `rest` more rows, which are dropped. They are read nevertheless: if a column had a different
/// length, its values would end up in the wrong rows.
fn ended_after(
    mut copying: Box<dyn Copying>,
    mut rest: u64,
    origin: Origin<'_>,
) -> Result<Chunk, Failure> {
    const NONE: [bool; 1 << 12] = [false; 1 << 12];
    while rest > 0 {
        let now = usize::try_from(rest).map_or(NONE.len(), |rest| rest.min(NONE.len()));
        copying.take(&NONE[..now], origin.bounds())?;
        rest -= now as u64;
    }
    copying.finish()
}

impl Origin<'_> {
    fn bounds(&self) -> Bounds<'_> {
        Bounds {
            budget: self.table.budget(),
            goes_on: self.goes_on,
        }
    }

    /// Splices in a column whose rows are all kept, after checking that it is sound.
    fn copy_as_is<W: Write + Send>(
        &self,
        column: usize,
        rows: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), Failure> {
        let table = self.table;
        let reader = table.column(self.group, column).map_err(Failure::Read)?;
        let described = table.described(column);
        check((reader, described), table.rows(self.group), self.bounds())?;
        table.splice(self.group, column, rows)
    }

    /// Adds the column to a read failure.
    fn named(&self, column: usize, failure: Failure) -> Failure {
        match failure {
            Failure::Read(error) => {
                let (name, group) = (self.table.column_name(column), self.group + 1);
                let place = format!("its column {name:?} in row group {group}");
                Failure::Read(io::Error::new(error.kind(), format!("{place}: {error}")))
            }
            failure => failure,
        }
    }
}

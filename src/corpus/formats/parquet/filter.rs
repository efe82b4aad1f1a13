//! A file of columns that is written, of rows of others.

use std::io::{self, Write};
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnDescPtr;

use crate::corpus::formats::parquet::chunk::{Bounds, Chunk, Coding, Copying, check, copying};
use crate::corpus::formats::parquet::failure::{Failure, failed, written};
use crate::corpus::formats::parquet::further::{Cells, schema};
use crate::corpus::formats::parquet::table::Table;

/// Bytes of a group's encoded columns that are in memory while it lasts, about; further ones go to disk.
const MEMORY: usize = 64 << 20;

/// A column that has this part of the bytes of its group, or more, is copied while rows come. Those are few, so few
/// of their pages are in memory at once. The others follow one by one when the group ends.
const LARGE: u64 = 16;

/// Metadata that says which columns there are, for readers who then would miss others.
const OF_COLUMNS: [&str; 2] = ["ARROW:schema", "huggingface"];

/// The rows so far, in a file with the schema and the metadata of the first table.
pub(crate) struct Filtered<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    coder: Coder,
    /// The group whose rows come.
    group: Group,
}

/// How columns are encoded.
struct Coder {
    /// Those of the file.
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    /// Where encoded columns go that are large.
    folder: PathBuf,
}

/// What is known of a group.
#[derive(Default)]
struct Group {
    /// Which of its first rows are kept.
    kept: Vec<bool>,
    /// Whether one of them is not.
    drops: bool,
    /// The columns that are being copied, with their numbers. None before a row is dropped: where all are kept, columns
    /// are copied as they are.
    begun: Vec<(usize, Box<dyn Copying>)>,
}

/// Where rows come from: a group of a table.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) table: &'a Table,
    pub(crate) group: usize,
    /// Asked from time to time.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
}

impl<W: Write + Send> Filtered<W> {
    /// Begins a file for rows like those of `table`, with `further` columns. Encoded columns that are large go to files
    /// without a name in `folder` before they go there.
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

    /// Takes the next rows of the group that comes, as many as `kept` has: those for which it says so.
    ///
    /// # Errors
    ///
    /// A column is damaged, those of writing, or it does not go on.
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

    /// Ends the group that comes, with the cells of the `further` columns. Of its rows that were not taken, none is
    /// kept, and one of which none is kept is left out.
    ///
    /// # Errors
    ///
    /// A column is damaged, those of writing, or it does not go on.
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
    /// Begins to copy a column, of which about so many bytes may be in memory.
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

    /// Copies the rows of a column that are kept.
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

/// Ends a column behind so many further rows, of which none is kept. They are read nevertheless: a column of another length
/// than the others would give rows the values of others.
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

    /// Splices in a column of which all rows are kept, once it is known to be sound.
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

    /// Says which column a failure to read is of.
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

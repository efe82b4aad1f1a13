//! Rows of Parquet files: two columns, a few rows at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io;

use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::ingest::columns::{Cells, Columns, missing, number};
use crate::ingest::record::{Nth, Raw};
use crate::inputs::Inputs;

/// Rows that are read together; their texts are in memory at once.
const ROWS: usize = 32;

/// The rows of a file.
pub(crate) struct Rows {
    file: SerializedFileReader<File>,
    columns: Columns,
    next_group: usize,
    group: Option<Group>,
    ready: VecDeque<Cells<ByteArray>>,
    number: u64,
}

/// The columns of a row group, as far as they are not read.
struct Group {
    id: Option<Column>,
    text: Column,
    rows: u64,
}

impl Rows {
    /// Begins to read a file.
    ///
    /// # Errors
    ///
    /// It is damaged, or has no such column.
    pub(crate) fn new(file: File, inputs: &Inputs) -> io::Result<Rows> {
        let file = SerializedFileReader::new(file).map_err(|error| explain(&error))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let names: Vec<String> = schema
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        let find = |name: &str| {
            let named = names.iter().position(|found| found == name);
            named.or_else(|| number(name).filter(|&index| index < names.len()))
        };
        let missing = |name| io::Error::other(missing(name, "its columns are", &names));
        let text = inputs.text_field();
        let text = find(text).ok_or_else(|| missing(text))?;
        let id = match &inputs.id_field {
            Some(name) => Some(find(name).ok_or_else(|| missing(name))?),
            None => find(inputs.id_field()),
        };
        for (index, is_text) in [(Some(text), true), (id, false)] {
            if let Some(index) = index {
                check(&schema.column(index), is_text).map_err(io::Error::other)?;
            }
        }
        Ok(Rows {
            file,
            columns: Columns { id, text },
            next_group: 0,
            group: None,
            ready: VecDeque::new(),
            number: 0,
        })
    }

    fn read(&mut self) -> io::Result<Option<Raw<Cells<ByteArray>>>> {
        while self.ready.is_empty() {
            if let Some(group) = self.group.as_mut().filter(|group| group.rows > 0) {
                self.ready = group.read()?;
            } else if self.next_group < self.file.num_row_groups() {
                let group = self.file.get_row_group(self.next_group);
                let group = group.map_err(|error| explain(&error))?;
                self.group = Some(Group::new(&*group, self.columns)?);
                self.next_group += 1;
            } else {
                return Ok(None);
            }
        }
        Ok(self.ready.pop_front().map(|cells| {
            self.number += 1;
            let size = |cell: &Option<ByteArray>| cell.as_ref().map_or(0, |cell| cell.len() as u64);
            Raw {
                nth: Nth::Record(self.number),
                bytes: size(&cells.id) + size(&cells.text),
                verbatim: Vec::new(),
                body: Ok(cells),
            }
        }))
    }
}

impl Iterator for Rows {
    type Item = io::Result<Raw<Cells<ByteArray>>>;

    fn next(&mut self) -> Option<io::Result<Raw<Cells<ByteArray>>>> {
        self.read().transpose()
    }
}

impl Group {
    fn new(group: &dyn RowGroupReader, columns: Columns) -> io::Result<Group> {
        let column = |index| Column::new(group, index).map_err(|error| explain(&error));
        Ok(Group {
            id: columns.id.map(column).transpose()?,
            text: column(columns.text)?,
            rows: u64::try_from(group.metadata().num_rows()).unwrap_or(0),
        })
    }

    /// The next rows, at least one.
    fn read(&mut self) -> io::Result<VecDeque<Cells<ByteArray>>> {
        let texts = self.text.read().map_err(|error| explain(&error))?;
        let ids = match &mut self.id {
            Some(id) => id.read().map_err(|error| explain(&error))?,
            None => vec![None; texts.len()],
        };
        let read = texts.len() as u64;
        if read == 0 || read > self.rows || ids.len() != texts.len() {
            return Err(io::Error::other(
                "damaged: its columns are of different lengths",
            ));
        }
        self.rows -= read;
        let rows = ids.into_iter().zip(texts);
        Ok(rows.map(|(id, text)| Cells { id, text }).collect())
    }
}

/// A column of a row group.
struct Column {
    reader: ColumnReader,
    /// Definition level of a value that is there.
    level: i16,
    is_unsigned: bool,
}

/// A value, which keeps its page in memory.
type Cell = Option<ByteArray>;

impl Column {
    fn new(group: &dyn RowGroupReader, index: usize) -> Result<Column, ParquetError> {
        let column = group.metadata().schema_descr().column(index);
        let unsigned = [
            ConvertedType::UINT_8,
            ConvertedType::UINT_16,
            ConvertedType::UINT_32,
            ConvertedType::UINT_64,
        ];
        Ok(Column {
            reader: group.get_column_reader(index)?,
            level: column.max_def_level(),
            is_unsigned: unsigned.contains(&column.converted_type()),
        })
    }

    fn read(&mut self) -> Result<Vec<Cell>, ParquetError> {
        let (level, is_unsigned) = (self.level, self.is_unsigned);
        let decimal = |signed: i64, unsigned: u64| {
            let digits = if is_unsigned {
                unsigned.to_string()
            } else {
                signed.to_string()
            };
            ByteArray::from(digits.into_bytes())
        };
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                cells(reader, level, |value: ByteArray| value)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                cells(reader, level, |value: FixedLenByteArray| value.into())
            }
            ColumnReader::Int32ColumnReader(reader) => cells(reader, level, |value: i32| {
                decimal(value.into(), value.cast_unsigned().into())
            }),
            ColumnReader::Int64ColumnReader(reader) => cells(reader, level, |value: i64| {
                decimal(value, value.cast_unsigned())
            }),
            _ => Ok(Vec::new()),
        }
    }
}

/// The next cells of a column, in which only those of `level` are there.
fn cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    level: i16,
    bytes: impl Fn(T::T) -> ByteArray,
) -> Result<Vec<Cell>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(ROWS, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter().map(bytes);
    if level == 0 {
        return Ok(values.map(Some).collect());
    }
    let cell = |found| if found == level { values.next() } else { None };
    Ok(levels.into_iter().map(cell).collect())
}

/// Refuses a column that is no text, or no key.
fn check(column: &ColumnDescriptor, is_text: bool) -> Result<(), String> {
    let name = column.path().string();
    if column.max_rep_level() > 0 {
        return Err(format!("its column {name:?} has lists"));
    }
    match column.physical_type() {
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Ok(()),
        Type::INT32 | Type::INT64 if !is_text => Ok(()),
        other if is_text => Err(format!(
            "its column {name:?} is of type {other}, which is no text"
        )),
        other => Err(format!(
            "its column {name:?} is of type {other}, which is no key"
        )),
    }
}

fn explain(error: &ParquetError) -> io::Error {
    io::Error::other(format!("damaged, or cut short: {error}"))
}

//! Rows of Parquet files: the columns that are read, a few rows at a time; or all columns, to be written again.

pub(crate) mod added_columns;
mod budget;
pub(crate) mod chunk;
pub(crate) mod failure;
pub(crate) mod filter;
mod footer;
mod json_lines;
mod nodes;
mod page_handover;
mod pages;
mod prefetch;
pub(crate) mod sketches;
mod snappy;
pub(crate) mod table;
mod triplets;
mod values;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::iter;

use parquet::basic::{Compression, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::formats::fields::FieldRelation;
use crate::formats::id::IdType;
use crate::formats::parquet::json_lines::JsonLines;
pub(crate) use crate::formats::parquet::nodes::column_types;
use crate::formats::parquet::page_handover::{PageHandover, PagePosition, ReaderRole};
use crate::formats::parquet::pages::{BoundedFile, ColumnPages};
use crate::formats::parquet::prefetch::Pager;
use crate::formats::parquet::table::{RereadSource, TableSource};
use crate::formats::parquet::values::{ValueKind, nanoseconds};
use crate::formats::record::RawRecord;
use crate::formats::table::columns::{ColumnIndices, RowCells, distinct, missing, number};
use crate::formats::text_place::TextPlace;
use crate::options::Options;
use crate::skipped::{Hint, HintedError, Nth};
use crate::source::guard::Growth;

/// The maximum number of rows to read together. Their texts are in memory at once.
const ROWS: u64 = 32;

/// The number of bytes that the rows read together should have, judging by earlier rows.
const BYTES: u64 = 1 << 20;

/// Bytes counted for a row in addition to its own, so that endless empty rows reach the limit too.
const ROW_BYTES: u64 = 64;

/// The rows of a file.
pub(crate) struct ParquetRows {
    file: SerializedFileReader<BoundedFile>,
    /// The size of the file in bytes.
    size: u64,
    /// The growth by the rows so far. A value that is stored once may belong to many rows.
    growth: Growth,
    /// Bytes of the largest row so far.
    largest: u64,
    columns: ColumnIndices,
    id_type: Option<IdType>,
    next_group: usize,
    group: Option<RowGroupCursor>,
    /// Reads the pages of the first column with texts, which make up most of a file. `None` if the system allows no thread.
    pager: Option<Pager>,
    /// The rows with all their columns, if they are wanted as lines.
    lines: Option<JsonLines>,
    /// The fields with texts as lines, if one is in a list.
    nested: Option<JsonLines>,
    /// Where pages are left for a reader of the whole table.
    passing: PageHandover,
    ready: VecDeque<(RowCells<ByteArray>, Vec<u8>)>,
    number: u64,
}

/// The unread part of a row group's columns.
struct RowGroupCursor {
    id: Option<RowGroupColumn>,
    texts: Vec<RowGroupColumn>,
    rows: u64,
}

impl ParquetRows {
    /// Starts reading a file.
    ///
    /// # Errors
    ///
    /// The file is damaged, or has no such column.
    pub(crate) fn new(file: File, options: &Options) -> io::Result<ParquetRows> {
        let size = file.metadata()?.len();
        let file = open(BoundedFile::new(file, size))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let names: Vec<String> = schema
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        let find = |name: &str| find_column(name, &names);
        let missing = |name| no_column(name, &names);
        let (texts, nested) = text_columns(schema, (&names, size), options)?;
        let id = match (&options.id_field, options.id_name()) {
            (Some(name), _) => Some(find(name).ok_or_else(|| missing(name))?),
            (None, name) => {
                find(name).map_or_else(|| no_nested(name, &names), |id| Ok(Some(id)))?
            }
        };
        let is_typed = has_types(file.metadata().file_metadata());
        let id_type = |index| {
            let of = id_type(&schema.column(index), is_typed, options.encoding.is_some());
            of.map_err(no_key)
        };
        let id_type = id.map(id_type).transpose()?;
        check_codings(&file, |index| {
            let is_nested = nested.as_ref().is_some_and(|it| it.has_column(index));
            options.verbatim || texts.contains(&index) || Some(index) == id || is_nested
        })?;
        let is_document = |at| texts.contains(&at) || Some(at) == id;
        check_ranks(schema, &options.ranked_fields, is_document).map_err(io::Error::other)?;
        let documents = (&*texts, id.zip(id_type));
        let lines = JsonLines::wanted(schema, documents, options, size);
        Ok(ParquetRows {
            lines,
            nested,
            id_type,
            passing: PageHandover::default(),
            file,
            size,
            growth: Growth::default(),
            largest: BYTES, // initial value
            columns: ColumnIndices {
                id,
                texts,
                widths: None,
            },
            next_group: 0,
            group: None,
            pager: Pager::start(),
            ready: VecDeque::new(),
            number: 0,
        })
    }

    /// Returns the whole table, which can be read again as `again` says.
    pub(crate) fn table(&self, again: RereadSource) -> TableSource {
        let first = self.columns.texts.first().copied().unwrap_or(0);
        TableSource::new(&self.file, first, again, self.passing.clone())
    }

    /// Returns where its rows, as lines of JSON, have their text. Nothing is written into texts of a fixed length.
    pub(crate) fn text_place(&self) -> TextPlace {
        let [text] = *self.columns.texts else {
            return TextPlace::None;
        };
        let schema = self.file.metadata().file_metadata().schema_descr();
        let column = schema.column(text);
        match column.physical_type() {
            Type::FIXED_LEN_BYTE_ARRAY => TextPlace::None,
            _ => TextPlace::Field(column.path().string()),
        }
    }

    /// Reads the next rows if none are ready and there are more.
    fn fill(&mut self) -> io::Result<()> {
        while self.ready.is_empty() {
            if let Some(group) = self.group.as_mut().filter(|group| group.rows > 0) {
                let rows = (BYTES / self.largest.max(1)).clamp(1, ROWS);
                let mut cells = group.read(usize::try_from(rows).unwrap_or(1))?;
                if let Some(nested) = &mut self.nested {
                    let fields = nested.read(cells.len())?;
                    for (cells, fields) in cells.iter_mut().zip(fields) {
                        cells.nested = Some(fields);
                    }
                }
                let lines = match &mut self.lines {
                    Some(lines) => lines.read(cells.len())?,
                    None => vec![Vec::new(); cells.len()],
                };
                self.ready = cells.into_iter().zip(lines).collect();
            } else if self.next_group < self.file.num_row_groups() {
                let number = self.next_group;
                self.next_group += 1;
                let group = self.file.get_row_group(number);
                let group = group.map_err(|error| explain(&error))?;
                for lines in [&mut self.lines, &mut self.nested].into_iter().flatten() {
                    lines.begin(&*group)?;
                }
                let read = RowGroupCursor::new((&*group, number), self);
                self.group = Some(read?);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<Option<RawRecord<RowCells<ByteArray>>>> {
        if let Err(error) = self.fill() {
            let groups = self.file.num_row_groups();
            let rows = self.file.metadata().file_metadata().num_rows();
            return Err(io::Error::new(
                error.kind(),
                format!(
                    "{error} (row group {} of {groups}; {} of {rows} rows are read)",
                    self.next_group, self.number
                ),
            ));
        }
        let Some((cells, verbatim)) = self.ready.pop_front() else {
            return Ok(None);
        };
        self.number += 1;
        let size = |cell: &Cell| cell.as_ref().map_or(0, |cell| cell.len() as u64);
        let nested = cells
            .nested
            .as_ref()
            .map_or(0, |nested| nested.len() as u64);
        let bytes = size(&cells.id) + nested + cells.texts.iter().map(size).sum::<u64>();
        self.growth.count(ROW_BYTES + bytes, self.size)?;
        let raw = RawRecord {
            nth: Nth::Record(self.number),
            bytes,
            verbatim,
            body: Ok(cells),
        };
        self.largest = if self.number == 1 {
            raw.held()
        } else {
            self.largest.max(raw.held())
        };
        Ok(Some(raw))
    }
}

impl Iterator for ParquetRows {
    type Item = io::Result<RawRecord<RowCells<ByteArray>>>;

    fn next(&mut self) -> Option<io::Result<RawRecord<RowCells<ByteArray>>>> {
        self.read().transpose()
    }
}

impl RowGroupCursor {
    fn new(
        (group, number): (&dyn RowGroupReader, usize),
        rows: &ParquetRows,
    ) -> io::Result<RowGroupCursor> {
        let column = |column, id_type, pager| {
            let place = PagePosition {
                group: number,
                column,
                number: 0,
            };
            let part = ReaderRole::First(rows.passing.clone(), place);
            RowGroupColumn::new(group, (column, id_type), Some(part), pager)
                .map_err(|error| explain(&error))
        };
        let ColumnIndices { id, texts, .. } = &rows.columns;
        let id = id.map(|id| column(id, rows.id_type, None));
        // The thread reads one column of a group.
        let pagers = [rows.pager.as_ref()].into_iter().chain(iter::repeat(None));
        let texts = texts.iter().zip(pagers);
        let texts = texts.map(|(&text, pager)| column(text, None, pager));
        Ok(RowGroupCursor {
            id: id.transpose()?,
            texts: texts.collect::<io::Result<_>>()?,
            rows: u64::try_from(group.metadata().num_rows()).unwrap_or(0),
        })
    }

    /// Returns the next rows: at least one and at most `rows`.
    fn read(&mut self, rows: usize) -> io::Result<VecDeque<RowCells<ByteArray>>> {
        let left = usize::try_from(self.rows).unwrap_or(rows);
        let mut read = if self.texts.is_empty() {
            rows.min(left)
        } else {
            0
        };
        let mut texts = Vec::with_capacity(self.texts.len());
        for column in &mut self.texts {
            let cells = column.read(rows).map_err(|error| explain(&error))?;
            if !texts.is_empty() && cells.len() != read {
                return Err(different_lengths());
            }
            read = cells.len();
            texts.push(cells.into_iter());
        }
        let ids = match &mut self.id {
            Some(id) => id.read(rows).map_err(|error| explain(&error))?,
            None => vec![None; read],
        };
        if read == 0 || read as u64 > self.rows || ids.len() != read {
            return Err(different_lengths());
        }
        self.rows -= read as u64;
        let row = |id| RowCells {
            id,
            texts: texts.iter_mut().map(|text| text.next().flatten()).collect(),
            nested: None,
            fault: None,
        };
        Ok(ids.into_iter().map(row).collect())
    }
}

/// A column of a row group.
struct RowGroupColumn {
    reader: ColumnReader,
    /// The definition level of a value that is not null.
    level: i16,
    /// The type of a column of ids.
    id: Option<IdType>,
    unsigned: Option<u32>,
}

/// A value, which keeps its page in memory.
type Cell = Option<ByteArray>;

impl RowGroupColumn {
    fn new(
        group: &dyn RowGroupReader,
        (index, id): (usize, Option<IdType>),
        part: Option<ReaderRole>,
        pager: Option<&Pager>,
    ) -> Result<RowGroupColumn, ParquetError> {
        let column = group.metadata().schema_descr().column(index);
        let pages = group.get_column_page_reader(index)?;
        let pages = match pager {
            Some(pager) => pager.ahead(pages),
            None => pages,
        };
        let pages = ColumnPages::new(pages, &column).passing(part);
        Ok(RowGroupColumn {
            reader: get_column_reader(column.clone(), Box::new(pages)),
            level: column.max_def_level(),
            id,
            unsigned: match ValueKind::of(&column) {
                ValueKind::Unsigned(bits) => Some(bits),
                _ => None,
            },
        })
    }

    fn read(&mut self, rows: usize) -> Result<Vec<Cell>, ParquetError> {
        let (level, id) = (self.level, self.id.unwrap_or(IdType::Text));
        let unsigned = self.unsigned;
        let text = |text: String| ByteArray::from(text.into_bytes());
        let integer = |value: i64| {
            let value = match unsigned {
                Some(bits @ 0..64) => i128::from(value.cast_unsigned() & ((1 << bits) - 1)),
                Some(_) => i128::from(value.cast_unsigned()),
                None => i128::from(value),
            };
            text(id.integer(value))
        };
        // What is not UTF-8 is an error of its row.
        let bytes = |value: ByteArray| match id {
            IdType::Text => value,
            _ => id.bytes(value.data()).map_or(value, text),
        };
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => cells(reader, rows, level, bytes),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                let fixed = |value: FixedLenByteArray| bytes(value.into());
                cells(reader, rows, level, fixed)
            }
            ColumnReader::BoolColumnReader(reader) => {
                cells(reader, rows, level, |value: bool| integer(value.into()))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                cells(reader, rows, level, |value: i32| integer(value.into()))
            }
            ColumnReader::Int64ColumnReader(reader) => cells(reader, rows, level, integer),
            ColumnReader::Int96ColumnReader(reader) => cells(reader, rows, level, |value| {
                text(id.integer(nanoseconds(&value).unwrap_or(0)))
            }),
            _ => Ok(Vec::new()),
        }
    }
}

/// Opens a file whose schema is plausible.
fn open(chunks: BoundedFile) -> io::Result<SerializedFileReader<BoundedFile>> {
    let file = footer::check(&chunks).and_then(|()| SerializedFileReader::new(chunks));
    file.map_err(|error| explain(&error))
}

/// Returns the next cells of a column, at most `rows`. Only cells of definition level `level` are not null.
fn cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    level: i16,
    bytes: impl Fn(T::T) -> ByteArray,
) -> Result<Vec<Cell>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter().map(bytes);
    if level == 0 {
        return Ok(values.map(Some).collect());
    }
    let cell = |found| if found == level { values.next() } else { None };
    Ok(levels.into_iter().map(cell).collect())
}

/// Returns the leaf column of this name or, counted from 1, this number.
fn find_column(name: &str, names: &[String]) -> Option<usize> {
    let named = names.iter().position(|found| found == name);
    named.or_else(|| number(name).filter(|&index| index < names.len()))
}

fn no_column(name: &str, names: &[String]) -> io::Error {
    io::Error::other(missing(name, "its columns are", names))
}

/// Returns the columns of texts or, if one is in a list, a reader of the fields that have them.
///
/// # Errors
///
/// There is no such column, or it has no texts.
fn text_columns(
    schema: &SchemaDescriptor,
    (names, size): (&[String], u64),
    options: &Options,
) -> io::Result<(Vec<usize>, Option<JsonLines>)> {
    let wanted = options.text_names();
    let (mut columns, mut is_nested) = (Vec::new(), false);
    for &name in &wanted {
        match find_column(name, names) {
            Some(column) if schema.column(column).max_rep_level() == 0 => columns.push(column),
            _ if has_list(schema, name) => is_nested = true,
            _ => return Err(no_column(name, names)),
        }
    }
    let columns = distinct(columns);
    if is_nested {
        let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
        let texts = (&*columns, None);
        let fields = JsonLines::new(schema, texts, options.given_encoding(), Some(&wanted), size);
        return Ok((Vec::new(), Some(fields)));
    }
    for &column in &columns {
        check_text(&schema.column(column)).map_err(io::Error::other)?;
    }
    Ok((columns, None))
}

/// Whether a field, which this path is or leads into, has lists.
fn has_list(schema: &SchemaDescriptor, path: &str) -> bool {
    let columns = (0..schema.num_columns()).map(|column| schema.column(column));
    let mut lists = columns.filter(|column| column.max_rep_level() > 0);
    lists.any(|column| {
        let root = column.path().parts().first();
        root.is_some_and(|root| FieldRelation::leads_to(path, root))
    })
}

/// Refuses to rank rows by what is in a map, or by bytes, unless the column is one of texts or keys.
fn check_ranks(
    schema: &SchemaDescriptor,
    fields: &[String],
    is_document: impl Fn(usize) -> bool,
) -> Result<(), String> {
    for field in fields {
        let mut columns = (0..schema.num_columns()).map(|at| (at, schema.column(at)));
        let own = columns.find(|(_, it)| it.max_rep_level() == 0 && it.path().string() == *field);
        let is_plain = |it| is_bytes(it) && ValueKind::of(it) == ValueKind::Plain;
        let what = match own {
            Some((at, own)) if is_plain(&own) && !is_document(at) => "bytes",
            None if field.contains('.') && has_list(schema, field) => "values in a list or a map",
            _ => continue,
        };
        return Err(format!(
            "the column {field:?} has {what}, which have no rank"
        ));
    }
    Ok(())
}

fn is_bytes(column: &ColumnDescriptor) -> bool {
    matches!(
        column.physical_type(),
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY
    )
}

/// Refuses a column that cannot hold texts.
fn check_text(column: &ColumnDescriptor) -> Result<(), String> {
    if is_bytes(column) && matches!(ValueKind::of(column), ValueKind::Plain | ValueKind::Text) {
        return Ok(());
    }
    Err(refused(column, "text"))
}

/// Returns the type of a column of ids. Bytes without a type of their own are text in files of old writers, which have
/// no type for text, and of those who name an encoding. If the writer `is_typed`, they are no text.
///
/// # Errors
///
/// Its values cannot be keys.
fn id_type(
    column: &ColumnDescriptor,
    is_typed: bool,
    has_encoding: bool,
) -> Result<IdType, String> {
    check_lists(column)?;
    let physical = column.physical_type();
    Ok(match ValueKind::of(column) {
        _ if matches!(physical, Type::FLOAT | Type::DOUBLE) => return Err(refused(column, "key")),
        ValueKind::Half => return Err(refused(column, "key")),
        ValueKind::Decimal(_) if column.type_precision() > DIGITS => {
            return Err(refused(column, "key"));
        }
        ValueKind::Text => IdType::Text,
        ValueKind::Uuid => IdType::Uuid,
        ValueKind::Decimal(scale) => IdType::Decimal(i32::try_from(scale).unwrap_or(0)),
        ValueKind::Date => IdType::Date,
        ValueKind::Time(unit) => IdType::Time(unit.places()),
        ValueKind::Timestamp(unit, is_utc) => IdType::Timestamp(unit.places(), is_utc),
        _ => match physical {
            Type::BOOLEAN => IdType::Boolean,
            Type::INT96 => IdType::Timestamp(9, false),
            Type::BYTE_ARRAY if has_encoding || !is_typed => IdType::Text,
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => IdType::Bytes,
            _ => IdType::Integer,
        },
    })
}

/// The digits of a number of 128 bits.
const DIGITS: i32 = 38;

/// Returns the error of a column whose values cannot be keys.
fn no_key(detail: String) -> io::Error {
    let hint = Hint::IdField;
    io::Error::other(HintedError { detail, hint })
}

/// Returns no column of ids, unless one of this name has nested fields.
fn no_nested(name: &str, columns: &[String]) -> io::Result<Option<usize>> {
    let below = format!("{name}.");
    if columns.iter().any(|column| column.starts_with(&below)) {
        return Err(no_key(format!("its column {name:?} has nested fields")));
    }
    Ok(None)
}

/// Whether the writer of a file has a type for text of its own, so that bytes without a type are none.
fn has_types(metadata: &FileMetaData) -> bool {
    const SCHEMAS: [&str; 3] = [
        "ARROW:schema",
        "org.apache.spark.sql.parquet.row.metadata",
        "parquet.avro.schema",
    ];
    let pairs = metadata.key_value_metadata().into_iter().flatten();
    pairs.into_iter().any(|pair| SCHEMAS.contains(&&*pair.key))
}

fn check_lists(column: &ColumnDescriptor) -> Result<(), String> {
    if column.max_rep_level() > 0 {
        return Err(format!("its column {:?} has lists", column.path().string()));
    }
    Ok(())
}

fn refused(column: &ColumnDescriptor, what: &str) -> String {
    let name = column.path().string();
    let kind = match column.logical_type_ref() {
        Some(logical) => format!("{logical:?}"),
        None => column.physical_type().to_string(),
    };
    format!("its column {name:?} is of type {kind}, which is no {what}")
}

/// Refuses a file of which a column that is wanted, by its number, is compressed in another way than is supported.
fn check_codings(
    file: &SerializedFileReader<BoundedFile>,
    is_wanted: impl Fn(usize) -> bool,
) -> io::Result<()> {
    for group in file.metadata().row_groups() {
        for (index, column) in group.columns().iter().enumerate() {
            if is_wanted(index)
                && let Some(coding) = unread(column.compression())
            {
                return Err(io::Error::other(format!(
                    "it is compressed with {coding}, which is not read; Snappy, gzip, Zstandard and LZ4 are"
                )));
            }
        }
    }
    Ok(())
}

/// Returns the name of a compression that is not supported.
fn unread(coding: Compression) -> Option<&'static str> {
    match coding {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::LZ4
        | Compression::LZ4_RAW
        | Compression::ZSTD(_) => None,
    }
}

fn explain(error: &ParquetError) -> io::Error {
    if error.to_string().contains("encrypted") {
        return io::Error::other("it is encrypted, which is not read");
    }
    let error = error.to_string();
    let reason = error.trim_start_matches("Parquet error: ");
    let reason = reason.trim_start_matches("Invalid Parquet file. ");
    io::Error::other(format!(
        "damaged, or cut short: {reason}; copy or download it again"
    ))
}

/// Reports a row group whose columns have different numbers of rows.
fn different_lengths() -> io::Error {
    io::Error::other("damaged: its columns are of different lengths")
}

#[cfg(test)]
mod tests {
    use super::{Options, ParquetRows};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    #[test]
    fn rows_of_nothing_may_not_go_on_without_end() {
        let schema = parse_message_type("message m { required binary text (UTF8); }").unwrap();
        let file = tempfile::tempfile().unwrap();
        let copy = file.try_clone().unwrap();
        let mut writer =
            SerializedFileWriter::new(copy, schema.into(), std::sync::Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let rows = vec![ByteArray::from(""); 1_100_000];
        let written = column
            .typed::<ByteArrayType>()
            .write_batch(&rows, None, None);
        assert_eq!(written.unwrap(), rows.len());
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let mut rows = ParquetRows::new(file, &Options::new()).unwrap();
        let error = rows.find_map(Result::err).unwrap();
        assert!(error.to_string().contains("grows to more"), "{error}");
    }
}

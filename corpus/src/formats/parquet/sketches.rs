//! Sketches written by an engine, read a few rows at a time.

use std::fs::File;
use std::io;

use parquet::basic::Type;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::formats::parquet::pages::BoundedFile;
use crate::formats::parquet::{
    Cell, ROW_BYTES, RowGroupColumn, different_lengths, explain, open, unread,
};
use crate::source::guard::Growth;
use dedupdb::batch::Mark;
use dedupdb::write::MAX_KEY_BYTES;
use dedupdb::{Error, Input};

/// The number of rows to read together.
const ROWS: usize = 1024;

/// The columns to read, and the types of their values.
const COLUMNS: [(&str, &[Type]); 7] = [
    ("key", &[Type::BYTE_ARRAY]),
    ("hash", &[Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY]),
    ("bytes", &[Type::INT32, Type::INT64]),
    ("size", &[Type::INT32, Type::INT64]),
    ("packed", &[Type::BYTE_ARRAY]),
    ("parameters", &[Type::BYTE_ARRAY]),
    (FINGERPRINTS, &[Type::BYTE_ARRAY]),
];

/// The column that only sketches with a passage have.
const FINGERPRINTS: &str = "fingerprints";

/// The sketches of a file.
pub(crate) struct SketchRows {
    file: SerializedFileReader<BoundedFile>,
    /// The size of the file in bytes.
    size: u64,
    growth: Growth,
    places: [Option<usize>; COLUMNS.len()],
    next_group: usize,
    /// The columns of a row group, and the number of their unread rows.
    group: Option<(Vec<Option<RowGroupColumn>>, u64)>,
    rows: u64,
    mark: Option<(String, Mark)>,
}

/// A row of a sketch file.
#[derive(Debug)]
pub(crate) enum SketchRow {
    /// The number of the row, counted from 1, and its document.
    Sketch(u64, Box<Input>),
    /// The number of a row that is not a document, and why.
    Flawed(u64, String),
}

impl SketchRows {
    /// Starts reading a file.
    ///
    /// # Errors
    ///
    /// The file is damaged, or its columns are not those of sketches.
    pub(crate) fn new(file: File) -> io::Result<SketchRows> {
        let size = file.metadata()?.len();
        let file = open(BoundedFile::new(file, size))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let places = COLUMNS.map(|(name, types)| {
            schema.columns().iter().position(|column| {
                column.path().string() == name && types.contains(&column.physical_type())
            })
        });
        for (place, (name, _)) in places.iter().zip(COLUMNS) {
            if place.is_none() && name != FINGERPRINTS {
                return Err(no_column(name));
            }
        }
        let groups = file.metadata().row_groups().iter();
        let columns = || places.into_iter().flatten();
        let mut codings =
            groups.flat_map(|group| columns().map(|at| group.column(at).compression()));
        if let Some(coding) = codings.find_map(unread) {
            return Err(io::Error::other(format!(
                "it is compressed with {coding}, which is not read"
            )));
        }
        Ok(SketchRows {
            file,
            size,
            growth: Growth::default(),
            places,
            next_group: 0,
            group: None,
            rows: 0,
            mark: None,
        })
    }

    /// Returns the parameters of the rows read so far, or `None` before the first row.
    pub(crate) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref().map(|(_, mark)| mark)
    }

    /// Returns the next rows; none at the end.
    ///
    /// # Errors
    ///
    /// The file is damaged, a row is not a sketch, or its parameters differ from those of the rows before it.
    pub(crate) fn read(&mut self) -> io::Result<Vec<SketchRow>> {
        loop {
            if let Some((columns, left)) = self.group.as_mut().filter(|(_, left)| *left > 0) {
                let rows = usize::try_from(*left).map_or(ROWS, |left| left.min(ROWS));
                let mut cells: [Vec<Cell>; COLUMNS.len()] = Default::default();
                for (column, cells) in columns.iter_mut().zip(&mut cells) {
                    *cells = match column {
                        Some(column) => column.read(rows).map_err(|error| explain(&error))?,
                        None => vec![None; rows],
                    };
                    if cells.len() != rows {
                        return Err(different_lengths());
                    }
                }
                *left -= rows as u64;
                let mut cells = cells.map(Vec::into_iter);
                let rows = (0..rows).map(|_| {
                    let row = cells.each_mut();
                    self.row(&row.map(|column| column.next().flatten()))
                });
                return rows.collect();
            }
            if self.next_group == self.file.num_row_groups() {
                return Ok(Vec::new());
            }
            self.begin_group()?;
        }
    }

    fn begin_group(&mut self) -> io::Result<()> {
        let group = self.file.get_row_group(self.next_group);
        let group = group.map_err(|error| explain(&error))?;
        let column = |place: Option<usize>| {
            let column = place.map(|at| RowGroupColumn::new(&*group, (at, None), None, None));
            column.transpose().map_err(|error| explain(&error))
        };
        let columns: io::Result<Vec<Option<RowGroupColumn>>> =
            self.places.into_iter().map(column).collect();
        let rows = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
        self.group = Some((columns?, rows));
        self.next_group += 1;
        Ok(())
    }

    fn row(&mut self, cells: &[Cell; COLUMNS.len()]) -> io::Result<SketchRow> {
        self.rows += 1;
        let held = cells.iter().flatten().map(|cell| cell.len() as u64);
        self.growth
            .count(ROW_BYTES + held.sum::<u64>(), self.size)?;
        let [key, hash, bytes, size, packed, mark, fingerprints] = cells;
        self.check_mark(text(mark).unwrap_or_default())?;
        if key.is_none() || hash.is_none() {
            let why = "it has no sketch: its key or its text was null, or could not be read";
            return Ok(SketchRow::Flawed(self.rows, why.to_owned()));
        }
        let bytes_of_key = key.as_ref().map_or(0, ByteArray::len);
        if !(1..=MAX_KEY_BYTES).contains(&bytes_of_key) {
            let error = Error::InvalidKey {
                bytes: bytes_of_key,
            };
            return Ok(SketchRow::Flawed(self.rows, error.to_string()));
        }
        let number = |cell| text(cell).and_then(|digits| digits.parse::<u64>().ok());
        let made = || {
            let size = number(size)?.try_into().ok()?;
            let fingerprints = fingerprints.as_ref().map_or(&[][..], ByteArray::data);
            let packed = packed.as_ref()?.data();
            let shingles = self.mark()?.shingles(size, packed, fingerprints)?;
            let hash = hash.as_ref()?.data().try_into().ok()?;
            let input = Input::new(text(key)?, shingles).hashed(hash);
            Some(input.size(number(bytes)?))
        };
        let row = made().map(|input| SketchRow::Sketch(self.rows, Box::new(input)));
        row.ok_or_else(|| {
            let key = text(key).unwrap_or_default();
            io::Error::other(format!(
                "row {}: the sketch of {key:?} is damaged: sketch its text again",
                self.rows
            ))
        })
    }

    /// Refuses a row whose parameters differ from those of the rows before it, or that lacks a column which they ask for.
    fn check_mark(&mut self, line: &str) -> io::Result<()> {
        if self.mark.is_none() {
            let mark = line.parse::<Mark>();
            let mark = mark.map_err(|error| io::Error::other(error.to_string()))?;
            let [.., fingerprints] = self.places;
            if mark.schema().passage() > 0 && fingerprints.is_none() {
                return Err(no_column(FINGERPRINTS));
            }
            self.mark = Some((line.to_owned(), mark));
        }
        match &self.mark {
            Some((first, _)) if first == line => Ok(()),
            first => Err(io::Error::other(format!(
                "row {}: sketches of different parameters do not go together: {:?} and {line:?}",
                self.rows,
                first.as_ref().map_or("", |(first, _)| first),
            ))),
        }
    }
}

fn no_column(name: &str) -> io::Error {
    io::Error::other(format!(
        "these are no sketches: there is no column {name:?} as dedupdb.spark.sketch makes it"
    ))
}

/// Returns the text of a cell, if it is valid UTF-8.
fn text(cell: &Cell) -> Option<&str> {
    std::str::from_utf8(cell.as_ref()?.data()).ok()
}

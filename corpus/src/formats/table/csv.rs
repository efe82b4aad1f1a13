//! Tables with commas between cells, and quotes around cells that contain commas or line breaks.

use std::io::{self, BufRead};
use std::mem::take;
use std::ops::Range;

use csv_core::{ReadFieldResult, Reader};

use crate::formats::record::RawRecord;
use crate::formats::table::columns::{CellPicker, ColumnIndices, RowCells, TableHead};
use crate::formats::table::quoted::{QuotedRow, RowCutter};
use crate::formats::text_place::TextPlace;
use crate::options::Options;
use crate::skipped::{HintedError, Nth, RecordFault};

/// What to do about a row with more or fewer cells than the first row.
const QUOTES: &str = "a text that contains commas or line breaks needs quotes around it";

/// The rows of a table.
pub(crate) struct CsvRows<R> {
    cuts: RowCutter<R>,
    csv: Reader,
    columns: ColumnIndices,
    /// A row that was read to check whether it is a header.
    first: Option<RawRecord<RowCells<Vec<u8>>>>,
    number: u64,
    verbatim: bool,
    header: Vec<u8>,
    names: Vec<String>,
}

impl<R: BufRead> CsvRows<R> {
    /// Starts reading a table.
    ///
    /// # Errors
    ///
    /// Those of reading, or a column does not exist.
    pub(crate) fn new(reader: R, options: &Options) -> io::Result<CsvRows<R>> {
        let mut rows = CsvRows {
            cuts: RowCutter::new(reader, options.max_record())?,
            csv: Reader::new(),
            columns: ColumnIndices::default(),
            first: None,
            number: 0,
            verbatim: options.verbatim,
            header: Vec::new(),
            names: Vec::new(),
        };
        let Some(mut cut) = rows.cuts.next()? else {
            return Ok(rows);
        };
        let row = cut.row.as_mut().map_err(|fault| {
            let detail = format!("its first row cannot be read: {}", fault.detail);
            match fault.hint {
                Some(hint) => io::Error::other(HintedError { detail, hint }),
                None => io::Error::other(detail),
            }
        })?;
        let mut names = Vec::new();
        cells(&mut rows.csv, row, |_, cell, _| {
            names.push(String::from_utf8_lossy(cell).into_owned());
        });
        let head = TableHead::of(&names, options).map_err(io::Error::other)?;
        rows.columns = head.columns;
        if !head.is_header {
            rows.first = Some(rows.raw(cut));
        } else if options.verbatim {
            rows.header = take(row);
            rows.names = names;
        }
        Ok(rows)
    }

    /// Returns the verbatim header and its names, if there is one and rows are wanted verbatim.
    pub(crate) fn take_header(&mut self) -> (Vec<u8>, Vec<String>) {
        (take(&mut self.header), take(&mut self.names))
    }

    /// Returns where rows have their text.
    pub(crate) fn text_place(&self) -> TextPlace {
        self.columns.text_place()
    }

    fn read(&mut self) -> io::Result<Option<RawRecord<RowCells<Vec<u8>>>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        Ok(self.cuts.next()?.map(|cut| self.raw(cut)))
    }

    fn raw(&mut self, cut: QuotedRow) -> RawRecord<RowCells<Vec<u8>>> {
        self.number += 1;
        let body = cut.row.as_ref().map_err(RecordFault::clone).map(|row| {
            let mut picking = CellPicker::of(&self.columns);
            cells(&mut self.csv, row, |index, cell, _| {
                picking.take(index, cell);
            });
            picking.end(QUOTES)
        });
        RawRecord {
            nth: Nth::Record(self.number),
            bytes: cut.read,
            verbatim: cut.row.ok().filter(|_| self.verbatim).unwrap_or_default(),
            body,
        }
    }
}

/// Returns the place of each cell of a row, with its quotes.
pub(crate) fn cell_places(row: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut csv = Reader::new();
    let mut start = 0;
    cells(&mut csv, row, |_, _, end| {
        let cell = &row[start..end];
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let cell = match cell.strip_suffix(b",") {
            Some(cell) => cell,
            None => {
                &cell[..cell
                    .iter()
                    .rposition(|byte| !is_end(byte))
                    .map_or(0, |at| at + 1)]
            }
        };
        places.push(start..start + cell.len());
        start = end;
    });
    places
}

/// Passes each cell of a row to `take`, with its number, counted from 0, and the place behind it
/// and its separator.
pub(crate) fn cells(csv: &mut Reader, row: &[u8], mut take: impl FnMut(usize, &[u8], usize)) {
    let mut piece = vec![0; row.len() + 1];
    // A blank line comes first. Otherwise the parser would skip a byte order mark at the start of the row.
    csv.reset();
    csv.read_field(b"\n", &mut piece);
    let mut rest = row;
    for index in 0.. {
        let mut length = 0;
        loop {
            let (result, read, written) = csv.read_field(rest, &mut piece[length..]);
            rest = &rest[read..];
            length += written;
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end } => {
                    take(index, &piece[..length], row.len() - rest.len());
                    if record_end {
                        return;
                    }
                    break;
                }
                ReadFieldResult::End => return,
            }
        }
    }
}

impl<R: BufRead> Iterator for CsvRows<R> {
    type Item = io::Result<RawRecord<RowCells<Vec<u8>>>>;

    fn next(&mut self) -> Option<io::Result<RawRecord<RowCells<Vec<u8>>>>> {
        self.read().transpose()
    }
}

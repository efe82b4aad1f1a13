//! Tables with commas between their cells, and quotes where a cell has commas or lines in it.

use std::io::{self, BufRead};
use std::mem::take;

use csv_core::{ReadFieldResult, Reader};

use crate::ingest::columns::{Cells, Columns, Head};
use crate::ingest::decode::without_mark;
use crate::ingest::record::{Fault, Nth, Raw};
use crate::inputs::Inputs;

/// The rows of a table.
pub(crate) struct Rows<R> {
    reader: R,
    csv: Reader,
    piece: Vec<u8>,
    limit: u64,
    columns: Columns,
    /// A row that was read to find out whether it is a header.
    first: Option<Raw<Cells<Vec<u8>>>>,
    number: u64,
    /// The row that is being read, as it is, if that is wanted.
    verbatim: Option<Vec<u8>>,
    header: Vec<u8>,
}

/// Bytes of a cell that are parsed at a time.
const PIECE: usize = 1 << 13;

/// What comes after a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Cell,
    Row,
    /// There was no cell.
    Nothing,
}

impl<R: BufRead> Rows<R> {
    /// Begins to read a table.
    ///
    /// # Errors
    ///
    /// Those of reading, or there is no such column.
    pub(crate) fn new(reader: R, inputs: &Inputs) -> io::Result<Rows<R>> {
        let mut rows = Rows {
            reader,
            csv: Reader::new(),
            piece: vec![0; PIECE],
            limit: inputs.max_record(),
            columns: Columns { id: None, text: 0 },
            first: None,
            number: 0,
            verbatim: inputs.verbatim.then(Vec::new),
            header: Vec::new(),
        };
        let (bytes, cells) = rows.all_cells()?;
        if cells.is_empty() {
            return Ok(rows);
        }
        let names = cells.iter().map(|cell| String::from_utf8_lossy(cell));
        let names: Vec<String> = names.map(std::borrow::Cow::into_owned).collect();
        let head = Head::of(&names, inputs).map_err(io::Error::other)?;
        rows.columns = head.columns;
        if head.is_header {
            rows.header = rows.take_verbatim();
        } else {
            let cell = |index: usize| cells.get(index).cloned();
            let id = head.columns.id.and_then(cell);
            let text = cell(head.columns.text);
            rows.first = Some(rows.raw(bytes, Ok(Cells { id, text })));
        }
        Ok(rows)
    }

    /// The header as it is, if there is one and rows are wanted so.
    pub(crate) fn take_header(&mut self) -> Vec<u8> {
        take(&mut self.header)
    }

    /// The row that was read as it is, without blank lines before it.
    fn take_verbatim(&mut self) -> Vec<u8> {
        let Some(row) = &mut self.verbatim else {
            return Vec::new();
        };
        let row = take(row);
        let unmarked = without_mark(&row);
        let is_end = |byte: &u8| b"\r\n".contains(byte);
        let start = unmarked.iter().position(|byte| !is_end(byte));
        unmarked[start.unwrap_or(0)..].to_vec()
    }

    /// The bytes and the cells of the next row.
    fn all_cells(&mut self) -> io::Result<(u64, Vec<Vec<u8>>)> {
        let (mut bytes, mut cells) = (0, Vec::new());
        loop {
            let mut cell = Vec::new();
            let (next, read) = self.cell(Some(&mut cell))?;
            bytes += read;
            if bytes > self.limit {
                return Err(io::Error::other("its first row is too long for a table"));
            }
            match next {
                Next::Cell => cells.push(cell),
                Next::Row => {
                    cells.push(cell);
                    return Ok((bytes, cells));
                }
                Next::Nothing => return Ok((bytes, cells)),
            }
        }
    }

    fn read(&mut self) -> io::Result<Option<Raw<Cells<Vec<u8>>>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let Columns { id, text } = self.columns;
        let (mut bytes, mut is_large) = (0, false);
        let mut cells = Cells::default();
        for index in 0.. {
            let mut cell = Vec::new();
            let is_wanted = id == Some(index) || text == index;
            let (next, read) = self.cell(is_wanted.then_some(&mut cell))?;
            bytes += read;
            if next == Next::Nothing {
                return Ok(None);
            }
            let row = self.verbatim.as_ref().map_or(0, Vec::len);
            is_large |= cell.len().max(row) as u64 > self.limit;
            if id == Some(index) {
                cells.id = Some(cell.clone());
            }
            if text == index {
                cells.text = Some(cell);
            }
            if next == Next::Row {
                break;
            }
        }
        let body = if is_large {
            Err(Fault::too_large())
        } else {
            Ok(cells)
        };
        Ok(Some(self.raw(bytes, body)))
    }

    /// Reads a cell, into `kept` as far as it is not too long. Says how many bytes it took.
    fn cell(&mut self, mut kept: Option<&mut Vec<u8>>) -> io::Result<(Next, u64)> {
        let mut bytes = 0;
        loop {
            let input = self.reader.fill_buf()?;
            let (result, read, written) = self.csv.read_field(input, &mut self.piece);
            if let Some(row) = &mut self.verbatim
                && row.len() as u64 <= self.limit
            {
                row.extend_from_slice(&input[..read]);
            }
            self.reader.consume(read);
            bytes += read as u64;
            if let Some(kept) = &mut kept
                && kept.len() as u64 <= self.limit
            {
                kept.extend_from_slice(&self.piece[..written]);
            }
            let next = match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => continue,
                ReadFieldResult::Field { record_end: false } => Next::Cell,
                ReadFieldResult::Field { record_end: true } => {
                    bytes += self.end_row()?;
                    Next::Row
                }
                ReadFieldResult::End => Next::Nothing,
            };
            return Ok((next, bytes));
        }
    }

    /// Takes the second half of the row's end, which the parser leaves for the next row. Says how
    /// many bytes that took.
    fn end_row(&mut self) -> io::Result<u64> {
        let Some(row) = &mut self.verbatim else {
            return Ok(0);
        };
        let is_halved = row.ends_with(b"\r") && self.reader.fill_buf()?.starts_with(b"\n");
        if is_halved {
            row.push(b'\n');
            self.reader.consume(1);
        }
        Ok(is_halved.into())
    }

    fn raw(&mut self, bytes: u64, body: Result<Cells<Vec<u8>>, Fault>) -> Raw<Cells<Vec<u8>>> {
        self.number += 1;
        Raw {
            nth: Nth::Record(self.number),
            bytes,
            verbatim: self.take_verbatim(),
            body,
        }
    }
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = io::Result<Raw<Cells<Vec<u8>>>>;

    fn next(&mut self) -> Option<io::Result<Raw<Cells<Vec<u8>>>>> {
        self.read().transpose()
    }
}

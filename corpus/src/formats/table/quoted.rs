//! Rows of a table with quoted cells, cut one by one.

use std::io::{self, BufRead};
use std::mem::take;

use crate::decode::without_mark;
use crate::skipped::RecordFault;

/// A row with its line ending, or why it is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CutRow {
    pub(crate) row: Result<Vec<u8>, RecordFault>,
    /// The number of bytes read for it.
    pub(crate) read: u64,
}

/// The rows of a table. Blank lines are skipped.
///
/// If a quote is not closed, its row is lost, and the next row begins on the line after the one where the quote opens.
/// The same holds for a quote that closes on a later line in the middle of a cell: most likely it was not meant to open
/// there, and the quote that closes it was meant to open another cell.
#[derive(Debug)]
pub(crate) struct RowCutter<R> {
    reader: R,
    limit: usize,
    /// The number of lines read.
    line: u64,
    read: u64,
    /// Lines to read again. Each of them began inside the quote that was not closed.
    ///
    /// If a row has not ended where such a line begins, this place is inside a quote too, so the row is known to be
    /// lost. That keeps the time linear.
    again: Vec<u8>,
    /// How many of these bytes are taken.
    taken: usize,
}

/// How reading a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    Line,
    /// Before another line that is read again.
    Again,
    Limit,
    File,
}

/// A position in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellState {
    CellStart,
    Cell,
    Quoted,
    /// After a quote within a quoted cell.
    Quote,
}

impl CellState {
    fn after(self, byte: u8) -> CellState {
        match (self, byte) {
            (CellState::Quoted, b'"') => CellState::Quote,
            (CellState::CellStart | CellState::Quote, b'"') | (CellState::Quoted, _) => {
                CellState::Quoted
            }
            (_, b',') => CellState::CellStart,
            _ => CellState::Cell,
        }
    }
}

/// An open quote.
#[derive(Clone, Copy, Debug, Default)]
struct OpenQuote {
    line: u64,
    /// The offset in the row at which the next line begins.
    next: usize,
}

impl<R: BufRead> RowCutter<R> {
    /// Cuts rows of up to `limit` bytes.
    pub(crate) fn new(reader: R, limit: u64) -> RowCutter<R> {
        RowCutter {
            reader,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            line: 0,
            read: 0,
            again: Vec::new(),
            taken: 0,
        }
    }

    /// Returns the next row.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(crate) fn next(&mut self) -> io::Result<Option<CutRow>> {
        let (mut row, mut place, mut opened) =
            (Vec::new(), CellState::CellStart, OpenQuote::default());
        loop {
            let start = row.len();
            let end = self.line(&mut row)?;
            if self.line == 0 {
                let mark = row.len() - without_mark(&row).len();
                row.drain(..mark);
            }
            self.line += u64::from(end != LineEnd::File || row.len() > start);
            if start == 0 && row.iter().all(|byte| is_end(*byte)) {
                if end == LineEnd::File {
                    return Ok(None);
                }
                row.clear();
                continue;
            }
            let mut is_torn = false;
            for &byte in row[start..].iter().filter(|byte| !is_end(**byte)) {
                let next = place.after(byte);
                match (place, next) {
                    (CellState::CellStart, CellState::Quoted) => {
                        opened.line = self.line;
                        opened.next = row.len();
                    }
                    (CellState::Quote, CellState::Cell) => is_torn |= opened.line < self.line,
                    _ => {}
                }
                if is_torn {
                    break;
                }
                place = next;
            }
            if is_torn {
                return Ok(Some(self.lost(row, opened, LineEnd::Line)));
            }
            if end == LineEnd::Limit && (start == 0 || place != CellState::Quoted) {
                let place = self.pass_over(place)?;
                let fault = if place == CellState::Quoted {
                    unclosed(self.line, end)
                } else {
                    RecordFault::too_large()
                };
                return Ok(Some(self.cut(Err(fault))));
            }
            if place != CellState::Quoted {
                return Ok(Some(self.cut(Ok(row))));
            }
            if end != LineEnd::Line {
                return Ok(Some(self.lost(row, opened, end)));
            }
        }
    }

    /// Gives up a row because of an open quote, and goes back to the line after the quote's.
    fn lost(&mut self, mut row: Vec<u8>, opened: OpenQuote, end: LineEnd) -> CutRow {
        if end != LineEnd::Again {
            self.again = row.split_off(opened.next);
            self.taken = 0;
        }
        self.line = opened.line;
        self.cut(Err(unclosed(opened.line, end)))
    }

    fn cut(&mut self, row: Result<Vec<u8>, RecordFault>) -> CutRow {
        CutRow {
            row,
            read: take(&mut self.read),
        }
    }

    /// Reads a line with its ending, and appends it to `row`.
    fn line(&mut self, row: &mut Vec<u8>) -> io::Result<LineEnd> {
        let again = &self.again[self.taken..];
        let length = line_length(again);
        row.extend_from_slice(&again[..length.unwrap_or(again.len())]);
        if let Some(length) = length {
            self.taken += length;
            let is_last = self.taken == self.again.len();
            return Ok(if is_last {
                LineEnd::Line
            } else {
                LineEnd::Again
            });
        }
        self.again = Vec::new();
        self.taken = 0;
        loop {
            let room = self.limit.saturating_add(1).saturating_sub(row.len());
            let input = self.reader.fill_buf()?;
            if input.is_empty() {
                return Ok(LineEnd::File);
            }
            let input = &input[..input.len().min(room)];
            let length = line_length(input);
            let length_read = length.unwrap_or(input.len());
            row.extend_from_slice(&input[..length_read]);
            self.reader.consume(length_read);
            self.read += length_read as u64;
            if length.is_some() {
                self.end_line(row)?;
                return Ok(LineEnd::Line);
            }
            if row.len() > self.limit {
                return Ok(LineEnd::Limit);
            }
        }
    }

    /// Reads the second half of a line ending.
    fn end_line(&mut self, row: &mut Vec<u8>) -> io::Result<()> {
        if row.ends_with(b"\r") && self.reader.fill_buf()?.starts_with(b"\n") {
            row.push(b'\n');
            self.reader.consume(1);
            self.read += 1;
        }
        Ok(())
    }

    /// Skips the rest of a line. Returns the position at which it ends.
    fn pass_over(&mut self, mut place: CellState) -> io::Result<CellState> {
        loop {
            let input = self.reader.fill_buf()?;
            if input.is_empty() {
                return Ok(place);
            }
            let length = line_length(input);
            let length_read = length.unwrap_or(input.len());
            let text = &input[..length_read];
            let text = text.iter().filter(|byte| !is_end(**byte));
            place = text.fold(place, |place, &byte| place.after(byte));
            self.reader.consume(length_read);
            self.read += length_read as u64;
            if length.is_some() {
                return Ok(place);
            }
        }
    }
}

/// Returns the number of cells of a row.
pub(crate) fn width(row: &[u8]) -> usize {
    let mut place = CellState::CellStart;
    let mut cells = 1;
    for &byte in row {
        place = place.after(byte);
        cells += usize::from(place == CellState::CellStart);
    }
    cells
}

/// Returns the length of the first line of `bytes`, including its ending, if it ends there.
fn line_length(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|&byte| is_end(byte))?;
    let is_halved = bytes[end..].starts_with(b"\r\n");
    Some(end + 1 + usize::from(is_halved))
}

fn is_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

fn unclosed(line: u64, end: LineEnd) -> RecordFault {
    let most = if end == LineEnd::Limit {
        " in the bytes that a record may have"
    } else {
        ""
    };
    RecordFault::bad(format!(
        "the quote that opens on line {line} is not closed{most}; reading goes on with line {}",
        line + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::{RowCutter, width};
    use std::io::BufReader;

    /// Returns the rows, or the messages for lost rows, when read in small pieces.
    fn cuts(text: &str, limit: u64) -> Vec<String> {
        let mut cuts = RowCutter::new(BufReader::with_capacity(3, text.as_bytes()), limit);
        let mut found = Vec::new();
        let mut read = 0;
        while let Some(cut) = cuts.next().unwrap() {
            read += cut.read;
            found.push(match cut.row {
                Ok(row) => String::from_utf8(row).unwrap(),
                Err(fault) => fault.detail,
            });
        }
        assert!(read + cuts.read == text.len() as u64, "{text:?}");
        found
    }

    #[test]
    fn rows_end_where_no_cell_is_quoted() {
        let text = "\u{feff}\"a\n\",b\r\n\n\r\r\nc \"\n\"\"\"\r\n,\"\rd,\"e\"f\"\n";
        let rows = ["\"a\n\",b\r\n", "c \"\n", "\"\"\"\r\n,\"\r", "d,\"e\"f\"\n"];
        assert_eq!(cuts(text, 99), rows);
        assert_eq!(cuts("", 99).len() + cuts("\u{feff}\n\r", 99).len(), 0);
    }

    #[test]
    fn cells_are_counted() {
        for (row, cells) in [
            ("", 1),
            ("a\r\n", 1),
            (",", 2),
            ("\"a,\n\"\"\",b,\n", 3),
            ("a\"b,c\"d", 2),
            ("\"a\"b,\"", 2),
        ] {
            assert_eq!(width(row.as_bytes()), cells, "{row:?}");
        }
    }

    fn lost(line: u64, most: &str) -> String {
        let next = line + 1;
        format!(
            "the quote that opens on line {line} is not closed{most}; reading goes on with line {next}"
        )
    }

    #[test]
    fn a_quote_that_is_not_closed_costs_its_row() {
        let text = "a\n\"b\nc\",\"d\ne\nf,\"g\nh\ni,\"";
        let rows = [
            "a\n".into(),
            lost(3, ""),
            "e\n".into(),
            "f,\"g\nh\ni,\"".into(),
        ];
        assert_eq!(cuts(text, 99), rows);
        // The closing quote was meant to open another cell.
        let text = "1,\"cut\n2,\"c d\"\n3,\"e\nf\"\n4,\"g\"h\n5,\"\n6\n";
        let rows = [
            lost(1, ""),
            "2,\"c d\"\n".into(),
            "3,\"e\nf\"\n".into(),
            "4,\"g\"h\n".into(),
            lost(6, ""),
            "6\n".into(),
        ];
        assert_eq!(cuts(text, 99), rows);
        assert_eq!(cuts("a\n\"", 99), ["a\n".to_owned(), lost(2, "")]);
    }

    #[test]
    fn a_quote_is_closed_within_the_limit() {
        let most = " in the bytes that a record may have";
        let text = "\"a\nbc\nde\nfg\nhi\"\nj\n";
        let rows = [
            lost(1, most),
            "bc\n".into(),
            "de\n".into(),
            "fg\n".into(),
            "hi\"\n".into(),
            "j\n".into(),
        ];
        assert_eq!(cuts(text, 8), rows);
        assert_eq!(cuts("\"abcdefgh\"\ni\n", 8), ["too large", "i\n"]);
        assert_eq!(cuts("\"abcdefghi\nj\n", 8), [lost(1, most), "j\n".into()]);
    }

    /// Each line opens a quote, whether or not the line begins inside one.
    #[test]
    fn quotes_that_are_never_closed_take_linear_time() {
        let text = "a\"x,\"\n".repeat(200_000);
        assert_eq!(cuts(&text, u64::MAX).len(), 200_000);
    }
}

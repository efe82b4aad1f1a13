//! Rows of a table with quoted cells, cut one by one.

use std::io::{self, BufRead, Cursor, Read};
use std::mem::take;

use crate::decode::{MARK, without_mark};
use crate::skipped::{Hint, RecordFault};

/// What other programs write between cells.
pub(super) const OTHER_SEPARATORS: [u8; 2] = [b';', b'|'];

/// A row with its line ending, or why it is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuotedRow {
    pub(crate) row: Result<Vec<u8>, RecordFault>,
    /// The number of bytes read for it.
    pub(crate) read: u64,
}

/// The rows of a table. Blank lines are skipped.
///
/// A quoted cell ends with its closing quote, whatever is in it. If there is none, the row goes on to the end of the file
/// and is lost, and the message names the line of the quote. So is a row with text behind a closing quote: that may be
/// the opening quote of a later row, and the rows between be part of a cell.
#[derive(Debug)]
pub(crate) struct RowCutter<R> {
    reader: io::Chain<Cursor<Vec<u8>>, R>,
    limit: usize,
    /// The number of line ends that were read.
    lines: u64,
    read: u64,
}

/// A position in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellState {
    CellStart,
    Cell,
    Quoted,
    /// After a quote within a quoted cell.
    Quote,
    /// Behind the spaces after a closing quote.
    Padded,
}

impl CellState {
    fn after(self, byte: u8) -> CellState {
        match (self, byte) {
            (CellState::Quoted, b'"') => CellState::Quote,
            (CellState::CellStart | CellState::Quote, b'"') | (CellState::Quoted, _) => {
                CellState::Quoted
            }
            (_, b',') => CellState::CellStart,
            (CellState::Quote | CellState::Padded, b' ') => CellState::Padded,
            _ => CellState::Cell,
        }
    }
}

impl<R: BufRead> RowCutter<R> {
    /// Cuts rows of up to `limit` bytes.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(crate) fn new(mut reader: R, limit: u64) -> io::Result<RowCutter<R>> {
        let mut head = Vec::new();
        let length = MARK.len() as u64;
        reader.by_ref().take(length).read_to_end(&mut head)?;
        let text = without_mark(&head).to_vec();
        Ok(RowCutter {
            read: (head.len() - text.len()) as u64,
            reader: Cursor::new(text).chain(reader),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            lines: 0,
        })
    }

    /// Returns the next row.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(crate) fn next(&mut self) -> io::Result<Option<QuotedRow>> {
        let (mut row, mut place) = (Vec::new(), CellState::CellStart);
        let (mut is_blank, mut is_large, mut opened) = (true, false, 0);
        let mut fault = None;
        loop {
            let input = self.reader.fill_buf()?;
            let end = input.iter().position(|&byte| is_end(byte));
            let (length, is_last) = (end.map_or(input.len(), |end| end + 1), input.is_empty());
            for &byte in &input[..end.unwrap_or(length)] {
                let next = place.after(byte);
                if (place, next) == (CellState::CellStart, CellState::Quoted) {
                    opened = self.lines + 1;
                }
                if matches!(place, CellState::Quote | CellState::Padded) && next == CellState::Cell
                {
                    fault.get_or_insert_with(|| behind_quote(byte, opened, self.lines + 1));
                }
                (place, is_blank) = (next, false);
            }
            // Of a row that is too large, only the end is sought.
            is_large |= row.len() + length > self.limit.saturating_add(1);
            if !is_large {
                row.extend_from_slice(&input[..length]);
            }
            let is_return = length > 0 && input[length - 1] == b'\r';
            self.consume(length);
            if end.is_some() {
                self.lines += 1;
                if is_return && self.reader.fill_buf()?.starts_with(b"\n") {
                    row.push(b'\n');
                    self.consume(1);
                }
            }
            if is_blank {
                if is_last {
                    return Ok(None);
                }
                row.clear();
            } else if is_last && place == CellState::Quoted {
                let detail = format!(
                    "the quote that opens on line {opened} is not closed before the end of the file"
                );
                return Ok(Some(self.cut(Err(RecordFault::bad(detail)))));
            } else if is_last || end.is_some() && place != CellState::Quoted {
                let row = match fault {
                    _ if is_large => Err(RecordFault::too_large()),
                    Some(fault) => Err(fault),
                    None => Ok(row),
                };
                return Ok(Some(self.cut(row)));
            }
        }
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        self.read += length as u64;
    }

    fn cut(&mut self, row: Result<Vec<u8>, RecordFault>) -> QuotedRow {
        QuotedRow {
            row,
            read: take(&mut self.read),
        }
    }
}

/// What is wrong with a row that has text behind a closing quote, first this byte.
fn behind_quote(byte: u8, opened: u64, closed: u64) -> RecordFault {
    if OTHER_SEPARATORS.contains(&byte) {
        let other = char::from(byte);
        let detail =
            format!("quoted cells are separated by `{other}`, and only commas and tabs are read");
        return RecordFault {
            hint: Some(Hint::Separator),
            ..RecordFault::bad(detail)
        };
    }
    RecordFault::bad(format!(
        "text follows the quote on line {closed}, which closes the one that opens on line {opened}; a quote within a \
         quoted cell is written twice"
    ))
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

fn is_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

#[cfg(test)]
mod tests {
    use super::{RowCutter, width};
    use std::io::BufReader;

    /// Returns the rows, or the messages for lost rows, when read in small pieces.
    fn cuts(text: &str, limit: u64) -> Vec<String> {
        let mut cuts = RowCutter::new(BufReader::with_capacity(3, text.as_bytes()), limit).unwrap();
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
        let text = "\u{feff}\"a\n\",b\r\n\n\r\r\nc \"\n\"\"\"\r\n,\"\rd,e\"f\"\n";
        let rows = ["\"a\n\",b\r\n", "c \"\n", "\"\"\"\r\n,\"\r", "d,e\"f\"\n"];
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

    #[test]
    fn a_quote_that_is_not_closed_costs_the_rest() {
        let lost = |line| {
            format!("the quote that opens on line {line} is not closed before the end of the file")
        };
        let text = "a\n\"b\nc\",\"d\"\n\re\"\nf,\"g\nh\n";
        let rows = ["a\n", "\"b\nc\",\"d\"\n", "e\"\n", &lost(6)];
        assert_eq!(cuts(text, 99), rows);
        assert_eq!(cuts("a\n\"", 99), ["a\n".to_owned(), lost(2)]);
        assert_eq!(cuts("a\n\"bcdefghijkl\nm", 4), ["a\n".to_owned(), lost(2)]);
    }

    #[test]
    fn a_quote_that_another_one_closes_costs_the_rows_between() {
        let text = "a\n1,\"b\n2,c\n3,\"d\" e\n4,f\n";
        let lost = "text follows the quote on line 4, which closes the one that opens on line 2; a quote within a quoted \
                    cell is written twice";
        assert_eq!(cuts(text, 99), ["a\n", lost, "4,f\n"]);
        let other = "quoted cells are separated by `;`, and only commas and tabs are read";
        assert_eq!(cuts("\"a\";\"b\"\n", 99), [other]);
        for sound in [
            "\"a\" ,b\n",
            "\"a\"  \n",
            "\"a \"\"b\"\"\"\n",
            "a \"b\" c\n",
        ] {
            assert_eq!(cuts(sound, 99), [sound]);
        }
    }

    #[test]
    fn a_row_beyond_the_limit_is_passed_over() {
        assert_eq!(cuts("\"abcdefgh\"\ni\n", 8), ["too large", "i\n"]);
        assert_eq!(cuts("\"abc\ndefgh\"\r\ni\n", 8), ["too large", "i\n"]);
        assert_eq!(cuts("abcdefgh\ni", 8), ["abcdefgh\n", "i"]);
    }
}

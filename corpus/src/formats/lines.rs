//! Lines of a file, one by one.

use std::io::{self, BufRead, Read};

use crate::decode::without_mark;
use crate::formats::record::RawRecord;
use crate::skipped::{Nth, RecordFault};

/// The lines of a reader, without line endings. Blank lines are skipped.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    number: u64,
    limit: u64,
    is_trimmed: bool,
    verbatim: bool,
}

impl<R: BufRead> LineReader<R> {
    /// Reads lines of up to `limit` bytes, without the white space around them.
    pub(crate) fn new(reader: R, limit: u64) -> LineReader<R> {
        LineReader {
            reader,
            number: 0,
            limit,
            is_trimmed: true,
            verbatim: false,
        }
    }

    /// Sets whether to return the lines verbatim as well.
    pub(crate) fn verbatim(self, verbatim: bool) -> LineReader<R> {
        LineReader { verbatim, ..self }
    }

    /// Keeps the white space around lines, which may separate empty cells.
    pub(crate) fn untrimmed(self) -> LineReader<R> {
        LineReader {
            is_trimmed: false,
            ..self
        }
    }

    fn read(&mut self) -> io::Result<Option<RawRecord<Vec<u8>>>> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.reader).take(self.limit.saturating_add(1));
            let read = limited.read_until(b'\n', &mut line)? as u64;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let ends = line.last() == Some(&b'\n');
            if !ends && read > self.limit {
                drop(line);
                self.reader.skip_until(b'\n')?;
                return Ok(Some(self.raw(
                    read,
                    Vec::new(),
                    Err(RecordFault::too_large()),
                )));
            }
            if self.number == 1 && without_mark(&line).len() < line.len() {
                line = without_mark(&line).to_vec();
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let whole = if self.verbatim {
                line.clone()
            } else {
                Vec::new()
            };
            if self.is_trimmed {
                line.truncate(line.trim_ascii_end().len());
                line.drain(..line.len() - line.trim_ascii_start().len());
            } else {
                let text = line.strip_suffix(b"\n").unwrap_or(&line);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                line.truncate(text.len());
            }
            return Ok(Some(self.raw(read, whole, Ok(line))));
        }
    }

    fn raw(
        &self,
        bytes: u64,
        verbatim: Vec<u8>,
        body: Result<Vec<u8>, RecordFault>,
    ) -> RawRecord<Vec<u8>> {
        RawRecord {
            nth: Nth::Line(self.number),
            bytes,
            verbatim,
            body,
        }
    }
}

impl<R: BufRead> Iterator for LineReader<R> {
    type Item = io::Result<RawRecord<Vec<u8>>>;

    fn next(&mut self) -> Option<io::Result<RawRecord<Vec<u8>>>> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::LineReader;
    use crate::skipped::{Nth, RecordFault};

    type Line = (Nth, Result<Vec<u8>, RecordFault>);

    fn lines(text: &str, limit: u64) -> Vec<Line> {
        let lines = LineReader::new(text.as_bytes(), limit).map(Result::unwrap);
        lines.map(|raw| (raw.nth, raw.body)).collect()
    }

    fn line(number: u64, text: &str) -> Line {
        (Nth::Line(number), Ok(text.as_bytes().to_vec()))
    }

    #[test]
    fn lines_end_in_any_way() {
        let expected = vec![line(1, "a"), line(3, "b"), line(4, "c")];
        assert_eq!(lines("\u{feff}a\r\n\n b \nc", 9), expected);
        assert_eq!(lines("\u{feff}", 9), []);
    }

    #[test]
    fn cells_at_the_ends_of_lines_are_kept() {
        let lines = LineReader::new(&b"\ta\t \r\n\t \nb"[..], 9).untrimmed();
        let lines: Vec<_> = lines.map(|raw| raw.unwrap().body.unwrap()).collect();
        assert_eq!(lines, [&b"\ta\t "[..], b"b"]);
    }

    #[test]
    fn lines_as_they_are_make_the_file() {
        let text = "\u{feff} a \r\n\n\tb\nc ";
        let lines = LineReader::new(text.as_bytes(), 9).verbatim(true);
        let whole: Vec<u8> = lines.flat_map(|raw| raw.unwrap().verbatim).collect();
        assert_eq!(whole, b" a \r\n\tb\nc ");
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let long = (Nth::Line(2), Err(RecordFault::too_large()));
        let expected = vec![line(1, "abc"), long, line(3, "ab")];
        assert_eq!(lines("abc\nabcdefghi\nab", 3), expected);
        assert_eq!(lines("abc\nabcd\nab", 3), expected);
    }
}

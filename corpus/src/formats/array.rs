//! The elements of a JSON array, one by one.

use std::io::{self, BufRead, Read as _};

use crate::decode::without_mark;
use crate::formats::record::RawRecord;
use crate::skipped::{Nth, RecordFault};

/// The number of bytes among which an array has an object.
const HEAD: u64 = 1 << 16;

/// The elements of an array. One is in memory at a time.
#[derive(Debug)]
pub(crate) struct Elements<R> {
    reader: R,
    number: u64,
    limit: u64,
    verbatim: bool,
    /// The bytes since the last element.
    bytes: u64,
    is_begun: bool,
    is_ended: bool,
}

/// How far the scan of an element has come.
#[derive(Debug, Default)]
struct ElementScan {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl ElementScan {
    /// Takes the next byte. Returns false if it is the first one behind the element.
    fn take(&mut self, byte: u8) -> bool {
        if self.is_in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
            return true;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            b',' | b'}' | b']' if self.depth == 0 => return false,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        true
    }
}

impl<R: BufRead> Elements<R> {
    /// Reads elements of up to `limit` bytes. If `verbatim`, each comes as a line, too.
    pub(crate) fn new(reader: R, limit: u64, verbatim: bool) -> Elements<R> {
        Elements {
            reader,
            number: 0,
            limit,
            verbatim,
            bytes: 0,
            is_begun: false,
            is_ended: false,
        }
    }

    fn read(&mut self) -> io::Result<Option<RawRecord<Vec<u8>>>> {
        if self.is_ended {
            return Ok(None);
        }
        if !self.is_begun {
            self.begin()?;
        }
        match self.next_byte()? {
            Some(b']') => {
                self.consume(1);
                return self.end().map(|()| None);
            }
            Some(b',') if self.number > 0 => {
                self.consume(1);
                self.next_byte()?;
            }
            Some(_) if self.number == 0 => {}
            None => return Err(self.cut_short()),
            Some(_) => return Err(self.broken("has no comma behind it")),
        }
        self.element().map(Some)
    }

    /// Passes the beginning of the array.
    fn begin(&mut self) -> io::Result<()> {
        let start = self.reader.fill_buf()?;
        let mark = start.len() - without_mark(start).len();
        self.consume(mark);
        if self.next_byte()? != Some(b'[') {
            return Err(io::Error::other("it is not a JSON array"));
        }
        self.consume(1);
        self.is_begun = true;
        Ok(())
    }

    /// Checks that nothing follows the array.
    fn end(&mut self) -> io::Result<()> {
        self.is_ended = true;
        match self.next_byte()? {
            None => Ok(()),
            Some(_) => Err(io::Error::other(format!(
                "other text follows the JSON array of {} records",
                self.number
            ))),
        }
    }

    /// Reads an element up to the byte behind it.
    fn element(&mut self) -> io::Result<RawRecord<Vec<u8>>> {
        let (mut scan, mut element) = (ElementScan::default(), Vec::new());
        let (mut size, mut is_over) = (0, false);
        while !is_over {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Err(self.cut_short());
            }
            let end = buffer.iter().position(|&byte| !scan.take(byte));
            is_over = end.is_some();
            let part = &buffer[..end.unwrap_or(buffer.len())];
            size += part.len() as u64;
            if size <= self.limit {
                element.extend_from_slice(part);
            } else {
                element = Vec::new();
            }
            let taken = part.len();
            self.consume(taken);
        }
        self.number += 1;
        let element = element.trim_ascii();
        let is_read = size <= self.limit;
        if is_read && element.is_empty() {
            return Err(self.broken("is empty"));
        }
        let line = if self.verbatim && is_read {
            line(element)
        } else {
            Vec::new()
        };
        Ok(RawRecord {
            nth: Nth::Record(self.number),
            bytes: std::mem::take(&mut self.bytes),
            verbatim: line,
            body: if is_read {
                Ok(element.to_vec())
            } else {
                Err(RecordFault::too_large())
            },
        })
    }

    /// Passes white space. Returns the next byte, which is not consumed.
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let found = buffer.iter().position(|byte| !byte.is_ascii_whitespace());
            let (next, blank) = match found {
                Some(at) => (Some(buffer[at]), at),
                None => (None, buffer.len()),
            };
            self.consume(blank);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.reader.consume(bytes);
    }

    fn cut_short(&self) -> io::Error {
        io::Error::other(format!(
            "the JSON array is cut short behind record {}",
            self.number
        ))
    }

    fn broken(&self, what: &str) -> io::Error {
        io::Error::other(format!(
            "the JSON array is broken: record {} {what}",
            self.number
        ))
    }
}

impl<R: BufRead> Iterator for Elements<R> {
    type Item = io::Result<RawRecord<Vec<u8>>>;

    fn next(&mut self) -> Option<io::Result<RawRecord<Vec<u8>>>> {
        self.read().transpose()
    }
}

/// Returns an element as a line. Its line breaks are between its tokens, where any white space will do.
fn line(element: &[u8]) -> Vec<u8> {
    let blank = |byte: &u8| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    };
    let mut line: Vec<u8> = element.iter().map(blank).collect();
    line.push(b'\n');
    line
}

/// Whether the bytes are an array with an object among the elements at its beginning, or without elements.
///
/// # Errors
///
/// Those of reading.
pub(crate) fn begins(reader: &mut dyn BufRead) -> io::Result<bool> {
    let mut head = Vec::new();
    reader.take(HEAD).read_to_end(&mut head)?;
    let text = without_mark(&head).trim_ascii_start();
    let Some(elements) = text.strip_prefix(b"[") else {
        return Ok(false);
    };
    if elements.trim_ascii() == b"]" {
        return Ok(true);
    }
    let (mut scan, mut is_between) = (ElementScan::default(), true);
    for &byte in elements {
        match byte {
            b'{' if is_between => return Ok(true),
            byte if is_between && byte.is_ascii_whitespace() => {}
            _ => {
                is_between = !scan.take(byte);
                if is_between && byte != b',' {
                    return Ok(false);
                }
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{Elements, begins};
    use crate::skipped::Nth;

    /// The elements up to an error, and its message.
    fn read(json: &str, limit: u64) -> (Vec<String>, String) {
        let reader = BufReader::with_capacity(3, json.as_bytes());
        let mut read = Vec::new();
        for raw in Elements::new(reader, limit, true) {
            match raw {
                Ok(raw) => {
                    assert_eq!(raw.nth, Nth::Record(read.len() as u64 + 1));
                    let body = raw.body.map(|body| String::from_utf8(body).unwrap());
                    read.push(body.unwrap_or_else(|fault| fault.detail));
                }
                Err(error) => return (read, error.to_string()),
            }
        }
        (read, String::new())
    }

    #[test]
    fn elements_are_cut_at_their_ends() {
        for (json, elements) in [
            ("[]", &[][..]),
            (" [ ] \n", &[]),
            ("\u{feff}[{}]", &["{}"]),
            (
                "[{\"a\": \"],}\\\"\"} , [1, {}],2 ]\n",
                &["{\"a\": \"],}\\\"\"}", "[1, {}]", "2"],
            ),
            ("[\n  {\n\"a\": 1}\n,\n{}\n]", &["{\n\"a\": 1}", "{}"]),
            (
                "[\"\\\\\", \"long, longer, the longest\"]",
                &["\"\\\\\"", "too large"],
            ),
        ] {
            let (read, error) = read(json, 16);
            assert_eq!(
                (&read[..], &*error),
                (
                    &elements.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
                    ""
                ),
                "{json}"
            );
        }
    }

    #[test]
    fn broken_arrays_are_errors_that_name_the_record() {
        for (json, whole, said) in [
            ("", 0, "not a JSON array"),
            ("{}", 0, "not a JSON array"),
            ("[", 0, "cut short behind record 0"),
            ("[{}, {\"a", 1, "cut short behind record 1"),
            ("[{},", 1, "cut short behind record 1"),
            ("[{},]", 1, "record 2 is empty"),
            ("[,{}]", 0, "record 1 is empty"),
            ("[{}}]", 1, "record 1 has no comma"),
            ("[{}] {}", 1, "other text follows"),
        ] {
            let (read, error) = read(json, 99);
            assert_eq!(read.len(), whole, "{json}");
            assert!(error.contains(said), "{json}: {error}");
        }
    }

    #[test]
    fn a_line_of_an_element_has_no_line_breaks() {
        let raw = Elements::new(&b"[{\r\n\"a\": 1\n}]"[..], 99, true).next();
        assert_eq!(raw.unwrap().unwrap().verbatim, b"{  \"a\": 1 }\n");
    }

    #[test]
    fn arrays_of_objects_are_recognised() {
        for (text, is_array) in [
            ("[{", true),
            ("\u{feff} \n[\n\t{\"a\"", true),
            ("[ \n]\n", true),
            ("[] []", false),
            ("[1, {}]", true),
            ("[null, \"a, {b\", [{}], {", true),
            ("[1, \"{\", [{}], x{}]", false),
            ("[1], {}", false),
            ("[see {below}]", false),
            ("{\"a\": [{}]}", false),
            ("[", false),
            ("", false),
            ("x[{", false),
        ] {
            for size in [1, 4, 99] {
                let mut reader = BufReader::with_capacity(size, text.as_bytes());
                // A mark is looked for in whole, as in files.
                if size >= 4 || !text.starts_with('\u{feff}') {
                    assert_eq!(begins(&mut reader).unwrap(), is_array, "{text:?} {size}");
                }
            }
        }
    }
}

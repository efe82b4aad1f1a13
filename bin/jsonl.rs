//! Files of one JSON object a line.

use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::decode::{decode, without_mark};
use crate::fields::{Field, Fields};
use crate::reader::MAX_BYTES;

/// A line of a file, numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    /// Without the line's end. None if there are more than were asked for.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// A document's key and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether bytes that are no UTF-8 were replaced.
    pub(crate) replaced: bool,
}

/// Whether a file is one of records, by its name.
pub(crate) fn is_jsonl(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
}

/// The lines of a reader, those that are blank left out.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    number: u64,
    limit: u64,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of up to `limit` bytes.
    pub(crate) fn new(reader: R, limit: u64) -> Lines<R> {
        Lines {
            reader,
            number: 0,
            limit,
        }
    }

    fn read(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut bytes = Vec::new();
            let mut limited = (&mut self.reader).take(self.limit + 1);
            if limited.read_until(b'\n', &mut bytes)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let ends = bytes.last() == Some(&b'\n');
            if !ends && bytes.len() as u64 > self.limit {
                drop(bytes);
                self.reader.skip_until(b'\n')?;
                return Ok(Some(self.line(None)));
            }
            bytes.truncate(bytes.trim_ascii_end().len());
            let mut text = bytes.trim_ascii_start();
            if self.number == 1 {
                text = without_mark(text).trim_ascii_start();
            }
            if !text.is_empty() {
                let before = bytes.len() - text.len();
                bytes.drain(..before);
                return Ok(Some(self.line(Some(bytes))));
            }
        }
    }

    fn line(&self, bytes: Option<Vec<u8>>) -> Line {
        let number = self.number;
        Line { number, bytes }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The record on a line, or what is wrong with it.
pub(crate) fn record(line: Vec<u8>) -> Result<Record, String> {
    let decoded = decode(line);
    // A replaced byte becomes three.
    if decoded.text.len() as u64 > MAX_BYTES {
        return Err(too_long());
    }
    let fields: Fields = serde_json::from_str(&decoded.text).map_err(|error| {
        if error.is_data() {
            "not a JSON object".to_owned()
        } else {
            format!("not JSON: {}", without_line(&error))
        }
    })?;
    let id = match fields.id {
        Some(Field::String(id) | Field::Integer(id)) => id,
        Some(Field::Other) => return Err("\"id\" is neither a string nor an integer".to_owned()),
        None => return Err("it has no \"id\"".to_owned()),
    };
    if id.is_empty() {
        return Err("\"id\" is empty".to_owned());
    }
    let text = match fields.text {
        Some(Field::String(text)) => text,
        Some(_) => return Err("\"text\" is not a string".to_owned()),
        None => return Err("it has no \"text\"".to_owned()),
    };
    Ok(Record {
        id,
        text,
        replaced: decoded.replaced,
    })
}

/// What is wrong with a line that is not read for its length.
pub(crate) fn too_long() -> String {
    format!("the line has more than {MAX_BYTES} bytes")
}

/// The error's message with the column alone: the line is always the first.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines, record};

    fn lines(text: &str, limit: u64) -> Vec<Line> {
        let lines = Lines::new(text.as_bytes(), limit);
        lines.map(|line| line.unwrap()).collect()
    }

    fn line(number: u64, text: &str) -> Line {
        let bytes = Some(text.as_bytes().to_vec());
        Line { number, bytes }
    }

    #[test]
    fn lines_end_in_any_way() {
        let expected = vec![line(1, "a"), line(3, "b"), line(4, "c")];
        assert_eq!(lines("\u{feff}a\r\n\n b \nc", 9), expected);
        assert_eq!(lines("\u{feff}", 9), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let bytes = None;
        let expected = vec![line(1, "abc"), Line { number: 2, bytes }, line(3, "ab")];
        assert_eq!(lines("abc\nabcdefghi\nab", 3), expected);
        assert_eq!(lines("abc\nabcd\nab", 3), expected);
    }

    #[test]
    fn records_have_an_id_and_a_text() {
        let good = record(br#"{"id": -7, "text": "a\u00e9", "url": 1}"#.to_vec()).unwrap();
        assert_eq!((good.id.as_str(), good.text.as_str()), ("-7", "aé"));
        for (bad, what) in [
            (
                r#"{"id": "a""#,
                "not JSON: EOF while parsing an object at column 10",
            ),
            ("[1]", "not a JSON object"),
            ("7", "not a JSON object"),
            (
                r#"{"id": [{}], "text": ""}"#,
                "\"id\" is neither a string nor an integer",
            ),
            (
                r#"{"id": "a", "text": "b"} x"#,
                "not JSON: trailing characters at column 26",
            ),
            (r#"{"text": "b"}"#, "it has no \"id\""),
            (
                r#"{"id": 1.5, "text": "b"}"#,
                "\"id\" is neither a string nor an integer",
            ),
            (r#"{"id": "", "text": "b"}"#, "\"id\" is empty"),
            (r#"{"id": "a"}"#, "it has no \"text\""),
            (r#"{"id": "a", "text": null}"#, "\"text\" is not a string"),
        ] {
            assert_eq!(record(bad.as_bytes().to_vec()).unwrap_err(), what);
        }
        let replaced = record(b"{\"id\": \"a\", \"text\": \"\xff\"}".to_vec()).unwrap();
        assert!(replaced.replaced && replaced.text == "\u{fffd}");
    }
}

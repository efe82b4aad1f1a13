//! Records of web archives (WARC).

use std::io::{self, BufRead, Read, sink};

use crate::formats::record::RawRecord;
use crate::options::Options;
use crate::skipped::{Nth, Reason, RecordFault};

/// The maximum number of bytes of a record's header lines.
const MAX_HEAD: u64 = 1 << 20;

/// A record that may be a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WarcRecord {
    pub(crate) id: Option<String>,
    /// Whether U+FFFD in the key replaces invalid bytes.
    pub(crate) is_lossy: bool,
    /// Whether it is an HTTP response with its own header.
    pub(crate) is_response: bool,
    /// In lower case.
    pub(crate) content_type: String,
    pub(crate) bytes: Vec<u8>,
}

/// The records of an archive.
pub(crate) struct WarcRecords<R> {
    reader: R,
    /// The header that holds the key.
    id: String,
    limit: u64,
    number: u64,
    /// Whether the first line of a record has been read.
    has_begun: bool,
    /// The header lines of the current record, if they are wanted.
    verbatim: Option<Vec<u8>>,
}

/// The header lines of a record.
#[derive(Debug, Default)]
struct WarcHeader {
    id: Option<String>,
    is_lossy: bool,
    kind: String,
    content_type: String,
    length: Option<u64>,
}

impl<R: BufRead> WarcRecords<R> {
    /// Reads an archive.
    pub(crate) fn new(reader: R, options: &Options) -> WarcRecords<R> {
        let id = options.id_field.as_deref().unwrap_or("WARC-Target-URI");
        WarcRecords {
            reader,
            id: id.to_ascii_lowercase(),
            limit: options.max_record(),
            number: 0,
            has_begun: false,
            verbatim: options.verbatim.then(Vec::new),
        }
    }

    fn read(&mut self) -> io::Result<Option<RawRecord<WarcRecord>>> {
        let mut bytes = 0;
        while !self.has_begun {
            let line = self.line(MAX_HEAD)?;
            bytes += line.len() as u64;
            if line.is_empty() {
                return Ok(None);
            }
            if !line.trim_ascii().is_empty() {
                if !begins(&line) {
                    bytes += self.pass_over()?;
                    return Ok(Some(
                        self.raw(bytes, Err(RecordFault::bad("no record begins here"))),
                    ));
                }
                self.begin(&line);
            }
        }
        self.has_begun = false;
        let (head, length) = self.head()?;
        bytes += length;
        let Some(length) = head.length else {
            bytes += self.pass_over()?;
            let wrong = "its header has no Content-Length, or has no end";
            return Ok(Some(self.raw(bytes, Err(RecordFault::bad(wrong)))));
        };
        let body = self.block(head, length)?;
        Ok(Some(self.raw(bytes.saturating_add(length), body)))
    }

    /// Reads a line of up to `limit` bytes. Returns an empty one at the end of the file.
    fn line(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        (&mut self.reader)
            .take(limit)
            .read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// Reads up to and including the first line of the next record. Returns the number of bytes read.
    fn pass_over(&mut self) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            let line = self.line(MAX_HEAD)?;
            bytes += line.len() as u64;
            if line.is_empty() {
                return Ok(bytes);
            }
            if begins(&line) {
                self.begin(&line);
                return Ok(bytes);
            }
        }
    }

    /// Starts a record with its first line.
    fn begin(&mut self, line: &[u8]) {
        self.has_begun = true;
        if let Some(verbatim) = &mut self.verbatim {
            verbatim.clear();
            verbatim.extend_from_slice(line);
        }
    }

    /// Reads header lines up to and including the empty one. Returns the number of bytes read.
    fn head(&mut self) -> io::Result<(WarcHeader, u64)> {
        let mut head = WarcHeader::default();
        let mut bytes = 0;
        while bytes < MAX_HEAD {
            let line = self.line(MAX_HEAD - bytes)?;
            bytes += line.len() as u64;
            if line.is_empty() {
                return Err(cut_short());
            }
            if let Some(verbatim) = &mut self.verbatim {
                verbatim.extend_from_slice(&line);
            }
            if line.trim_ascii().is_empty() {
                return Ok((head, bytes));
            }
            let is_lossy = std::str::from_utf8(&line).is_err();
            let line = String::from_utf8_lossy(&line);
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            if name == self.id {
                // Some programs write URLs in angle brackets.
                let bare = value
                    .strip_prefix('<')
                    .and_then(|value| value.strip_suffix('>'));
                head.is_lossy = is_lossy;
                head.id = Some(bare.unwrap_or(value).to_owned()).filter(|id| !id.is_empty());
            }
            match name.as_str() {
                "warc-type" => head.kind = value.to_ascii_lowercase(),
                "content-type" => head.content_type = value.to_ascii_lowercase(),
                "content-length" => head.length = value.parse().ok(),
                _ => {}
            }
        }
        head.length = None;
        Ok((head, bytes))
    }

    /// Reads or skips the block of a record.
    fn block(
        &mut self,
        mut head: WarcHeader,
        length: u64,
    ) -> io::Result<Result<WarcRecord, RecordFault>> {
        let kind = head.kind.as_str();
        let of_http = kind == "response" && head.content_type.starts_with("application/http");
        // Some programs leave out the type of a response, or give that of its page.
        let is_untold = kind == "response" && ["", "text/html"].contains(&&*head.content_type);
        let is_text = ["conversion", "resource"].contains(&kind);
        let mut block = (&mut self.reader).take(length);
        let (read, body) = if !of_http && !is_untold && !is_text {
            let read = io::copy(&mut block, &mut sink())?;
            (read, Err(no_page(&format!("a record of type {kind}"))))
        } else if length > self.limit {
            (
                io::copy(&mut block, &mut sink())?,
                Err(RecordFault::too_large()),
            )
        } else {
            let mut bytes = Vec::new();
            let read = block.read_to_end(&mut bytes)? as u64;
            let is_response = of_http || is_untold && bytes.starts_with(b"HTTP/");
            if kind == "conversion" && head.content_type.is_empty() {
                // What was converted is text.
                head.content_type.push_str("text/plain");
            }
            let block = WarcRecord {
                id: head.id,
                is_lossy: head.is_lossy,
                is_response,
                content_type: head.content_type,
                bytes,
            };
            (read, Ok(block))
        };
        if read < length {
            Err(cut_short())
        } else {
            Ok(body)
        }
    }

    fn raw(&mut self, bytes: u64, body: Result<WarcRecord, RecordFault>) -> RawRecord<WarcRecord> {
        self.number += 1;
        let verbatim = match (&self.verbatim, &body) {
            (Some(head), Ok(block)) => [head, &block.bytes[..], END].concat(),
            _ => Vec::new(),
        };
        RawRecord {
            nth: Nth::Record(self.number),
            bytes,
            verbatim,
            body,
        }
    }
}

impl<R: BufRead> Iterator for WarcRecords<R> {
    type Item = io::Result<RawRecord<WarcRecord>>;

    fn next(&mut self) -> Option<io::Result<RawRecord<WarcRecord>>> {
        self.read().transpose()
    }
}

/// The bytes after each record.
const END: &[u8] = b"\r\n\r\n";

/// Whether a line is the first of a record.
fn begins(line: &[u8]) -> bool {
    line.starts_with(b"WARC/")
}

/// Returns the fault of a record of a kind that has no text.
pub(crate) fn no_page(what: &str) -> RecordFault {
    RecordFault {
        reason: Reason::NoPage,
        detail: format!("{what}, which is no page"),
        hint: None,
    }
}

fn cut_short() -> io::Error {
    let message = "its last record is cut short";
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

//! A reader of which bytes can be seen before they are read.

use std::io::{self, BufRead, Read};

/// A reader that looks ahead. An error that is met ahead is returned once the bytes before it are read.
pub(super) struct LookAhead<R> {
    reader: R,
    /// What was looked at, from `start` on not yet read.
    bytes: Vec<u8>,
    start: usize,
    failed: Option<io::Error>,
}

impl<R: BufRead> LookAhead<R> {
    pub(super) fn new(reader: R) -> LookAhead<R> {
        LookAhead {
            reader,
            bytes: Vec::new(),
            start: 0,
            failed: None,
        }
    }

    /// The next bytes: as many as are wanted, or fewer before the end. `None` if the reader fails before.
    pub(super) fn peek(&mut self, wanted: usize) -> Option<&[u8]> {
        let missing = wanted.saturating_sub(self.bytes.len() - self.start);
        if missing > 0 && self.failed.is_none() {
            // Whatever the number of calls, a byte is moved once on average.
            if self.start > self.bytes.len() / 2 {
                self.bytes.drain(..self.start);
                self.start = 0;
            }
            let mut ahead = self.reader.by_ref().take(missing as u64);
            self.failed = ahead.read_to_end(&mut self.bytes).err();
        }
        let ahead = &self.bytes[self.start..];
        let is_there = ahead.len() >= wanted || self.failed.is_none();
        is_there.then(|| &ahead[..wanted.min(ahead.len())])
    }
}

impl<R: BufRead> Read for LookAhead<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for LookAhead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start < self.bytes.len() {
            return Ok(&self.bytes[self.start..]);
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.reader.fill_buf(),
        }
    }

    fn consume(&mut self, read: usize) {
        if self.start == self.bytes.len() {
            self.reader.consume(read);
            return;
        }
        self.start += read;
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
    }
}

//! A limit on the decompressed size of a file.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use crate::number::grouped;
use crate::skipped::{Hint, HintedError, hint};

/// The message for compressed data without an end.
pub(crate) const CUT_SHORT: &str = "the compressed data is cut short";

/// The number of bytes that any file may decompress to, however small it is.
const FREE_BYTES: u64 = 64 << 20;

/// Beyond that, the maximum number of bytes out per byte in. Text reaches about 300.
const MAX_RATIO: u64 = 1000;

/// Counts the bytes that are read through it.
#[derive(Debug)]
pub(crate) struct CountingReader<R> {
    reader: R,
    count: Rc<Cell<u64>>,
}

impl<R: BufRead> CountingReader<R> {
    /// Returns a reader that has counted nothing.
    pub(crate) fn new(reader: R) -> CountingReader<R> {
        let count = Rc::default();
        CountingReader { reader, count }
    }

    /// Returns the count, which is updated as bytes are read.
    pub(crate) fn count(&self) -> Rc<Cell<u64>> {
        self.count.clone()
    }
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.count.set(self.count.get() + bytes as u64);
        self.reader.consume(bytes);
    }
}

/// Counts decompressed bytes, and checks that they are in proportion to the input.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    bytes: u64,
}

impl Growth {
    /// Counts more decompressed bytes. `compressed` is the total input so far.
    ///
    /// # Errors
    ///
    /// There are too many bytes.
    pub(crate) fn count(&mut self, bytes: u64, compressed: u64) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= FREE_BYTES.max(compressed.saturating_mul(MAX_RATIO)) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "it grows to more than {MAX_RATIO} times its size, which no text does; \
             decompress it first if it is sound"
        )))
    }
}

/// The output of a decoder, as long as it is in proportion to the input.
#[derive(Debug)]
pub(crate) struct GrowthGuard<R> {
    decoder: R,
    compressed: Rc<Cell<u64>>,
    growth: Growth,
}

impl<R: Read> GrowthGuard<R> {
    /// Guards a decoder. `compressed` counts its input.
    pub(crate) fn new(decoder: R, compressed: Rc<Cell<u64>>) -> GrowthGuard<R> {
        GrowthGuard {
            decoder,
            compressed,
            growth: Growth::default(),
        }
    }
}

impl<R: Read> Read for GrowthGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer).map_err(explain)?;
        self.growth.count(read as u64, self.compressed.get())?;
        Ok(read)
    }
}

/// Refuses to decompress what takes more memory than it may.
pub(crate) fn check_memory(needed: u64, allowed: u64) -> io::Result<()> {
    if needed <= allowed {
        return Ok(());
    }
    let mebibytes = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
    Err(io::Error::other(HintedError {
        detail: format!(
            "to decompress it takes {} MiB of memory, and {} MiB are allowed",
            mebibytes(needed),
            mebibytes(allowed)
        ),
        hint: Hint::Memory,
    }))
}

/// Explains a decoder's error.
fn explain(error: io::Error) -> io::Error {
    if hint(&error).is_some() {
        return error;
    }
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => CUT_SHORT.to_owned(),
        _ => format!("the compressed data is damaged: {error}"),
    };
    io::Error::new(error.kind(), message)
}

#[cfg(test)]
mod tests {
    use super::{CountingReader, FREE_BYTES, GrowthGuard};
    use std::io::{self, Read};

    #[test]
    fn what_grows_out_of_proportion_ends_in_an_error() {
        let mut input = CountingReader::new(&b"abc"[..]);
        let compressed = input.count();
        input.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(compressed.get(), 3);
        let mut guard = GrowthGuard::new(io::repeat(b'x'), compressed);
        let copied = io::copy(&mut guard, &mut io::sink());
        assert!(copied.unwrap_err().to_string().contains("1000 times"));
        assert!(guard.growth.bytes > FREE_BYTES && guard.growth.bytes < FREE_BYTES + (1 << 20));
    }
}

//! The frames of a Zstandard file.

use std::io::{self, BufRead, Read};

use zstd::stream::raw::{DParameter, Decoder, Operation};

use crate::source::guard::check_memory;

/// The most bytes that the header of a frame takes.
const HEADER: usize = 18;

/// The largest window of the format's decoders: 2 GiB.
const MAX_WINDOW_LOG: u32 = 31;

/// Decompresses all frames, one after another, if their windows fit into memory.
pub(crate) struct ZstdFrames<R> {
    reader: R,
    decoder: Decoder<'static>,
    /// Bytes of the current frame that were looked at and are not decompressed yet.
    head: Vec<u8>,
    is_between: bool,
    /// The memory that a window may take.
    memory: u64,
}

impl<R: BufRead> ZstdFrames<R> {
    /// Starts with the first frame. A window may take `memory` bytes.
    ///
    /// # Errors
    ///
    /// The system has no memory for a decoder.
    pub(crate) fn new(reader: R, memory: u64) -> io::Result<ZstdFrames<R>> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
        Ok(ZstdFrames {
            reader,
            decoder,
            head: Vec::new(),
            is_between: true,
            memory,
        })
    }

    /// Looks at the header of the next frame. Returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        let missing = HEADER - self.head.len();
        let mut header = self.reader.by_ref().take(missing as u64);
        header.read_to_end(&mut self.head)?;
        if self.head.is_empty() {
            return Ok(false);
        }
        if let Some(window) = window(&self.head) {
            check_memory(window, self.memory)?;
        }
        self.decoder.reinit()?;
        self.is_between = false;
        Ok(true)
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.is_between && !self.begin()? {
                return Ok(0);
            }
            let is_head = !self.head.is_empty();
            let input = if is_head {
                &self.head
            } else {
                self.reader.fill_buf()?
            };
            let is_over = input.is_empty();
            let status = self.decoder.run_on_buffers(input, buffer)?;
            if is_head {
                self.head.drain(..status.bytes_read);
            } else {
                self.reader.consume(status.bytes_read);
            }
            self.is_between = status.remaining == 0;
            if status.bytes_written > 0 {
                return Ok(status.bytes_written);
            }
            if is_over && !self.is_between {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Returns the size of a frame's window by its header. `None` if it is not the header of a frame with data.
fn window(header: &[u8]) -> Option<u64> {
    let rest = header.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])?;
    let (descriptor, rest) = rest.split_first()?;
    let is_single = descriptor & 0x20 != 0;
    if !is_single {
        let window = rest.first()?;
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // The window is the content.
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(rest.get(dictionary..dictionary + size)?);
    let content = u64::from_le_bytes(bytes);
    Some(if size == 2 { content + 256 } else { content })
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read, Write};

    use super::{ZstdFrames, window};

    fn frame(text: &[u8], window_log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn text(bytes: &[u8], memory: u64) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let reader = BufReader::with_capacity(7, bytes);
        ZstdFrames::new(reader, memory)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn frames_follow_one_another() {
        let skipped = [0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let short = zstd::encode_all(&b"b"[..], 1).unwrap();
        let frames = [
            &skipped[..],
            &frame(b"a", 20),
            &short,
            &skipped,
            &skipped,
            &short,
        ]
        .concat();
        assert_eq!(text(&frames, 1 << 20).unwrap(), b"abb");
        for end in [3, skipped.len() + 5, frames.len() - 1] {
            let error = text(&frames[..end], 1 << 20).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
    }

    #[test]
    fn a_window_beyond_the_memory_is_refused_by_its_size() {
        let wide = frame(b"a", 28);
        assert_eq!(window(&wide), Some(256 << 20));
        assert_eq!(text(&wide, 256 << 20).unwrap(), b"a");
        let both = [frame(b"a", 20), wide].concat();
        let error = text(&both, (256 << 20) - 1).unwrap_err().to_string();
        assert!(
            error.contains("takes 256 MiB of memory, and 256 MiB"),
            "{error}"
        );
        let single = zstd::bulk::compress(&vec![7; 70_000], 1).unwrap();
        assert_eq!(window(&single), Some(70_000));
    }
}

//! The streams of an xz file.

use std::io::{self, BufRead, Read};

use lzma_rust2::{Action, Status, XzStream};

use crate::source::guard::check_memory;

/// Decompresses all streams, one after another, if their dictionaries fit into memory. Zeros behind a stream are padding.
pub(crate) struct XzStreams<R> {
    reader: R,
    decoder: XzStream,
    is_ended: bool,
    /// The memory that a decoder may take.
    memory: u64,
}

impl<R: BufRead> XzStreams<R> {
    /// Starts with the first stream. A decoder may take `memory` bytes.
    pub(crate) fn new(reader: R, memory: u64) -> XzStreams<R> {
        let limit = u32::try_from(memory >> 10).unwrap_or(u32::MAX);
        XzStreams {
            reader,
            decoder: XzStream::new_mem_limit(true, limit),
            is_ended: false,
            memory,
        }
    }
}

impl<R: BufRead> Read for XzStreams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_ended && !buffer.is_empty() {
            let input = self.reader.fill_buf()?;
            let action = if input.is_empty() {
                Action::Finish
            } else {
                Action::Run
            };
            let done = match self.decoder.process(input, buffer, action) {
                Ok(done) => done,
                Err(error) => {
                    if let Some(needed) = self.decoder.memory_usage() {
                        check_memory(u64::from(needed) << 10, self.memory)?;
                    }
                    return Err(error);
                }
            };
            let is_stuck = action == Action::Finish && done.bytes_produced == 0;
            self.reader.consume(done.bytes_consumed);
            self.is_ended = done.status == Status::StreamEnd;
            if done.bytes_produced > 0 {
                return Ok(done.bytes_produced);
            }
            if is_stuck && !self.is_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read, Write};

    use lzma_rust2::{CheckType, XzOptions, XzWriter};

    use super::XzStreams;

    fn xz(text: &[u8], check: CheckType) -> Vec<u8> {
        let mut options = XzOptions::with_preset(0);
        options.set_check_sum_type(check);
        let mut writer = XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    fn text(bytes: &[u8], memory: u64) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let reader = BufReader::with_capacity(7, bytes);
        XzStreams::new(reader, memory).read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn streams_and_padding_follow_one_another() {
        let long = b"the night tram ".repeat(9999);
        let streams = [
            xz(&long, CheckType::Crc64),
            vec![0; 8],
            xz(b"", CheckType::None),
            xz(b"two", CheckType::Sha256),
            vec![0; 4],
        ]
        .concat();
        let expected = [&long[..], b"two"].concat();
        assert_eq!(text(&streams, 64 << 20).unwrap(), expected);
    }

    #[test]
    fn damage_and_a_missing_end_are_errors() {
        let whole = xz(&b"the night tram ".repeat(999), CheckType::Crc64);
        for end in 1..whole.len() {
            let error = text(&whole[..end], 64 << 20).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert!(text(&damaged, 64 << 20).is_err(), "{at}");
        }
        for rest in [&b"text"[..], &[0; 3], b"\0\0\0\0text"] {
            assert!(text(&[&whole, rest].concat(), 64 << 20).is_err());
        }
    }

    #[test]
    fn a_dictionary_beyond_the_memory_is_refused_by_its_size() {
        let whole = xz(b"text", CheckType::Crc32);
        let error = text(&whole, 100 << 10).unwrap_err().to_string();
        assert!(
            error.contains("takes 1 MiB of memory, and 1 MiB"),
            "{error}"
        );
    }
}

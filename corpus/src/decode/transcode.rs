//! A stream of text in any encoding, decoded to UTF-8.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding};

use super::utf32::{self, ByteOrder};

/// An encoding other than UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignEncoding {
    /// An encoding of the Encoding Standard.
    Standard(&'static Encoding),
    Utf32(ByteOrder),
}

impl ForeignEncoding {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ForeignEncoding::Standard(encoding) => encoding.name(),
            ForeignEncoding::Utf32(order) => order.name(),
        }
    }
}

/// A reader that decodes the bytes of another reader to UTF-8. Invalid sequences become U+FFFD.
pub(crate) struct Transcoded<R> {
    reader: R,
    decoding: Decoding,
    /// Decoded text that has not been read yet.
    text: Vec<u8>,
    taken: usize,
    is_done: bool,
}

enum Decoding {
    Standard(Decoder),
    Utf32(ByteOrder),
}

/// The number of bytes to decode at a time: a multiple of the size of a UTF-32 character.
const BUFFER: usize = 1 << 16;

impl<R: BufRead> Transcoded<R> {
    /// Decodes `reader` from an encoding, without the mark that it may begin with. UTF-32 always begins with its mark.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(crate) fn new(mut reader: R, coding: ForeignEncoding) -> io::Result<Transcoded<R>> {
        let decoding = match coding {
            ForeignEncoding::Standard(encoding) => {
                Decoding::Standard(encoding.new_decoder_with_bom_removal())
            }
            ForeignEncoding::Utf32(order) => {
                reader.read_exact(&mut [0; 4])?;
                Decoding::Utf32(order)
            }
        };
        Ok(Transcoded {
            reader,
            decoding,
            text: Vec::new(),
            taken: 0,
            is_done: false,
        })
    }

    /// Decodes until there is text to read or the input ends.
    fn fill(&mut self) -> io::Result<()> {
        while self.taken == self.text.len() && !self.is_done {
            match &mut self.decoding {
                Decoding::Standard(decoder) => {
                    let bytes = self.reader.fill_buf()?;
                    let is_last = bytes.is_empty();
                    self.text.resize(BUFFER, 0);
                    let decoded = decoder.decode_to_utf8(bytes, &mut self.text, is_last);
                    let (result, read, written, _) = decoded;
                    self.reader.consume(read);
                    self.text.truncate(written);
                    self.is_done = is_last && result == CoderResult::InputEmpty;
                }
                Decoding::Utf32(order) => {
                    let mut bytes = Vec::new();
                    let mut some = self.reader.by_ref().take(BUFFER as u64);
                    self.is_done = some.read_to_end(&mut bytes)? == 0;
                    self.text = utf32::text(&bytes, *order).0.into_bytes();
                }
            }
            self.taken = 0;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Transcoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let read = (&self.text[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteOrder, ForeignEncoding, Transcoded};
    use encoding_rs::{SHIFT_JIS, UTF_16LE};
    use std::io::{BufRead, BufReader, Read};

    fn decoded(reader: impl BufRead, coding: ForeignEncoding) -> String {
        let mut decoded = String::new();
        let mut stream = Transcoded::new(reader, coding).unwrap();
        stream.read_to_string(&mut decoded).unwrap();
        decoded
    }

    #[test]
    fn a_stream_is_decoded_across_its_buffers() {
        let text = "夜の路面電車 naive 😀 ".repeat(9000);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [&[0xff, 0xfe], &wide[..]].concat();
        for capacity in [3, 1000] {
            let reader = BufReader::with_capacity(capacity, &marked[..]);
            assert!(decoded(reader, ForeignEncoding::Standard(UTF_16LE)) == text);
        }
        let cut = &b"\x96\xe9\x82"[..];
        assert_eq!(
            decoded(cut, ForeignEncoding::Standard(SHIFT_JIS)),
            "夜\u{fffd}"
        );
    }

    #[test]
    fn a_stream_of_utf32_is_decoded_across_its_buffers() {
        let all = "夜の路面電車 naive 😀 ".repeat(9000);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let bytes = |c: char| {
                let mut bytes = u32::from(c).to_le_bytes();
                if order == ByteOrder::Big {
                    bytes.reverse();
                }
                bytes
            };
            let marked = "\u{feff}".chars().chain(all.chars());
            let mut wide: Vec<u8> = marked.flat_map(bytes).collect();
            wide.extend([1, 2]);
            for capacity in [3, 1000] {
                let reader = BufReader::with_capacity(capacity, &wide[..]);
                let decoded = decoded(reader, ForeignEncoding::Utf32(order));
                assert!(decoded.strip_suffix('\u{fffd}') == Some(&*all));
            }
        }
    }
}

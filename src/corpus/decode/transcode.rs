//! A stream of text in any encoding, as UTF-8.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding};

/// The bytes of a reader, decoded; what is no character becomes U+FFFD.
pub(crate) struct Transcoded<R> {
    reader: R,
    decoder: Decoder,
    /// What is decoded and not yet read.
    text: Vec<u8>,
    taken: usize,
    is_done: bool,
}

/// Bytes that are decoded at a time.
const BUFFER: usize = 1 << 16;

impl<R: BufRead> Transcoded<R> {
    /// Decodes `reader` from `encoding`, without the mark that it may begin with.
    pub(crate) fn new(reader: R, encoding: &'static Encoding) -> Transcoded<R> {
        Transcoded {
            reader,
            decoder: encoding.new_decoder_with_bom_removal(),
            text: vec![0; BUFFER],
            taken: BUFFER,
            is_done: false,
        }
    }

    /// Decodes until there is something to be read or all is done.
    fn fill(&mut self) -> io::Result<()> {
        while self.taken == self.text.len() && !self.is_done {
            self.text.resize(BUFFER, 0);
            let bytes = self.reader.fill_buf()?;
            let is_last = bytes.is_empty();
            let decoded = self.decoder.decode_to_utf8(bytes, &mut self.text, is_last);
            let (result, read, written, _) = decoded;
            self.reader.consume(read);
            self.text.truncate(written);
            self.taken = 0;
            self.is_done = is_last && result == CoderResult::InputEmpty;
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
    use super::Transcoded;
    use encoding_rs::{SHIFT_JIS, UTF_16LE};
    use std::io::{BufReader, Read};

    #[test]
    fn a_stream_is_decoded_across_its_buffers() {
        let text = "夜の路面電車 naive 😀 ".repeat(9000);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [&[0xff, 0xfe], &wide[..]].concat();
        for capacity in [3, 1000] {
            let reader = BufReader::with_capacity(capacity, &marked[..]);
            let mut decoded = String::new();
            Transcoded::new(reader, UTF_16LE)
                .read_to_string(&mut decoded)
                .unwrap();
            assert!(decoded == text);
        }
        let mut decoded = String::new();
        let cut = &b"\x96\xe9\x82"[..];
        Transcoded::new(cut, SHIFT_JIS)
            .read_to_string(&mut decoded)
            .unwrap();
        assert_eq!(decoded, "夜\u{fffd}");
    }
}

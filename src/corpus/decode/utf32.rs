//! UTF-32, which the Encoding Standard leaves out.

use std::io::{self, BufRead, Read};

/// In which order the bytes of a character come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The name of UTF-32 in this order.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ByteOrder::Little => "UTF-32LE",
            ByteOrder::Big => "UTF-32BE",
        }
    }

    fn character(self, bytes: [u8; 4]) -> Option<char> {
        let [a, b, c, d] = bytes.map(u32::from);
        char::from_u32(match self {
            ByteOrder::Little => a | b << 8 | c << 16 | d << 24,
            ByteOrder::Big => a << 24 | b << 16 | c << 8 | d,
        })
    }
}

/// The text of bytes, in which U+FFFD stands for each four that are no character and for fewer at the end. Says whether
/// there were such.
pub(super) fn text(bytes: &[u8], order: ByteOrder) -> (String, bool) {
    let (fours, rest) = bytes.as_chunks::<4>();
    let mut text = String::with_capacity(fours.len());
    let mut replaced = !rest.is_empty();
    for &four in fours {
        let character = order.character(four);
        replaced |= character.is_none();
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (text, replaced)
}

/// The bytes of a reader of UTF-32, as UTF-8.
pub(crate) struct Utf32<R> {
    reader: R,
    order: ByteOrder,
    /// What is decoded and not yet read.
    text: Vec<u8>,
    taken: usize,
}

/// Bytes that are decoded at a time: whole characters.
const BUFFER: u64 = 1 << 16;

impl<R: BufRead> Utf32<R> {
    /// Decodes what follows the byte order mark that `reader` begins with.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(crate) fn new(mut reader: R, order: ByteOrder) -> io::Result<Utf32<R>> {
        reader.read_exact(&mut [0; 4])?;
        Ok(Utf32 {
            reader,
            order,
            text: Vec::new(),
            taken: 0,
        })
    }
}

impl<R: BufRead> Read for Utf32<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            let mut bytes = Vec::new();
            self.reader.by_ref().take(BUFFER).read_to_end(&mut bytes)?;
            self.text = text(&bytes, self.order).0.into_bytes();
            self.taken = 0;
        }
        let read = (&self.text[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn a_stream_is_decoded_across_its_buffers() {
        let all = "夜の路面電車 naive 😀 ".repeat(9000);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let bytes = |c: char| {
                let mut bytes = u32::from(c).to_le_bytes();
                if order == ByteOrder::Big {
                    bytes.reverse();
                }
                bytes
            };
            let mut wide: Vec<u8> = "\u{feff}"
                .chars()
                .chain(all.chars())
                .flat_map(bytes)
                .collect();
            wide.extend([1, 2]);
            for capacity in [3, 1000] {
                let reader = BufReader::with_capacity(capacity, &wide[..]);
                let mut decoded = String::new();
                let mut stream = Utf32::new(reader, order).unwrap();
                stream.read_to_string(&mut decoded).unwrap();
                assert!(decoded.strip_suffix('\u{fffd}') == Some(&*all));
            }
        }
    }
}

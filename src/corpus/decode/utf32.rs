//! UTF-32, which the Encoding Standard leaves out.

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

//! UTF-32, which the Encoding Standard leaves out.

/// The order of the bytes of a character.
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

/// Decodes bytes. Each four bytes that are not a character become U+FFFD, and so do fewer than four at the end. Also
/// returns whether there were any.
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

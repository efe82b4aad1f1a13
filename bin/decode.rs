//! From the bytes of a file to text.

/// Text, and whether bytes that are no UTF-8 were replaced in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) replaced: bool,
}

/// The byte order mark that some programs begin a text with.
const MARK: &str = "\u{feff}";

/// Whether the bytes are no text: one of them is NUL.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

/// The text of `bytes`, without a byte order mark.
pub(crate) fn decode(bytes: Vec<u8>) -> Decoded {
    let (mut text, replaced) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    if text.starts_with(MARK) {
        text.drain(..MARK.len());
    }
    Decoded { text, replaced }
}

/// The bytes without a byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes)
}

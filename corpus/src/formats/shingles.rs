//! One document per line: its key and its shingles, which are integers.

use crate::decode::{Decoded, decode};
use crate::formats::record::Record;

/// Returns the record on a line: the key up to the first white space, and the text after it. Invalid integers are
/// reported when they become shingles.
pub(crate) fn record(line: &[u8]) -> Record {
    let decoded = decode(line, None).into_owned();
    let line = decoded.text.trim();
    let (id, text) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (id, text) = (id.to_owned(), text.trim_start().to_owned());
    Record {
        is_lossy: decoded.replaced && id.contains(char::REPLACEMENT_CHARACTER),
        id: Some(id).filter(|id| !id.is_empty()),
        decoded: Decoded { text, ..decoded },
        strings: None,
    }
}

#[cfg(test)]
mod tests {
    use super::record;

    #[test]
    fn the_key_ends_at_the_first_white_space() {
        for (line, id, text) in [
            ("a 1 2", "a", "1 2"),
            ("7\t 1\t2", "7", "1\t2"),
            ("\u{e9}", "\u{e9}", ""),
            // White space that is not ASCII.
            ("\u{b}a\u{3000}1 2\u{85}", "a", "1 2"),
        ] {
            let record = record(line.as_bytes());
            assert_eq!(record.id.as_deref(), Some(id));
            assert_eq!(record.decoded.text, text);
        }
        assert_eq!(record("\u{b}\u{a0}".as_bytes()).id, None);
    }
}

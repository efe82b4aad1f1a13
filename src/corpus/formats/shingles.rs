//! A line a document: its key and its shingles, which are integers.

use crate::corpus::decode::{Decoded, decode};
use crate::corpus::formats::record::Record;

/// The record on a line without white space at its ends: the key goes up to the first white space,
/// and the text is the rest. What is wrong with integers is found when they become shingles.
pub(crate) fn record(line: &[u8]) -> Record {
    let decoded = decode(line, None).into_owned();
    let (id, text) = match decoded.text.split_once(char::is_whitespace) {
        Some((id, text)) => (id.to_owned(), text.trim_start().to_owned()),
        None => (decoded.text.clone(), String::new()),
    };
    Record {
        is_lossy: decoded.replaced && id.contains(char::REPLACEMENT_CHARACTER),
        id: Some(id),
        decoded: Decoded { text, ..decoded },
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
        ] {
            let record = record(line.as_bytes());
            assert_eq!(record.id.as_deref(), Some(id));
            assert_eq!(record.decoded.text, text);
        }
    }
}

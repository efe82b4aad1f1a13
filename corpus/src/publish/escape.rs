//! Escaping names and keys as fields of lines.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes a key or name as a field of a line.
///
/// Control characters and backslashes become escape sequences (`\t`, `\n`, `\u{1b}`, `\\`), so that lines and columns
/// stay intact, and [`unescape`] restores the text.
pub fn escape(text: &str) -> Cow<'_, str> {
    // There is no branch for each byte, since most keys are plain.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'[' | b']'..=b'~');
    if text
        .as_bytes()
        .iter()
        .fold(true, |plain, byte| plain & is_plain(byte))
    {
        return Cow::Borrowed(text);
    }
    spelled(text, |c| c == '\\' || is_unprintable(c))
}

/// Escapes control characters for display, so that a text cannot fool people by what a terminal does with it.
pub fn printable(text: &str) -> Cow<'_, str> {
    spelled(text, is_unprintable)
}

/// Escapes control characters for display, except for those that make lines and columns.
pub(crate) fn readable(text: &str) -> String {
    let spelled = spelled(text, |c| {
        is_unprintable(c) && !matches!(c, '\n' | '\t' | '\r')
    });
    spelled.replace('\r', "")
}

/// Formats a text as a field of CSV (RFC 4180): quoted if it has a comma, a quote or a line break.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        return Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    Cow::Borrowed(text)
}

/// Returns JSON with its characters that are not ASCII as escapes.
pub(crate) fn ascii_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    let mut units = [0; 2];
    for char in json.chars() {
        if char.is_ascii() {
            escaped.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut units) {
            write!(escaped, "\\u{unit:04x}").unwrap_or_default(); // a string takes anything
        }
    }
    escaped
}

fn spelled(text: &str, is_spelled: fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_spelled(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Reverses [`escape`]. Returns `None` if a backslash does not begin one of its sequences.
pub fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let number = |hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
        let braced = after
            .strip_prefix("u{")
            .and_then(|after| after.split_once('}'));
        let mut next = after.chars();
        let c = match (next.next(), braced) {
            (Some('\\'), _) => Some('\\'),
            (Some('t'), _) => Some('\t'),
            (Some('n'), _) => Some('\n'),
            (Some('r'), _) => Some('\r'),
            (Some('u'), Some((hex, after))) => {
                next = after.chars();
                number(hex)
            }
            _ => None,
        };
        plain.push(c?);
        rest = next.as_str();
    }
    plain.push_str(rest);
    Some(plain)
}

/// Whether the character moves the cursor, ends a line or changes the direction of writing.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::{csv_field, escape, printable, unescape};

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(escape("a\tb\nc\u{1b}[1m"), "a\\tb\\nc\\u{1b}[1m");
        assert_eq!(escape("\u{202e}txt"), "\\u{202e}txt");
        assert_eq!(printable("日本 naïve \\ '"), "日本 naïve \\ '");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(csv_field("x y"), "x y");
        assert_eq!(csv_field("x, \"y\""), "\"x, \"\"y\"\"\"");
    }

    #[test]
    fn what_is_spelled_out_can_be_read_again() {
        let texts = [
            "a\nb",
            "a\\nb",
            "\\",
            "\u{202e}\t\r\\u{41}\u{1b}",
            "日本 '\"",
            "",
        ];
        let escaped = texts.map(escape);
        for (text, escaped) in texts.iter().zip(&escaped) {
            assert_eq!(unescape(escaped).unwrap(), **text);
            assert!(!escaped.contains('\n'), "{escaped}");
        }
        assert_ne!(escaped[0], escaped[1]);
        for wrong in ["a\\", "\\x", "\\u{", "\\u{110000}", "\\u41"] {
            assert!(unescape(wrong).is_none(), "{wrong}");
        }
    }
}

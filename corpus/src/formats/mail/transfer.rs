//! The encodings in which parts of messages are sent: quoted-printable and Base64 (RFC 2045, sections 6.7 and 6.8).

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;

/// Decodes a part. An equals sign that encodes nothing, as in an address that a list added, stays as it is.
pub(super) fn quoted_printable(bytes: &[u8]) -> Cow<'_, [u8]> {
    let decoded = quoted_printable_decode(bytes).or_else(|| {
        let mut pieces = bytes.split(|&byte| byte == b'=').peekable();
        let mut sound = pieces.next().unwrap_or_default().to_vec();
        while let Some(piece) = pieces.next() {
            let is_code = piece.len() >= 2 && piece[..2].iter().all(u8::is_ascii_hexdigit);
            let next = piece.iter().find(|byte| !b" \t\r".contains(byte));
            let is_line_end = next.map_or(pieces.peek().is_none(), |&next| next == b'\n');
            let sign: &[u8] = if is_code || is_line_end { b"=" } else { b"=3D" };
            sound.extend_from_slice(sign);
            sound.extend_from_slice(piece);
        }
        quoted_printable_decode(&sound)
    });
    decoded.map_or(Cow::Borrowed(bytes), Cow::Owned)
}

/// Decodes a part. What stands behind its last line, as lists and companies add it, stays as it is.
pub(super) fn base64(bytes: &[u8]) -> Vec<u8> {
    let mut end = 0;
    let mut width = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let letters = line.trim_ascii();
        let is_last = letters.len() < width || letters.ends_with(b"=");
        if !letters.iter().all(|&byte| is_digit(byte)) {
            break;
        }
        end += line.len();
        if is_last && !letters.is_empty() {
            break;
        }
        width = width.max(letters.len());
    }
    let (encoded, rest) = bytes.split_at(end);
    match base64_decode(encoded) {
        Some(mut decoded) => {
            decoded.extend_from_slice(rest);
            decoded
        }
        None => bytes.to_vec(),
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{base64, quoted_printable};

    #[test]
    fn an_equals_sign_that_encodes_nothing_stays() {
        for (encoded, decoded) in [
            ("caf=C3=A9 a=\r\nnd tea\r\n", "caf\u{e9} and tea\r\n"),
            (
                "caf=C3=A9 a= \nnd\nhttp://a.example/?user=me&n==3D\n",
                "caf\u{e9} and\nhttp://a.example/?user=me&n==\n",
            ),
            ("1 + 1 = 2 =C3=A9=", "1 + 1 = 2 \u{e9}"),
        ] {
            let text = quoted_printable(encoded.as_bytes());
            assert_eq!(String::from_utf8_lossy(&text), decoded);
        }
    }

    #[test]
    fn what_stands_behind_the_last_line_stays() {
        for (encoded, decoded) in [
            ("", ""),
            ("\r\nVGhlIHRyYW0=\r\n", "The tram"),
            ("VGhlIHRy\nYW0gcnVu\nIG5vdw==\n", "The tram run now"),
            (
                "VGhlIHRy\nYW0g\nList\n--\nNo one.\n",
                "The tram List\n--\nNo one.\n",
            ),
            ("VGhlIHRyYW0=\n\nAll rights\n", "The tram\nAll rights\n"),
            (
                "VGhlIHRyYW0gcnVu\n\nAll rights\n",
                "The tram runAll rights\n",
            ),
            ("no base64 at all", "no base64 at all"),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&base64(encoded.as_bytes())),
                decoded
            );
        }
    }
}

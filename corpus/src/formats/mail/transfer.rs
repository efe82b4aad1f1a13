//! The encodings in which parts of messages are sent: quoted-printable and Base64 (RFC 2045, sections 6.7 and 6.8).

use mail_parser::decoders::base64::base64_decode;

/// Decodes a part. An equals sign that encodes nothing, as in an address that a list added, stays as it is. Blanks before a
/// line end go.
pub(super) fn quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let content = line.trim_ascii_end();
        let (content, end) = match content.strip_suffix(b"=") {
            Some(content) => (content, &[][..]),
            None => (content, &line[line.len() - line_end(line)..]),
        };
        let mut rest = content;
        while let Some(place) = rest.iter().position(|&byte| byte == b'=') {
            decoded.extend_from_slice(&rest[..place]);
            let code = rest.get(place + 1..place + 3).and_then(|code| {
                let code = std::str::from_utf8(code).ok()?;
                let is_hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
                u8::from_str_radix(code, 16).ok().filter(|_| is_hex)
            });
            decoded.push(code.unwrap_or(b'='));
            rest = &rest[place + if code.is_some() { 3 } else { 1 }..];
        }
        decoded.extend_from_slice(rest);
        decoded.extend_from_slice(end);
    }
    decoded
}

/// The number of bytes of the end of a line.
fn line_end(line: &[u8]) -> usize {
    match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
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
            (
                "2 * 12.50 = 25 euro \r\nid=7",
                "2 * 12.50 = 25 euro\r\nid=7",
            ),
            ("a=3d=3D=\r\n=+1 =\u{e9}\n", "a===+1 =\u{e9}\n"),
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

//! The encoding Base64 (RFC 2045, section 6.8), in which parts of messages are sent.

use mail_parser::decoders::base64::base64_decode;

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
    use super::base64;

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

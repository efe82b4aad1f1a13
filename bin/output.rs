//! Results on standard output: lines for people, tab-separated columns, or JSON.

use std::borrow::Cow;
use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::table::wrap;

/// Standard output, locked and buffered.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    width: usize,
    writer: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Standard output, for JSON if `json`.
    pub(crate) fn new(json: bool) -> Output {
        Output {
            json,
            width: width(),
            writer: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        }
    }

    /// Whether results are to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Characters that fit on a line of the terminal; no bound where standard output is none.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether somebody looks at a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.width < usize::MAX
    }

    /// Writes a line, wrapped between words where it does not fit the terminal.
    pub(crate) fn prose(&mut self, line: &str) -> io::Result<()> {
        for line in wrap(line, self.width) {
            self.line(line)?;
        }
        Ok(())
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.writer.write_all(line.as_ref().as_bytes())?;
        self.writer.write_all(b"\n")
    }

    /// Writes a key on a line of its own, or as it is with a NUL byte after it if `nul`.
    pub(crate) fn key(&mut self, key: &str, nul: bool) -> Result<()> {
        if !nul {
            return Ok(self.line(escape(key))?);
        }
        if key.contains('\0') {
            bail!("{key}: the key has a NUL byte in it; use --json");
        }
        self.bytes(key.as_bytes())?;
        Ok(self.bytes(b"\0")?)
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    /// Writes an object on a line of its own.
    pub(crate) fn object(&mut self, object: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, object)?;
        self.writer.write_all(b"\n")
    }

    /// Writes out what is buffered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(usize::MAX, |(width, _)| width.0.into())
}

/// Whether the reader of standard output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// A key or name as a field of a line: control characters and backslashes are spelled out (`\t`, `\n`,
/// `\u{1b}`, `\\`), so that a line stays a line, columns stay columns, and [`unescape`] gives it back.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    spelled(text, |c| c == '\\' || is_unprintable(c))
}

/// The text with its control characters spelled out, for people to read: a terminal shows nothing that
/// is not there.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    spelled(text, is_unprintable)
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

/// What [`escape`] made of it.
///
/// # Errors
///
/// A backslash begins none of the sequences that are written.
pub(crate) fn unescape(text: &str) -> Result<String> {
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
        let Some(c) = c else {
            bail!(
                "{text}: a backslash is followed by \\, t, n, r or u{{HEX}} where keys are escaped"
            );
        };
        plain.push(c);
        rest = next.as_str();
    }
    plain.push_str(rest);
    Ok(plain)
}

/// Whether the character moves the cursor, ends a line or turns the direction of writing.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::{escape, printable, unescape};

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(escape("a\tb\nc\u{1b}[1m"), "a\\tb\\nc\\u{1b}[1m");
        assert_eq!(escape("\u{202e}txt"), "\\u{202e}txt");
        assert_eq!(printable("日本 naïve \\ '"), "日本 naïve \\ '");
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
            assert!(unescape(wrong).is_err(), "{wrong}");
        }
    }
}

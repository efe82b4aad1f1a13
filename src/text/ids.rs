//! Text to integers that stand for shingles themselves.

use super::sink::Sink;
use super::unicode::{CharTable, ascii};
use crate::error::{Error, Result};

/// Gives each integer to the sink.
///
/// # Errors
///
/// [`Error::InvalidText`] at the first token that is no decimal integer below 2^64.
pub(super) fn read(text: &str, sink: &mut Sink<'_>) -> Result<()> {
    for (i, token) in text
        .split(is_white_space)
        .filter(|token| !token.is_empty())
        .enumerate()
    {
        let id = parse(token).ok_or_else(|| Error::InvalidText {
            reason: format!(
                "token {}: expected a decimal integer below 2^64, found \"{}\"",
                i + 1,
                super::quote(token)
            ),
        })?;
        sink.extend(std::iter::once(id));
    }
    Ok(())
}

/// Reads decimal digits; `u64::from_str` would take a plus sign too.
fn parse(token: &str) -> Option<u64> {
    token
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| token.parse().ok())?
}

fn is_white_space(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => ascii(byte).is_white_space(),
        _ => CharTable::get().entry(c.into()).is_white_space(),
    }
}

//! Text to integers that stand for shingles.

use super::sink::ShingleSink;
use super::unicode::{CharTable, ascii};
use crate::error::{Error, Result};

/// The number of digits with which every number is below 2^64.
const SAFE_DIGITS: usize = 19;

/// Passes each integer to the sink.
///
/// # Errors
///
/// [`Error::InvalidText`] at the first token that is not a decimal integer below 2^64.
pub(super) fn read(text: &str, sink: &mut ShingleSink<'_>) -> Result<()> {
    let (tokens, rest) = read_plain(text, sink);
    for (i, token) in rest
        .split(is_white_space)
        .filter(|token| !token.is_empty())
        .enumerate()
    {
        let id = parse(token).ok_or_else(|| Error::InvalidText {
            reason: format!(
                "token {}: expected a decimal integer below 2^64, found \"{}\"",
                tokens + i + 1,
                super::quote(token)
            ),
        })?;
        sink.extend(std::iter::once(id));
    }
    Ok(())
}

/// Passes the numbers at the beginning of the text to the sink, as long as they have few digits and stand between ASCII
/// white space. For most texts, this is all of it. Returns how many there are, and the rest of the text.
fn read_plain<'t>(text: &'t str, sink: &mut ShingleSink<'_>) -> (usize, &'t str) {
    let is_space = |byte: &u8| byte.is_ascii() && ascii(*byte).is_white_space();
    let (mut tokens, mut rest) = (0, text.as_bytes());
    loop {
        while rest.first().is_some_and(is_space) {
            rest = &rest[1..];
        }
        let (mut id, mut digits) = (0, 0);
        while let Some(digit @ b'0'..=b'9') = rest.get(digits)
            && digits < SAFE_DIGITS
        {
            id = 10 * id + u64::from(digit - b'0');
            digits += 1;
        }
        let is_whole = rest.get(digits).is_none_or(is_space);
        if digits == 0 || !is_whole {
            // Everything before is ASCII, so this is the start of a character.
            return (tokens, &text[text.len() - rest.len()..]);
        }
        sink.extend(std::iter::once(id));
        tokens += 1;
        rest = &rest[digits..];
    }
}

/// Parses decimal digits; `u64::from_str` would accept a plus sign too.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::hash;

    proptest! {
        #[test]
        fn ids_are_the_numbers_between_white_space(
            tokens in prop::collection::vec(
                prop_oneof![
                    6 => any::<u64>().prop_map(|id| id.to_string()),
                    2 => "[0-9]{17,21}",
                    1 => "[0-9x+é]{1,3}",
                ],
                0..9,
            ),
            spaces in prop::collection::vec("[ \t\n\u{b}\u{a0}\u{2003}]{1,2}", 9),
        ) {
            let text: String = tokens.iter().zip(&spaces).flat_map(|(token, space)| [&**token, space]).collect();
            let mut hashes = Vec::new();
            let read = read(&text, &mut ShingleSink::Hashes(&mut hashes));
            let numbers: Vec<Option<u64>> = tokens.iter().map(|token| parse(token)).collect();
            let good: Vec<u32> = numbers.iter().map_while(|id| id.map(hash::finish)).collect();
            match numbers.iter().position(Option::is_none) {
                None => prop_assert!(read.is_ok()),
                Some(bad) => {
                    let reason = read.unwrap_err().to_string();
                    prop_assert!(reason.contains(&format!("token {}: ", bad + 1)), "{reason}");
                }
            }
            prop_assert_eq!(hashes, good);
        }
    }
}

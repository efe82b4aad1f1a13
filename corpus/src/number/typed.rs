//! Parsing amounts that people type.

use std::time::Duration;

/// Milliseconds per unit.
const SPANS: [(&str, u64); 18] = [
    ("ms", 1),
    ("s", 1000),
    ("sec", 1000),
    ("second", 1000),
    ("seconds", 1000),
    ("min", 60_000),
    ("minute", 60_000),
    ("minutes", 60_000),
    ("h", 3_600_000),
    ("hour", 3_600_000),
    ("hours", 3_600_000),
    ("d", 86_400_000),
    ("day", 86_400_000),
    ("days", 86_400_000),
    ("w", 7 * 86_400_000),
    ("week", 7 * 86_400_000),
    ("weeks", 7 * 86_400_000),
    ("y", 365 * 86_400_000),
];

/// Bytes per unit.
const SIZES: [(&str, u64); 9] = [
    ("", 1),
    ("k", 1000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("ti", 1 << 40),
];

/// Parses a share above 0 and up to 1, such as `0.8` or `80%`. Returns `None` for any other text.
pub fn parse_share(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number / whole);
    share.filter(|share| *share > 0.0 && *share <= 1.0)
}

/// Parses a number of bytes, rounded down: `1000`, `500kB`, `64MiB` or `1.5GiB`. Returns `None` for any other text.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.strip_suffix('b').unwrap_or(&lower);
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &number[digits.len()..];
    let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
    times(digits.trim_end(), *bytes)
}

/// Parses a span of time, to the millisecond: `90d`, `12 hours`, `1.5h` or `500ms`, with a year of 365 days.
///
/// Returns `None` for any other text. The unit is not guessed: `m` is refused, since it may mean minutes or months.
pub fn parse_span(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let (_, milliseconds) = SPANS.iter().find(|(name, _)| *name == unit)?;
    times(number, *milliseconds).map(Duration::from_millis)
}

/// A decimal number of units, rounded down.
fn times(number: &str, unit: u64) -> Option<u64> {
    // The standard library also accepts a sign.
    if !number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return None;
    }
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit);
    }
    let (whole, part) = number.split_once('.')?;
    let scale = 10u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part = u128::from(part.parse::<u64>().ok()?) * u128::from(unit) / u128::from(scale);
    let whole = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    whole.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("0", 0),
            ("1000", 1000),
            ("1 kB", 1000),
            ("1KiB", 1024),
            ("64MiB", 64 << 20),
            ("64mib", 64 << 20),
            ("1.5G", 1_500_000_000),
            ("0.5KiB", 512),
            ("7b", 7),
            ("512MB", 512_000_000),
            ("1GiB", 1 << 30),
            ("2TiB", 2 << 40),
            ("2 t", 2_000_000_000_000),
        ] {
            assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        }
        for wrong in [
            "",
            "b",
            "-1",
            "+1",
            "1.+1",
            "1x",
            "1e3",
            ".5k",
            "1.k",
            "99999999999GiB",
        ] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shares_are_numbers_or_percent() {
        for (text, share) in [
            ("0.8", 0.8),
            ("80%", 0.8),
            (" 97.5 % ", 0.975),
            (".8", 0.8),
            ("1", 1.0),
        ] {
            assert_eq!(parse_share(text), Some(share));
        }
        for wrong in [
            "0", "1.01", "80", "101%", "nan", "inf", "", "%", "x", "0,8", "80%%",
        ] {
            assert_eq!(parse_share(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spans_are_numbers_with_a_unit() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("1s", 1000),
            ("30min", 1_800_000),
            ("12h", 43_200_000),
            ("1.5h", 5_400_000),
            ("90d", 7_776_000_000),
            (" 90 days", 7_776_000_000),
            ("2w", 1_209_600_000),
            ("1y", 31_536_000_000),
        ] {
            let span = Duration::from_millis(milliseconds);
            assert_eq!(parse_span(text), Some(span), "{text}");
        }
        for wrong in [
            "",
            " ",
            "d",
            "90",
            "-1d",
            "+1d",
            ".5d",
            "1.d",
            "1.2.3d",
            "30m",
            "1M",
            "1d2h",
            "90 d x",
            "99999999999999999999d",
            "9223372036854775807w",
            "٣d",
        ] {
            assert_eq!(parse_span(wrong), None, "{wrong:?}");
        }
    }
}

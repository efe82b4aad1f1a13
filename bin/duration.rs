//! Spans of time as people type them: `90d`, `12h`, `1.5h`, `500ms`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::parse::times;

/// How long ago something was, at least a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age(Duration);

/// Milliseconds of a unit.
const UNITS: [(&str, u64); 18] = [
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

/// Parses an age, whose unit is not guessed.
pub(crate) fn age(text: &str) -> Result<Age, String> {
    const HELP: &str = "give a number above 0 with s, min, h, d, w or y, such as 90d or 12h";
    let age = parse(text, None, HELP)?;
    if age < Duration::from_secs(1) {
        return Err(HELP.to_owned());
    }
    Ok(Age(age))
}

/// Parses a time to wait, in seconds where no unit is given.
pub(crate) fn wait(text: &str) -> Result<Duration, String> {
    const HELP: &str = "give seconds, or a number with ms, s, min, h or d, such as 30s or 2min";
    parse(text, Some("s"), HELP)
}

fn parse(text: &str, bare: Option<&str>, help: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = match (unit.trim_start(), bare) {
        // What removes documents does not guess, and a wait follows the same rule.
        ("m", _) => {
            return Err(format!(
                "m may be minutes or months: give {number}min or days"
            ));
        }
        ("", None) if !number.is_empty() => return Err(format!("the unit is missing: {help}")),
        ("", Some(bare)) => bare,
        (unit, _) => unit,
    };
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let millis = unit.and_then(|&(_, millis)| times(number, millis));
    millis
        .map(Duration::from_millis)
        .ok_or_else(|| help.to_owned())
}

impl Age {
    /// The moment so long ago, to the second as times of adding are; what is older was added before it.
    pub(crate) fn ago(self) -> SystemTime {
        #[expect(
            clippy::disallowed_methods,
            reason = "how old a document is can only be told by the clock"
        )]
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        UNIX_EPOCH + Duration::from_secs(now.saturating_sub(self.0.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::{age, wait};

    #[test]
    fn ages_are_numbers_with_a_unit() {
        for (text, seconds) in [
            ("1s", 1),
            ("30min", 1800),
            ("12h", 43_200),
            ("1.5h", 5400),
            ("90d", 7_776_000),
            ("90 days", 7_776_000),
            ("2w", 1_209_600),
            ("1y", 31_536_000),
        ] {
            assert_eq!(age(text).unwrap().0.as_secs(), seconds, "{text}");
        }
        for wrong in [
            "",
            " ",
            "d",
            "90",
            "0d",
            "500ms",
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
            assert!(age(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_wait_is_in_seconds_unless_it_says_otherwise() {
        for (text, millis) in [
            ("0", 0),
            ("30", 30_000),
            ("30s", 30_000),
            ("0.5", 500),
            ("500ms", 500),
            ("2min", 120_000),
            ("1 h", 3_600_000),
        ] {
            assert_eq!(wait(text).unwrap().as_millis(), millis, "{text}");
        }
        for wrong in ["", "s", "-1", "2m", "1e3", "inf", "nan", "soon"] {
            assert!(wait(wrong).is_err(), "{wrong:?}");
        }
    }
}

//! Ages as people type them: `90d`, `12h`, `2w`.

use std::time::{SystemTime, UNIX_EPOCH};

/// A span of time, at least a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age {
    seconds: i64,
}

const HELP: &str = "give a whole number above 0 with s, min, h, d, w or y, such as 90d or 12h";

/// Parses an age.
pub(crate) fn parse(text: &str) -> Result<Age, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = match unit.trim_start() {
        "s" | "sec" | "second" | "seconds" => 1,
        "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        "y" | "year" | "years" => 365 * 86_400,
        // What removes documents does not guess.
        "m" => return Err("m may be minutes or months: give 30min or 30d".to_owned()),
        "" if !number.is_empty() => return Err(format!("the unit is missing: {HELP}")),
        _ => return Err(HELP.to_owned()),
    };
    let number = number.parse::<i64>().ok().filter(|number| *number > 0);
    number
        .and_then(|number| number.checked_mul(unit))
        .map(|seconds| Age { seconds })
        .ok_or_else(|| HELP.to_owned())
}

impl Age {
    /// The moment so long ago, in seconds since 1970; what is older was added before it.
    pub(crate) fn ago(self) -> i64 {
        #[expect(
            clippy::disallowed_methods,
            reason = "how old a document is can only be told by the clock"
        )]
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        now.saturating_sub(self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn ages_are_numbers_with_a_unit() {
        for (text, seconds) in [
            ("1s", 1),
            ("30min", 1800),
            ("12h", 43_200),
            ("90d", 7_776_000),
            ("90 days", 7_776_000),
            ("2w", 1_209_600),
            ("1y", 31_536_000),
        ] {
            assert_eq!(parse(text).unwrap().seconds, seconds, "{text}");
        }
        for wrong in [
            "",
            " ",
            "d",
            "90",
            "0d",
            "-1d",
            "+1d",
            "1.5d",
            "30m",
            "1M",
            "1d2h",
            "90 d x",
            "99999999999999999999d",
            "9223372036854775807w",
            "٣d",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}

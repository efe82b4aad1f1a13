//! Spans of time as arguments.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dedupdb_corpus::number::parse_span;

/// An age of at least a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgeArg(Duration);

/// Parses an age. Its unit is never guessed.
pub(crate) fn age(text: &str) -> Result<AgeArg, String> {
    const HELP: &str = "give a number above 0 with s, min, h, d, w or y, such as 90d or 12h";
    if is_number(text) {
        return Err(format!("the unit is missing: {HELP}"));
    }
    let age = parse(text, HELP)?;
    if age < Duration::from_secs(1) {
        return Err(HELP.to_owned());
    }
    Ok(AgeArg(age))
}

/// Parses a time to wait. Without a unit, it is in seconds.
pub(crate) fn wait(text: &str) -> Result<Duration, String> {
    const HELP: &str = "give seconds, or a number with ms, s, min, h or d, such as 30s or 2min";
    if is_number(text) {
        return parse(&format!("{}s", text.trim()), HELP);
    }
    parse(text, HELP)
}

fn is_number(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn parse(text: &str, help: &str) -> Result<Duration, String> {
    // A command that removes documents must not guess, and a wait follows the same rule.
    if let Some(number) = text.trim().strip_suffix('m').filter(|text| is_number(text)) {
        let number = number.trim_end();
        return Err(format!(
            "m may be minutes or months: give {number}min or days"
        ));
    }
    parse_span(text).ok_or_else(|| help.to_owned())
}

impl AgeArg {
    /// The moment this long ago, in whole seconds as the times of adding are. Documents that are older were added
    /// before it.
    pub(crate) fn ago(self) -> SystemTime {
        #[expect(
            clippy::disallowed_methods,
            reason = "only the clock says how old a document is"
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
    fn an_age_has_a_unit_and_a_wait_is_in_seconds_unless_it_says_otherwise() {
        assert_eq!(age("1.5h").unwrap().0.as_secs(), 5400);
        for (text, reason) in [
            ("90", "the unit is missing"),
            ("30m", "give 30min or days"),
            ("0d", "give a number above 0"),
            ("500ms", "give a number above 0"),
        ] {
            assert!(age(text).unwrap_err().contains(reason), "{text}");
        }
        for (text, millis) in [("0", 0), ("30", 30_000), ("0.5", 500), ("1 h", 3_600_000)] {
            assert_eq!(wait(text).unwrap().as_millis(), millis, "{text}");
        }
        for wrong in ["", "s", "-1", "2m", "1e3", "inf", "nan", "soon"] {
            assert!(wait(wrong).is_err(), "{wrong:?}");
        }
    }
}

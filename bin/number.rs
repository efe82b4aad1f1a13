//! Numbers as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) use dedupdb::plot::{bytes, counted, grouped, percent};
use dedupdb::sketching::Estimate;

/// A share in percent to two significant digits at least, for those that are near 0.
pub(crate) fn small_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 || percent <= 0.0 {
        return dedupdb::plot::percent(share);
    }
    let decimals = (1..12).find(|&decimals| percent * 10f64.powi(decimals) >= 10.0);
    let decimals = decimals.and_then(|decimals| usize::try_from(decimals).ok());
    format!("{percent:.*}%", decimals.unwrap_or(12))
}

/// Seconds to three significant digits, in the unit that fits.
pub(crate) fn seconds(seconds: f64) -> String {
    let (value, unit) = [(1.0, "s"), (1e3, "ms"), (1e6, "us")]
        .into_iter()
        .map(|(scale, unit)| (seconds * scale, unit))
        .find(|(value, _)| *value >= 1.0)
        .unwrap_or((seconds * 1e9, "ns"));
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {unit}")
}

/// Nanoseconds from 1970 to a time, negative before; as far as 64 bits go.
pub(crate) fn unix_nanoseconds(time: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

/// Whole seconds from 1970 to a time, negative before.
pub(crate) fn unix_seconds(time: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => {
            let span = before.duration();
            -whole(span) - i64::from(span.subsec_nanos() > 0)
        }
    }
}

/// The day and time in UTC, as ISO 8601 has it, to the second.
pub(crate) fn utc(time: SystemTime) -> String {
    let seconds = unix_seconds(time);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days from 1 March of the year 0, in eras of 400 years of 146,097 days; a year begins with
    // March, so that a leap day is its last.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year + era * 400 + next;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// A similarity to four decimals; an estimate is marked and has its standard error.
pub(crate) fn similarity(jaccard: Option<f64>, estimate: Estimate) -> String {
    match jaccard {
        Some(jaccard) => format!("{jaccard:.4}"),
        None => format!("~{:.4}±{:.4}", estimate.jaccard, estimate.error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{seconds, small_percent, utc};

    #[test]
    fn small_shares_keep_two_digits() {
        assert_eq!(small_percent(0.0), "0.0%");
        assert_eq!(small_percent(0.000_012_345), "0.0012%");
        assert_eq!(small_percent(0.0345), "3.5%");
        assert_eq!(small_percent(0.345), "34.5%");
        assert_eq!(small_percent(1.0), "100%");
    }

    #[test]
    fn seconds_have_three_digits() {
        assert_eq!(seconds(0.0), "0.00 ns");
        assert_eq!(seconds(0.000_012_34), "12.3 us");
        assert_eq!(seconds(0.5), "500 ms");
        assert_eq!(seconds(61.5), "61.5 s");
        assert_eq!(seconds(1234.5), "1234 s");
    }

    #[test]
    fn days_follow_the_calendar() {
        let at = |seconds: i64| {
            let span = Duration::from_secs(seconds.unsigned_abs());
            utc(if seconds < 0 {
                UNIX_EPOCH - span
            } else {
                UNIX_EPOCH + span
            })
        };
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(-1), "1969-12-31T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}

//! Calendar times.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds from the start of 1970 to a time, saturating at 64 bits. Negative for earlier times.
pub fn unix_nanoseconds(time: SystemTime) -> i64 {
    let most = if time < UNIX_EPOCH {
        -i64::MAX
    } else {
        i64::MAX
    };
    nanoseconds(time).unwrap_or(most)
}

/// Nanoseconds from the start of 1970 to a time; `None` if they do not fit, before 1677 or after 2262.
pub(crate) fn nanoseconds(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => {
            let nanoseconds = i64::try_from(before.duration().as_nanos()).ok();
            nanoseconds.map(|nanoseconds| -nanoseconds)
        }
    }
}

/// The time `nanoseconds` after the start of 1970, or that start if the system cannot represent it.
pub(crate) fn at_nanoseconds(nanoseconds: i64) -> SystemTime {
    let span = Duration::from_nanos(nanoseconds.unsigned_abs());
    let time = if nanoseconds < 0 {
        UNIX_EPOCH.checked_sub(span)
    } else {
        UNIX_EPOCH.checked_add(span)
    };
    time.unwrap_or(UNIX_EPOCH)
}

/// Whole seconds from the start of 1970 to a time, rounded down. Negative for earlier times.
pub fn unix_seconds(time: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => {
            let span = before.duration();
            -whole(span) - i64::from(span.subsec_nanos() > 0)
        }
    }
}

/// Returns the modification time of a file, if it can be stored.
pub(crate) fn modified(metadata: &Metadata) -> Option<SystemTime> {
    let modified = metadata.modified().ok();
    modified.filter(|modified| nanoseconds(*modified).is_some())
}

/// The date and time in UTC in ISO 8601 format, to the second: `2024-02-29T23:59:59Z`.
pub fn utc(time: SystemTime) -> String {
    let seconds = unix_seconds(time);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", date(day))
}

/// The date of a time in UTC in ISO 8601 format: `2024-02-29`.
pub fn utc_date(time: SystemTime) -> String {
    date(unix_seconds(time).div_euclid(86_400))
}

/// The Gregorian date `days` days after 1 January 1970, in ISO 8601 format: `2024-02-29`.
pub fn date(days: impl Into<i128>) -> String {
    // Eras of 400 years start on 1 March of year 0. A year begins in March, so that a leap day is its last day.
    const ERA: i128 = 146_097;
    let days = days.into().saturating_add(719_468);
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = era * 400 + year + next;
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(date(-719_529), "-001-12-31");
        assert!(date(i128::MAX).len() > 20);
    }
}

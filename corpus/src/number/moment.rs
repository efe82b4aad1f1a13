//! Dates and times as people and programs write them.

use super::times::date;

/// Returns the seconds since 1970 and the nanoseconds of a date or time of ISO 8601: `2024-02`, `2024-02-29`,
/// `2024-02-29T23:59Z`, `2024-02-29 23:59:59.5+01:00`. Without an offset, it is in UTC.
pub(crate) fn moment(text: &str) -> Option<(i64, u32)> {
    let (day, time) = match text.split_once(['T', 't', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let days = days(day)?;
    let (seconds, nanoseconds) = time.map_or(Some((0, 0)), time_of_day)?;
    Some((days * 86_400 + seconds, nanoseconds))
}

/// Returns the number of days after 1 January 1970, of a day or of the first day of a month.
fn days(day: &str) -> Option<i64> {
    let (year, rest) = day.split_once('-')?;
    let (month, number) = rest.split_once('-').unwrap_or((rest, "01"));
    let [year, month, number] = [digits(year, 4)?, digits(month, 2)?, digits(number, 2)?];
    // A year begins in March, so that a leap day is its last day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + number - 1 - 719_468;
    // The calendar has it.
    date(days).starts_with(day).then_some(days)
}

/// Returns the seconds and nanoseconds after midnight in UTC.
fn time_of_day(time: &str) -> Option<(i64, u32)> {
    let (clock, offset) = match time.find(['Z', 'z', '+', '-', ' ']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    let (clock, part) = clock.split_once(['.', ',']).unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let hours = digits(parts.next()?, 2)?;
    let minutes = digits(parts.next()?, 2)?;
    let seconds = parts.next().map_or(Some(0), |it| digits(it, 2))?;
    let is_time = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
    let part = part.get(..9).unwrap_or(part);
    let nanoseconds = digits(part, part.len())? * 10_i64.pow(9 - u32::try_from(part.len()).ok()?);
    let all = hours * 3600 + minutes * 60 + seconds - offset_of(offset.trim_start())?;
    Some((all, u32::try_from(nanoseconds).ok()?)).filter(|_| is_time)
}

/// Returns an offset from UTC in seconds.
fn offset_of(offset: &str) -> Option<i64> {
    if ["", "z", "utc", "gmt"].contains(&&*offset.to_ascii_lowercase()) {
        return Some(0);
    }
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let size = offset.strip_prefix(['+', '-'])?;
    let (hours, minutes) = match size.split_once(':') {
        Some(parts) => parts,
        None => size.split_at_checked(2)?,
    };
    let minutes = if minutes.is_empty() { "00" } else { minutes };
    Some(sign * (digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60))
}

/// Returns the number that has this many decimal digits.
fn digits(text: &str, length: usize) -> Option<i64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{days, moment};
    use crate::number::date;

    #[test]
    fn days_are_those_that_dates_come_from() {
        for day in (-719_162..2_932_896).step_by(7) {
            assert_eq!(days(&date(day)), Some(day));
        }
        for wrong in [
            "2023-02-29",
            "2024-00-01",
            "2024-13-01",
            "2024-04-31",
            "24-01-01",
        ] {
            assert_eq!(days(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_in_utc() {
        for (text, seconds, nanoseconds) in [
            ("1970-01-02", 86_400, 0),
            ("1970-02", 31 * 86_400, 0),
            ("1970-01-01T00:01", 60, 0),
            ("1970-01-01 00:00:01.5Z", 1, 500_000_000),
            ("1970-01-01t00:00:01,0000000019z", 1, 1),
            ("1970-01-01T00:00:00+01:00", -3600, 0),
            ("1970-01-01T00:00:00.25-0130", 5400, 250_000_000),
            ("1970-01-01 02:00:00 +02", 0, 0),
            ("1970-01-01 00:00:60 UTC", 60, 0),
        ] {
            assert_eq!(moment(text), Some((seconds, nanoseconds)), "{text}");
        }
        for other in [
            "1970",
            "1970-01-01T",
            "1970-01-01T24:00",
            "1970-01-01T00:60",
            "1970-01-01T00:00:00.",
            "é-01-01",
            "1970-01-01T00:00+1",
            "1970-01-01T00:00é",
            "1970-01-01 noon",
            "70-01-01",
            "1970-01-01T00:00:00.0é",
        ] {
            assert_eq!(moment(other), None, "{other}");
        }
    }
}

//! Formatting numbers with their nouns and units.

/// The number with a comma between groups of three digits: `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The number with its noun, which is in the plural unless the number is 1: `12,345 texts`.
pub fn counted(number: u64, singular: &str, plural: &str) -> String {
    let noun = if number == 1 { singular } else { plural };
    format!("{} {noun}", grouped(number))
}

/// A share from 0 to 1 in percent, never rounded up to 100: `97.5%`, `99.99%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share >= 1.0 {
        "100%".to_owned()
    } else if percent >= 99.95 {
        format!("{:.2}%", percent.min(99.99))
    } else {
        format!("{percent:.1}%")
    }
}

/// Bytes in the decimal unit that leaves one to three digits before the point: `1.0 kB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1000.0;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    // A value that would be rounded to 1000 becomes 1 of the next unit.
    while value >= 999.95 {
        value /= 1000.0;
        unit = units.next().or(unit);
    }
    format!("{value:.1} {}", unit.copied().unwrap_or_default())
}

/// Seconds to three significant digits, in the unit that fits: `12.3 us`.
pub fn seconds(seconds: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::{bytes, grouped, percent, seconds};

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn percent_is_100_only_for_all() {
        assert_eq!(percent(0.5), "50.0%");
        assert_eq!(percent(0.99999), "99.99%");
        assert_eq!(percent(1.0), "100%");
    }

    #[test]
    fn bytes_have_one_to_three_digits_before_the_point() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(999_949), "999.9 kB");
        assert_eq!(bytes(999_950), "1.0 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
    }

    #[test]
    fn seconds_have_three_digits() {
        assert_eq!(seconds(0.0), "0.00 ns");
        assert_eq!(seconds(0.000_012_34), "12.3 us");
        assert_eq!(seconds(0.5), "500 ms");
        assert_eq!(seconds(61.5), "61.5 s");
        assert_eq!(seconds(1234.5), "1234 s");
    }
}

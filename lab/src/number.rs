//! Formatting numbers with their nouns and units.

use dedupdb::sketching::Bands;

/// The number with a comma between groups of three digits: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
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
pub(crate) fn counted(number: u64, singular: &str, plural: &str) -> String {
    let noun = if number == 1 { singular } else { plural };
    format!("{} {noun}", grouped(number))
}

/// A share from 0 to 1 in percent, never rounded up to 100: `97.5%`, `99.99%`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share >= 1.0 {
        "100%".to_owned()
    } else if percent >= 99.95 {
        format!("{:.2}%", percent.min(99.99))
    } else {
        format!("{percent:.1}%")
    }
}

/// A share from 0 to 1 in percent, with at least two significant digits for shares near 0: `0.0012%`.
pub(crate) fn small_percent(share: f64) -> String {
    let in_percent = share * 100.0;
    if in_percent >= 10.0 || in_percent <= 0.0 {
        return percent(share);
    }
    let decimals = (1_u8..12).find(|&decimals| in_percent * 10f64.powi(decimals.into()) >= 10.0);
    format!("{in_percent:.*}%", decimals.map_or(12, usize::from))
}

/// Seconds to three significant digits, in the unit that fits: `12.3 us`.
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

/// Both numbers of a shape with their nouns: `17 bands of 7 rows`.
pub(crate) fn shape(bands: Bands) -> String {
    let (count, rows) = (bands.bands().into(), bands.rows().into());
    format!(
        "{} of {}",
        counted(count, "band", "bands"),
        counted(rows, "row", "rows")
    )
}

#[cfg(test)]
mod tests {
    use super::{percent, seconds, small_percent};

    #[test]
    fn percent_is_100_only_for_all() {
        assert_eq!(percent(0.5), "50.0%");
        assert_eq!(percent(0.99999), "99.99%");
        assert_eq!(percent(1.0), "100%");
    }

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
}

//! Similarities.

/// Returns a similarity from 0 to 1 with four decimals. `1.0000` means 1: the largest number below it is shown as
/// `0.9999`.
///
/// ```
/// use dedupdb_corpus::number::four_decimals;
///
/// assert_eq!(four_decimals(2.0 / 3.0), "0.6667");
/// assert_eq!(four_decimals(0.999_99), "0.9999");
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is 0 to 10,000"
)]
pub fn four_decimals(similarity: f64) -> String {
    // Of a list of matches, `{:.4}` would take a tenth of the time: it asks for all digits of a number such as 0.875.
    let most = if similarity < 1.0 { 9_999.0 } else { 10_000.0 };
    let units = (similarity * 10_000.0).round_ties_even().clamp(0.0, most) as u32;
    format!("{}.{:04}", units / 10_000, units % 10_000)
}

#[cfg(test)]
mod tests {
    use super::four_decimals;

    #[test]
    fn only_one_is_shown_as_one() {
        assert_eq!(four_decimals(1.0), "1.0000");
        for below in [0.999_9, 0.999_96, 1.0_f64.next_down()] {
            assert_eq!(four_decimals(below), "0.9999", "{below}");
        }
    }

    #[test]
    fn shares_are_rounded_to_the_nearest() {
        for whole in 1..400_u32 {
            for part in 0..whole {
                let share = f64::from(part) / f64::from(whole);
                let shown = four_decimals(share).parse::<f64>().unwrap();
                assert!(
                    (shown - share).abs() <= 0.000_050_000_001,
                    "{part} of {whole}"
                );
            }
        }
        assert_eq!(four_decimals(0.0), "0.0000");
        assert_eq!(four_decimals(0.007), "0.0070");
    }
}

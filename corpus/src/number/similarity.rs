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
pub fn four_decimals(similarity: f64) -> String {
    let rounded = format!("{similarity:.4}");
    if rounded == "1.0000" && similarity < 1.0 {
        return "0.9999".to_owned();
    }
    rounded
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
}

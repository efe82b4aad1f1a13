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
    let rounded = rounded(similarity);
    if rounded == "1.0000" && similarity < 1.0 {
        return "0.9999".to_owned();
    }
    rounded
}

/// The number as `{:.4}` shows it: rounded to the nearest four decimals, with ties to even.
///
/// Numbers from 0 to 1 are taken apart into integers, which is faster and just as exact.
fn rounded(number: f64) -> String {
    // 0 to 1 - 2^-53 without the sign.
    let bits = number.to_bits();
    let exponent = bits >> 52;
    if !(1023 - 64..1023).contains(&exponent) {
        return format!("{number:.4}");
    }
    // The number is mantissa / 2^scale.
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let scale = 1075 - exponent;
    let scaled = u128::from(mantissa) * 10_000;
    let (whole, rest) = (scaled >> scale, scaled & ((1 << scale) - 1));
    let half = 1 << (scale - 1);
    let is_up = rest > half || rest == half && whole % 2 == 1;
    let units = whole + u128::from(is_up);
    let digit = |unit: u128| char::from(b'0' + u8::try_from(units / unit % 10).unwrap_or(0));
    [
        digit(10_000),
        '.',
        digit(1000),
        digit(100),
        digit(10),
        digit(1),
    ]
    .iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{four_decimals, rounded};

    #[test]
    fn only_one_is_shown_as_one() {
        assert_eq!(four_decimals(1.0), "1.0000");
        for below in [0.999_9, 0.999_96, 1.0_f64.next_down()] {
            assert_eq!(four_decimals(below), "0.9999", "{below}");
        }
    }

    #[test]
    fn four_decimals_are_those_of_the_standard_library() {
        let check = |number: f64| assert_eq!(rounded(number), format!("{number:.4}"), "{number:e}");
        for whole in 1..1500_u32 {
            for part in 0..=whole {
                check(f64::from(part) / f64::from(whole));
            }
        }
        // Exactly between two numbers with four decimals, and next to that.
        for part in 0..=64_u32 {
            let number = f64::from(part) / 64.0;
            [number, number.next_up(), number.next_down()]
                .into_iter()
                .for_each(check);
        }
        for part in 0..20_000_u32 {
            let number = f64::from(part) / 20_000.0;
            [number, number.next_up(), number.next_down()]
                .into_iter()
                .for_each(check);
        }
        for exponent in -1080..3 {
            let number = 2_f64.powi(exponent);
            [number, number.next_up(), number.next_down(), number * 1.5]
                .into_iter()
                .for_each(check);
        }
        [-0.0, -0.3, f64::NAN, f64::INFINITY, 12.345_65]
            .into_iter()
            .for_each(check);
    }
}

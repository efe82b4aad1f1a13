//! Numbers in a form for people.

pub(crate) use dedupdb::number::{
    bytes, counted, grouped, percent, seconds, unix_nanoseconds, unix_seconds, utc,
};
use dedupdb::sketching::Estimate;

/// A similarity with four decimals. An estimate is marked and has its standard error.
pub(crate) fn similarity(jaccard: Option<f64>, estimate: Estimate) -> String {
    match jaccard {
        Some(jaccard) => four_decimals(jaccard),
        None => format!("~{:.4}±{:.4}", estimate.jaccard, estimate.error),
    }
}

/// An estimate with four decimals and its standard error, unless that is 0.
pub(crate) fn estimated(estimate: Estimate) -> String {
    let jaccard = four_decimals(estimate.jaccard);
    if estimate.error > 0.0 {
        return format!("{jaccard} ± {:.4}", estimate.error);
    }
    jaccard
}

/// The number as `{:.4}` shows it: rounded to the nearest four decimals, with ties to even.
///
/// Numbers from 0 to 1 are taken apart into integers, which is faster and just as exact.
fn four_decimals(number: f64) -> String {
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
    let rounded = whole + u128::from(is_up);
    let digit = |unit: u128| char::from(b'0' + u8::try_from(rounded / unit % 10).unwrap_or(0));
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
    use super::four_decimals;

    #[test]
    fn four_decimals_are_those_of_the_standard_library() {
        let check =
            |number: f64| assert_eq!(four_decimals(number), format!("{number:.4}"), "{number:e}");
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

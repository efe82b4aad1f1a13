//! Values of any kind as bytes that sort as the values do.

use crate::number::moment;

/// The number of bytes or digits of a value that count.
const MOST: usize = 1024;

/// The kinds of values, in the sequence in which they come.
const NUMBER: u8 = 0;
const MOMENT: u8 = 1;
const FLAG: u8 = 2;
const TEXT: u8 = 3;
const NOTHING: u8 = u8::MAX;

/// Adds the place of a value among the [keys](push_ranked) of some values. Returns whether there is a value.
pub(super) fn push_position(value: Option<&str>, values: &[Vec<u8>], key: &mut Vec<u8>) -> bool {
    let mut own = Vec::new();
    let has_value = push_ranked(value, false, &mut own);
    let place = (0..).zip(values).find(|(_, it)| has_value && **it == own);
    let other = if has_value { i64::MAX - 1 } else { i64::MAX };
    push_integer(place.map_or(other, |(place, _)| place), key);
    has_value
}

/// Adds the bytes of a value. Returns whether there is one; nothing comes last in either direction.
pub(super) fn push_ranked(value: Option<&str>, is_largest_first: bool, key: &mut Vec<u8>) -> bool {
    let Some(value) = given(value) else {
        key.push(NOTHING);
        return false;
    };
    // The kind comes first, and is known once the value is read as that kind.
    let kind = key.len();
    key.push(TEXT);
    if push_number(value, key) {
        key[kind] = NUMBER;
    } else if let Some((seconds, nanoseconds)) = moment(value) {
        key[kind] = MOMENT;
        push_integer(seconds, key);
        push_integer(nanoseconds.into(), key);
    } else if ["false", "true"]
        .iter()
        .any(|it| value.eq_ignore_ascii_case(it))
    {
        key[kind] = FLAG;
        key.push(u8::from(value.eq_ignore_ascii_case("true")));
    } else {
        push_text(value, key);
    }
    // Flipped bytes sort in the other direction. The kinds keep theirs.
    if is_largest_first {
        flip(&mut key[kind + 1..]);
    }
    true
}

/// Returns a value without the spaces around it, if it is one.
fn given(value: Option<&str>) -> Option<&str> {
    let value = value?.trim();
    let unsigned = value.trim_start_matches(['+', '-']);
    let is_odd = ["nan", "inf", "infinity"]
        .iter()
        .any(|it| unsigned.eq_ignore_ascii_case(it));
    (!value.is_empty() && !is_odd).then_some(value)
}

/// Adds an integer, its highest byte first. Negative ones sort first.
fn push_integer(integer: i64, key: &mut Vec<u8>) {
    let bytes = (integer ^ i64::MIN).to_le_bytes();
    key.extend(bytes.iter().rev());
}

/// Adds a text and its end, which sorts before all other bytes.
fn push_text(text: &str, key: &mut Vec<u8>) {
    for &byte in text.as_bytes().iter().take(MOST) {
        key.push(byte);
        if byte == 0 {
            key.push(1);
        }
    }
    key.extend([0, 0]);
}

/// Adds a number as its sign, its exponent and its digits. Returns false and adds nothing if the text is not a number.
fn push_number(text: &str, key: &mut Vec<u8>) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, exponent(power)),
        None => (unsigned, Some(0)),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_digits(whole) && is_digits(part) && !(whole.is_empty() && part.is_empty());
    let (Some(power), true) = (power, is_number) else {
        return false;
    };
    // Without zeros at either end, equal numbers have equal bytes.
    let digits = || whole.bytes().chain(part.bytes());
    let zeros = digits().take_while(|&digit| digit == b'0').count();
    let significant = digits().skip(zeros).take(MOST);
    let mut significant: Vec<u8> = significant.collect();
    let last = significant.iter().rposition(|&digit| digit != b'0');
    significant.truncate(last.map_or(0, |last| last + 1));
    let is_negative = text.starts_with('-');
    if significant.is_empty() {
        key.push(1);
        return true;
    }
    key.push(if is_negative { 0 } else { 2 });
    let start = key.len();
    // The number is 0.DIGITS times ten to this power.
    let [whole, zeros] = [whole.len(), zeros].map(|it| i64::try_from(it).unwrap_or(i64::MAX));
    push_integer(power + (whole - zeros), key);
    key.extend(significant);
    // The end is below all digits, so of numbers that begin alike the shorter one is smaller.
    key.push(0);
    if is_negative {
        flip(&mut key[start..]);
    }
    true
}

/// Returns the number after an `e`. One of too many digits is as large as any.
fn exponent(text: &str) -> Option<i64> {
    const LARGEST: i64 = 1 << 40;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(LARGEST).min(LARGEST);
    Some(if text.starts_with('-') { -size } else { size })
}

fn flip(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

#[cfg(test)]
mod tests {
    use super::{push_position, push_ranked};

    fn key(value: &str, is_largest_first: bool) -> Vec<u8> {
        let mut key = Vec::new();
        let has = push_ranked(Some(value), is_largest_first, &mut key);
        assert_eq!(has, key != [u8::MAX], "{value}");
        // A value of the next field follows.
        key.push(0x80);
        key
    }

    /// In this order if the smallest come first. Those in one row are equal.
    const KINDS: [&[&[&str]]; 4] = [
        &[
            &["-1e400"],
            &["-18446744073709551617"],
            &["-9007199254740993"],
            &["-9007199254740992", "-9007199254740992.0"],
            &["-2"],
            &["-1.5", " -15e-1 "],
            &["-1e-400"],
            &["0", "-0", "0.00", "0e9", "+0"],
            &["1e-99999999999999999999999"],
            &["0.09"],
            &["0.1", ".1", "1e-1", "0.10"],
            &["0.30000000000000004"],
            &["1", "1.", "01", "100e-2"],
            &["9"],
            &["9.5"],
            &["10", "1E+1"],
            &["9007199254740992"],
            &["9007199254740993"],
            &["123456789012345678901234567890.1"],
            &["123456789012345678901234567890.2"],
            &["1e99999999999999999999999"],
        ],
        &[
            &["0001-01-01"],
            &["1969-12-31T23:59:59.999Z"],
            &[
                "1970-01-01",
                "1970-01",
                "1970-01-01T00:00Z",
                "1970-01-01 01:30:00+01:30",
            ],
            &["1970-01-01T00:00:00.5"],
            &["2024-02-29", "2024-02-28T19:00-0500"],
            &[
                "2024-02-29T12:00:00.000001Z",
                "2024-02-29 12:00:00.000001 UTC",
            ],
            &["2024-02-29T12:00:00.000001001Z"],
            &["9999-12-31T23:59:60Z"],
        ],
        &[&["false", "False"], &["true", "TRUE"]],
        &[
            &["1,234"],
            &["1e"],
            &["2023-02-29"],
            &["2024-01-01T25:00"],
            &["a"],
            &["a\u{0}"],
            &["a\u{0}b"],
            &["a\u{1}"],
            &["ab"],
            &["é"],
        ],
    ];

    #[test]
    fn keys_sort_as_values_do() {
        for is_largest_first in [false, true] {
            let mut last: Vec<u8> = Vec::new();
            for kind in KINDS {
                let mut rows = kind.to_vec();
                if is_largest_first {
                    rows.reverse();
                }
                for row in rows {
                    let keys: Vec<_> = row.iter().map(|it| key(it, is_largest_first)).collect();
                    assert!(keys.iter().all(|it| *it == keys[0]), "{row:?} {keys:?}");
                    assert!(last < keys[0], "{row:?}");
                    last.clone_from(&keys[0]);
                }
            }
            for nothing in ["", " ", "NaN", "-inf", "Infinity"] {
                assert!(key(nothing, is_largest_first) > last, "{nothing}");
            }
        }
    }

    #[test]
    fn preferred_values_come_first() {
        let values = ["NaN", "wiki", "1", "2024-01-01", "True"].map(|value| {
            let mut key = Vec::new();
            push_ranked(Some(value), false, &mut key);
            key
        });
        let place = |value| {
            let mut key = Vec::new();
            (push_position(value, &values, &mut key), key)
        };
        let found = [Some("wiki"), Some("1 "), Some("other"), Some(""), None].map(place);
        assert_eq!(
            found.clone().map(|it| it.0),
            [true, true, true, false, false]
        );
        assert!(found.windows(2).take(3).all(|it| it[0].1 < it[1].1));
        assert_eq!(place(Some("other")), place(Some("Wiki")));
        // Values that have one place in an order are one value.
        for (one, other) in [
            ("1", "1.0"),
            ("2024-01-01", "2024-01-01T00:00:00.000000"),
            ("true", "True"),
        ] {
            assert_eq!(place(Some(one)), place(Some(other)));
            assert!(place(Some(one)) < place(Some("other")), "{one}");
        }
    }
}

//! Typed values as the texts of keys.

use std::fmt::Write as _;

use crate::number::date;

/// The type of a column of ids, as Parquet and Arrow have them. Equal values have equal texts, wherever they are read.
///
/// ```
/// use dedupdb_corpus::IdType;
///
/// assert_eq!(IdType::Integer.integer(-7), "-7");
/// assert_eq!(IdType::Decimal(2).integer(1230), "12.30");
/// assert_eq!(IdType::Date.integer(11_016), "2000-02-29");
/// assert_eq!(IdType::Timestamp(3, true).integer(86_400_500), "1970-01-02T00:00:00.500Z");
/// assert_eq!(IdType::Bytes.bytes(&[0, 255]).as_deref(), Some("00ff"));
/// assert_eq!(IdType::Text.bytes(&[0xff]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdType {
    /// Characters in UTF-8.
    Text,
    /// Bytes, as hexadecimal digits.
    Bytes,
    /// 16 bytes, as digits with hyphens.
    Uuid,
    /// 0 or 1, as `false` or `true`.
    Boolean,
    /// A number.
    Integer,
    /// A number with N digits behind the point.
    Decimal(i32),
    /// Days since 1970.
    Date,
    /// A time of day in seconds with N decimal places. Digits that are zero are left out by threes.
    Time(u32),
    /// Seconds since 1970 with N decimal places. If it is a moment, and not the time that a clock shows somewhere,
    /// it is in UTC, and ends in `Z`.
    Timestamp(u32, bool),
}

impl IdType {
    /// Returns the text of a value that is stored as an integer.
    pub fn integer(self, value: i128) -> String {
        match self {
            IdType::Boolean => (value != 0).to_string(),
            IdType::Decimal(scale) => decimal(value, scale),
            IdType::Date => date(value),
            IdType::Time(places) => time(value, places),
            IdType::Timestamp(places, is_moment) => {
                let day = 86_400 * 10_i128.pow(places.min(18));
                let (days, rest) = (value.div_euclid(day), value.rem_euclid(day));
                let end = if is_moment { "Z" } else { "" };
                format!("{}T{}{end}", date(days), time(rest, places))
            }
            IdType::Text | IdType::Bytes | IdType::Uuid | IdType::Integer => value.to_string(),
        }
    }

    /// Returns the text of a value that is stored as bytes; a decimal has its highest byte first. `None` if it is not
    /// UTF-8 and should be, or a decimal of more than 38 digits.
    pub fn bytes(self, value: &[u8]) -> Option<String> {
        match self {
            IdType::Text => std::str::from_utf8(value).ok().map(str::to_owned),
            IdType::Decimal(_) => Some(self.integer(big_endian(value)?)),
            _ => {
                let is_uuid = self == IdType::Uuid && value.len() == 16;
                let mut text = String::with_capacity(2 * value.len() + 4);
                for (at, byte) in value.iter().enumerate() {
                    if is_uuid && matches!(at, 4 | 6 | 8 | 10) {
                        text.push('-');
                    }
                    // Writing to a string never fails.
                    let _ = write!(text, "{byte:02x}");
                }
                Some(text)
            }
        }
    }
}

/// Returns the signed number whose highest byte comes first.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let sign: i128 = if *bytes.first()? >= 0x80 { -1 } else { 0 };
    let number = |bytes: &[u8]| {
        let push = |all: i128, &byte: &u8| all << 8 | i128::from(byte);
        bytes.iter().fold(sign, push)
    };
    (bytes.len() <= size_of::<i128>()).then(|| number(bytes))
}

fn decimal(number: i128, scale: i32) -> String {
    let Ok(places) = usize::try_from(scale) else {
        let zeros = "0".repeat(usize::try_from(scale.unsigned_abs().min(1 << 10)).unwrap_or(0));
        return if number == 0 {
            "0".to_owned()
        } else {
            format!("{number}{zeros}")
        };
    };
    let places = places.min(1 << 10);
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    let sign = if number < 0 { "-" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}

/// Returns a time of day.
fn time(value: i128, places: u32) -> String {
    let second = 10_i128.pow(places.min(18));
    let (seconds, part) = (value.div_euclid(second), value.rem_euclid(second));
    let (hours, minutes) = (
        seconds.div_euclid(3600),
        seconds.div_euclid(60).rem_euclid(60),
    );
    let mut text = format!("{hours:02}:{minutes:02}:{:02}", seconds.rem_euclid(60));
    if part != 0 {
        let mut digits = format!("{part:0width$}", width = places as usize);
        while digits.ends_with("000") {
            digits.truncate(digits.len() - 3);
        }
        text.push('.');
        text += &digits;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::IdType;

    #[test]
    fn values_have_the_texts_that_arrow_prints() {
        for (kind, value, text) in [
            (
                IdType::Integer,
                i128::from(u64::MAX),
                "18446744073709551615",
            ),
            (IdType::Boolean, 1, "true"),
            (IdType::Boolean, 0, "false"),
            (IdType::Decimal(2), 1230, "12.30"),
            (IdType::Decimal(3), -7, "-0.007"),
            (IdType::Decimal(0), 5, "5"),
            (IdType::Decimal(-2), 5, "500"),
            (IdType::Date, -1, "1969-12-31"),
            (IdType::Time(0), 3661, "01:01:01"),
            (IdType::Time(6), 86_399_000_007, "23:59:59.000007"),
            (IdType::Time(9), 500_000_000, "00:00:00.500"),
            (IdType::Timestamp(0, false), 0, "1970-01-01T00:00:00"),
            (
                IdType::Timestamp(6, true),
                -1,
                "1969-12-31T23:59:59.999999Z",
            ),
            (
                IdType::Timestamp(9, true),
                1_000_000_000,
                "1970-01-01T00:00:01Z",
            ),
        ] {
            assert_eq!(kind.integer(value), text, "{kind:?} {value}");
        }
    }

    #[test]
    fn bytes_are_digits_unless_they_are_text() {
        let uuid = "4256029c-0b57-4cb2-8f26-1d2d6e9d8e10";
        let digits = uuid.replace('-', "");
        let bytes: Vec<u8> = (0..16)
            .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        for (kind, bytes, text) in [
            (IdType::Uuid, &bytes[..], Some(uuid)),
            (IdType::Uuid, &[1, 2], Some("0102")),
            (IdType::Bytes, &bytes, Some(&*digits)),
            (IdType::Bytes, b"abc", Some("616263")),
            (IdType::Text, b"abc", Some("abc")),
            (IdType::Text, b"\xe9", None),
            (IdType::Decimal(1), &[0xff, 0xf6], Some("-1.0")),
            (IdType::Decimal(1), &[1; 17], None),
        ] {
            assert_eq!(kind.bytes(bytes).as_deref(), text, "{kind:?} {bytes:?}");
        }
    }
}

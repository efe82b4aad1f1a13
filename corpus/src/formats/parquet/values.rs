//! Values of columns as JSON.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use encoding_rs::Encoding;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::schema::types::ColumnDescriptor;

use crate::decode::decode;
use crate::formats::column_type::ScalarType;
use crate::formats::id::IdType;
use crate::number::date;

/// A value as it is stored.
#[derive(Clone, Debug)]
pub(crate) enum Scalar {
    Bool(bool),
    Int(i64),
    Int96(Int96),
    Float(f32),
    Double(f64),
    Bytes(ByteArray),
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::Bool(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Scalar {
        Scalar::Int(value.into())
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Int(value)
    }
}

impl From<Int96> for Scalar {
    fn from(value: Int96) -> Scalar {
        Scalar::Int96(value)
    }
}

impl From<f32> for Scalar {
    fn from(value: f32) -> Scalar {
        Scalar::Float(value)
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Double(value)
    }
}

impl From<ByteArray> for Scalar {
    fn from(value: ByteArray) -> Scalar {
        Scalar::Bytes(value)
    }
}

impl From<FixedLenByteArray> for Scalar {
    fn from(value: FixedLenByteArray) -> Scalar {
        Scalar::Bytes(value.into())
    }
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// As stored. Bytes are written in base64.
    Plain,
    /// Unsigned, with this number of bits.
    Unsigned(u32),
    Text,
    /// A document's text or key, written as a string.
    Id(IdType),
    Uuid,
    Half,
    /// With this number of digits after the point.
    Decimal(usize),
    Date,
    Time(SecondDigits),
    /// Followed by a Z if it is in UTC.
    Timestamp(SecondDigits, bool),
}

/// The number of decimal digits of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecondDigits(u32);

impl SecondDigits {
    const MILLIS: SecondDigits = SecondDigits(3);
    const MICROS: SecondDigits = SecondDigits(6);
    const NANOS: SecondDigits = SecondDigits(9);

    fn of(unit: TimeUnit) -> SecondDigits {
        match unit {
            TimeUnit::MILLIS => SecondDigits::MILLIS,
            TimeUnit::MICROS => SecondDigits::MICROS,
            TimeUnit::NANOS => SecondDigits::NANOS,
        }
    }

    /// Returns the number of digits.
    pub(crate) fn places(self) -> u32 {
        self.0
    }

    fn a_second(self) -> i128 {
        10_i128.pow(self.0)
    }
}

impl ValueKind {
    /// Returns the type of a column's values, from its logical type or the older converted type.
    pub(crate) fn of(column: &ColumnDescriptor) -> ValueKind {
        let scale =
            |scale: i32| usize::try_from(scale).map_or(ValueKind::Plain, ValueKind::Decimal);
        match column.logical_type_ref() {
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => ValueKind::Text,
            Some(LogicalType::Decimal(decimal)) => scale(decimal.scale),
            Some(LogicalType::Date) => ValueKind::Date,
            Some(LogicalType::Time(time)) => ValueKind::Time(SecondDigits::of(time.unit)),
            Some(LogicalType::Timestamp(time)) => {
                ValueKind::Timestamp(SecondDigits::of(time.unit), time.is_adjusted_to_u_t_c)
            }
            Some(LogicalType::Integer(integer)) if !integer.is_signed => {
                ValueKind::Unsigned(u32::try_from(integer.bit_width).unwrap_or(64))
            }
            Some(LogicalType::Uuid) => ValueKind::Uuid,
            Some(LogicalType::Float16) => ValueKind::Half,
            _ => match column.converted_type() {
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => ValueKind::Text,
                ConvertedType::DECIMAL => scale(column.type_scale()),
                ConvertedType::DATE => ValueKind::Date,
                ConvertedType::TIME_MILLIS => ValueKind::Time(SecondDigits::MILLIS),
                ConvertedType::TIME_MICROS => ValueKind::Time(SecondDigits::MICROS),
                ConvertedType::TIMESTAMP_MILLIS => ValueKind::Timestamp(SecondDigits::MILLIS, true),
                ConvertedType::TIMESTAMP_MICROS => ValueKind::Timestamp(SecondDigits::MICROS, true),
                ConvertedType::UINT_8 => ValueKind::Unsigned(8),
                ConvertedType::UINT_16 => ValueKind::Unsigned(16),
                ConvertedType::UINT_32 => ValueKind::Unsigned(32),
                ConvertedType::UINT_64 => ValueKind::Unsigned(64),
                _ => ValueKind::Plain,
            },
        }
    }

    /// Whether values are JSON strings, so that they can be names of fields.
    pub(crate) fn is_name(self, physical: Type) -> bool {
        let is_bytes = matches!(physical, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY);
        matches!(self, ValueKind::Text | ValueKind::Id(IdType::Text)) && is_bytes
    }

    /// Writes a value. The text or key of a document is read in the encoding `given`.
    pub(crate) fn write(self, value: &Scalar, given: Option<&'static Encoding>, json: &mut String) {
        match (value, self) {
            (Scalar::Bool(value), ValueKind::Id(id)) => {
                write_string(&id.integer(i128::from(*value)), json);
            }
            (Scalar::Int(value), ValueKind::Id(id)) => {
                write_string(&id.integer((*value).into()), json);
            }
            (Scalar::Int96(value), ValueKind::Id(id)) => {
                write_string(&id.integer(nanoseconds(value).unwrap_or(0)), json);
            }
            (Scalar::Bool(value), _) => json.push_str(if *value { "true" } else { "false" }),
            (Scalar::Int(value), kind) => kind.write_integer(*value, json),
            (Scalar::Int96(value), _) => {
                let Some(time) = nanoseconds(value) else {
                    return json.push_str("null");
                };
                write_timestamp(time, SecondDigits::NANOS, false, json);
            }
            (Scalar::Float(value), _) => write_float(value.is_finite(), value, json),
            (Scalar::Double(value), _) => write_float(value.is_finite(), value, json),
            (Scalar::Bytes(bytes), kind) => kind.write_bytes(bytes.data(), given, json),
        }
    }

    fn write_integer(self, value: i64, json: &mut String) {
        match self {
            ValueKind::Unsigned(bits @ 0..64) => {
                push(json, value.cast_unsigned() & ((1 << bits) - 1));
            }
            ValueKind::Unsigned(_) => push(json, value.cast_unsigned()),
            ValueKind::Decimal(scale) => {
                let number: i128 = value.into();
                write_decimal(number < 0, &number.unsigned_abs().to_string(), scale, json);
            }
            ValueKind::Date => {
                json.push('"');
                json.push_str(&date(value));
                json.push('"');
            }
            ValueKind::Time(unit) => {
                json.push('"');
                write_time(value.into(), unit, json);
                json.push('"');
            }
            ValueKind::Timestamp(unit, is_utc) => write_timestamp(value.into(), unit, is_utc, json),
            _ => push(json, value),
        }
    }

    fn write_bytes(self, bytes: &[u8], given: Option<&'static Encoding>, json: &mut String) {
        match (self, bytes) {
            (ValueKind::Id(IdType::Text), _) if given.is_some() => {
                write_string(&decode(bytes, given).text, json);
            }
            (ValueKind::Id(id), _) => match id.bytes(bytes) {
                Some(text) => write_string(&text, json),
                None => write_string(&String::from_utf8_lossy(bytes), json),
            },
            (ValueKind::Text, _) => write_string(&String::from_utf8_lossy(bytes), json),
            (ValueKind::Half, &[low, high]) => {
                let value = half(u16::from_le_bytes([low, high]));
                write_float(value.is_finite(), &value, json);
            }
            (ValueKind::Decimal(scale), [first, ..]) if bytes.len() <= DECIMAL_BYTES => {
                write_decimal(*first >= 0x80, &digits(bytes), scale, json);
            }
            (ValueKind::Uuid, bytes) if bytes.len() == 16 => {
                json.push('"');
                for (at, byte) in bytes.iter().enumerate() {
                    if matches!(at, 4 | 6 | 8 | 10) {
                        json.push('-');
                    }
                    push(json, format_args!("{byte:02x}"));
                }
                json.push('"');
            }
            _ => {
                json.push('"');
                BASE64_STANDARD.encode_string(bytes, json);
                json.push('"');
            }
        }
    }
}

/// Returns the type of a column's values, as they are written.
pub(crate) fn scalar_type(column: &ColumnDescriptor) -> ScalarType {
    let unsigned = |number: i32| u32::try_from(number).unwrap_or(0);
    match (ValueKind::of(column), column.physical_type()) {
        (ValueKind::Text | ValueKind::Id(_) | ValueKind::Uuid, _) => ScalarType::Text,
        (ValueKind::Unsigned(bits), _) => ScalarType::Unsigned(bits),
        (ValueKind::Half, _) => ScalarType::Float(16),
        (ValueKind::Decimal(_), _) => ScalarType::Decimal(
            unsigned(column.type_precision()),
            unsigned(column.type_scale()),
        ),
        (ValueKind::Date, _) => ScalarType::Date,
        (ValueKind::Time(unit), _) => ScalarType::Time(unit.places()),
        (ValueKind::Timestamp(unit, is_utc), _) => ScalarType::Timestamp(unit.places(), is_utc),
        (ValueKind::Plain, Type::BOOLEAN) => ScalarType::Bool,
        (ValueKind::Plain, Type::INT96) => ScalarType::Timestamp(SecondDigits::NANOS.0, false),
        (ValueKind::Plain, Type::FLOAT) => ScalarType::Float(32),
        (ValueKind::Plain, Type::DOUBLE) => ScalarType::Float(64),
        (ValueKind::Plain, Type::BYTE_ARRAY) => ScalarType::Bytes(None),
        (ValueKind::Plain, Type::FIXED_LEN_BYTE_ARRAY) => {
            ScalarType::Bytes(Some(unsigned(column.type_length())))
        }
        (ValueKind::Plain, stored @ (Type::INT32 | Type::INT64)) => {
            let bits = match (column.logical_type_ref(), column.converted_type()) {
                (Some(LogicalType::Integer(integer)), _) => integer.bit_width.into(),
                (_, ConvertedType::INT_8) => 8,
                (_, ConvertedType::INT_16) => 16,
                _ if stored == Type::INT32 => 32,
                _ => 64,
            };
            ScalarType::Signed(unsigned(bits))
        }
    }
}

/// Returns the nanoseconds since 1970 of a time that is stored as the nanoseconds of a day and the Julian number of the
/// day, which counts from noon in 4713 BC.
pub(crate) fn nanoseconds(value: &Int96) -> Option<i128> {
    const DAY_OF_1970: i128 = 2_440_588;
    let &[low, high, day] = value.data() else {
        return None;
    };
    let nanos = i128::from(u64::from(high) << 32 | u64::from(low));
    let days = i128::from(day) - DAY_OF_1970;
    Some(days * 86_400 * SecondDigits::NANOS.a_second() + nanos)
}

/// Writes a string in quotes.
pub(crate) fn write_string(text: &str, json: &mut String) {
    match serde_json::to_string(text) {
        Ok(string) => json.push_str(&string),
        Err(_) => json.push_str("null"),
    }
}

/// Writes a float. Numbers that JSON cannot express become strings.
fn write_float(
    is_finite: bool,
    value: &(impl serde::Serialize + std::fmt::Display),
    json: &mut String,
) {
    match serde_json::to_string(value) {
        Ok(number) if is_finite => json.push_str(&number),
        _ => push(json, format_args!("\"{value}\"")),
    }
}

/// The number of bytes of the largest decimals, which have 76 digits.
const DECIMAL_BYTES: usize = 32;

/// Returns the digits of a number without its sign. The highest byte comes first, and negative numbers are complements of
/// two.
fn digits(bytes: &[u8]) -> String {
    let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
    // Of a negative number, the complement of one, plus one.
    let (flip, one) = if is_negative { (0xff, 1) } else { (0, 0) };
    // The lowest digit first.
    let mut digits: Vec<u32> = vec![0];
    for &byte in bytes {
        add_digits(&mut digits, 256, u32::from(byte ^ flip));
    }
    add_digits(&mut digits, 1, one);
    let digits = digits.iter().rev();
    digits
        .filter_map(|&digit| char::from_digit(digit, 10))
        .collect()
}

/// Multiplies a number by a factor, and adds to it.
fn add_digits(digits: &mut Vec<u32>, factor: u32, mut carry: u32) {
    for digit in digits.iter_mut() {
        carry += *digit * factor;
        (*digit, carry) = (carry % 10, carry / 10);
    }
    while carry > 0 {
        digits.push(carry % 10);
        carry /= 10;
    }
}

fn write_decimal(is_negative: bool, digits: &str, scale: usize, json: &mut String) {
    let digits = format!("{digits:0>width$}", width = scale.min(1 << 10) + 1);
    let (whole, part) =
        digits.split_at(digits.len().saturating_sub(scale).max(1).min(digits.len()));
    let sign = if is_negative { "-" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    push(json, format_args!("{sign}{whole}{point}{part}"));
}

fn write_timestamp(time: i128, unit: SecondDigits, is_utc: bool, json: &mut String) {
    let day = 86_400 * unit.a_second();
    json.push('"');
    json.push_str(&date(time.div_euclid(day)));
    json.push('T');
    write_time(time.rem_euclid(day), unit, json);
    json.push_str(if is_utc { "Z\"" } else { "\"" });
}

/// Writes a time of day.
fn write_time(time: i128, unit: SecondDigits, json: &mut String) {
    let (seconds, part) = (
        time.div_euclid(unit.a_second()),
        time.rem_euclid(unit.a_second()),
    );
    let (hours, minutes) = (
        seconds.div_euclid(3600),
        seconds.div_euclid(60).rem_euclid(60),
    );
    let seconds = seconds.rem_euclid(60);
    let digits = unit.0 as usize;
    push(
        json,
        format_args!("{hours:02}:{minutes:02}:{seconds:02}.{part:0digits$}"),
    );
}

/// Decodes a 16-bit float.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match (exponent, fraction) {
        (0x1f, 0.0) => f32::INFINITY,
        (0x1f, _) => f32::NAN,
        (0, _) => fraction * 2_f32.powi(-24),
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    }
}

fn push(json: &mut String, value: impl std::fmt::Display) {
    // Writing to a string never fails.
    let _ = write!(json, "{value}");
}

#[cfg(test)]
mod tests {
    use super::{DECIMAL_BYTES, Scalar, SecondDigits, ValueKind, half};
    use crate::formats::id::IdType;
    use parquet::data_type::{ByteArray, Int96};

    fn json(kind: ValueKind, value: impl Into<Scalar>) -> String {
        let mut json = String::new();
        kind.write(&value.into(), None, &mut json);
        json
    }

    #[test]
    fn values_are_written_exactly() {
        for (kind, value, expected) in [
            (ValueKind::Plain, -7, "-7"),
            (ValueKind::Unsigned(8), -1, "255"),
            (ValueKind::Unsigned(64), -1, "18446744073709551615"),
            (ValueKind::Decimal(2), 1230, "12.30"),
            (ValueKind::Decimal(3), -7, "-0.007"),
            (ValueKind::Decimal(0), 5, "5"),
            (ValueKind::Date, 0, "\"1970-01-01\""),
            (ValueKind::Date, 11_016, "\"2000-02-29\""),
            (ValueKind::Date, -1, "\"1969-12-31\""),
            (ValueKind::Date, -719_529, "\"-001-12-31\""),
            (
                ValueKind::Time(SecondDigits::MILLIS),
                86_399_007,
                "\"23:59:59.007\"",
            ),
            (
                ValueKind::Timestamp(SecondDigits::MICROS, true),
                -1,
                "\"1969-12-31T23:59:59.999999Z\"",
            ),
            (
                ValueKind::Timestamp(SecondDigits::NANOS, false),
                1,
                "\"1970-01-01T00:00:00.000000001\"",
            ),
        ] {
            assert_eq!(json(kind, i64::from(value)), expected);
        }
        let mut noon = Int96::new();
        noon.set_data(1, 0, 2_440_589);
        assert_eq!(
            json(ValueKind::Plain, noon),
            "\"1970-01-02T00:00:00.000000001\""
        );
        assert_eq!(json(ValueKind::Plain, 0.1_f32), "0.1");
        assert_eq!(json(ValueKind::Plain, f64::NEG_INFINITY), "\"-inf\"");
        assert_eq!(json(ValueKind::Plain, true), "true");
    }

    #[test]
    fn bytes_are_text_numbers_or_base64() {
        let bytes = |kind, bytes: &[u8]| json(kind, ByteArray::from(bytes.to_vec()));
        assert_eq!(bytes(ValueKind::Text, b"a\"\n"), r#""a\"\n""#);
        assert_eq!(bytes(ValueKind::Plain, &[0, 255]), "\"AP8=\"");
        assert_eq!(bytes(ValueKind::Id(IdType::Bytes), b"\xe9"), "\"e9\"");
        assert_eq!(bytes(ValueKind::Decimal(1), &[0xff, 0xf6]), "-1.0");
        assert_eq!(bytes(ValueKind::Half, &[0, 0x3e]), "1.5");
        assert_eq!(
            bytes(ValueKind::Uuid, &[0xab; 16]),
            "\"abababab-abab-abab-abab-abababababab\""
        );
        assert_eq!(
            bytes(ValueKind::Decimal(1), &[1; 17]),
            "34161680757553037900636823334326534169.7"
        );
        let mut least = [0; DECIMAL_BYTES];
        least[0] = 0x80;
        assert_eq!(
            bytes(ValueKind::Decimal(0), &least),
            "-57896044618658097711785492504343953926634992332820282019728792003956564819968"
        );
        assert_eq!(
            bytes(ValueKind::Decimal(2), &[0xff; DECIMAL_BYTES]),
            "-0.01"
        );
        assert_eq!(bytes(ValueKind::Decimal(2), &[0; 3]), "0.00");
        assert!(bytes(ValueKind::Decimal(1), &[1; 33]).starts_with("\"AQEB"));
        assert!(half(0x7c01).is_nan());
        assert_eq!(half(0x8001).to_bits(), (-(2_f32.powi(-24))).to_bits());
    }
}

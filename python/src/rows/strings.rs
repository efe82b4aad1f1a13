//! The strings of an Arrow array.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, GenericStringArray, OffsetSizeTrait,
};
use arrow_schema::{DataType, Field, TimeUnit};
use dedupdb_corpus::IdType;

use super::Flaw;

/// An array of strings or, for keys and ranks, of values that have a text.
pub(crate) struct Strings {
    field: &'static str,
    /// The array itself. For a dictionary, it has the rows, not the values.
    array: ArrayRef,
    kind: StringKind,
}

enum StringKind {
    Utf8,
    LargeUtf8,
    View(BinaryViewArray),
    Keys(Vec<String>),
    /// The index of each row's value, and the values.
    Dictionary(Vec<usize>, Box<Strings>),
    Null,
}

/// Whether an array of this type has strings, or values that can be keys.
pub(crate) fn fits(field: &str, kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        DataType::Dictionary(_, values) => {
            !matches!(**values, DataType::Dictionary(..)) && fits(field, values)
        }
        kind if field == "rank" && kind.is_floating() => true,
        kind => matches!(field, "key" | "rank") && id_type(kind).is_some(),
    }
}

/// The type of keys. `None` if values of this type cannot be keys.
fn id_type(kind: &DataType) -> Option<IdType> {
    let places = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    Some(match kind {
        kind if kind.is_integer() => IdType::Integer,
        DataType::Boolean => IdType::Boolean,
        DataType::Decimal128(_, scale) => IdType::Decimal((*scale).into()),
        DataType::Date32 | DataType::Date64 => IdType::Date,
        DataType::Time32(unit) | DataType::Time64(unit) => IdType::Time(places(unit)),
        DataType::Timestamp(unit, zone) => IdType::Timestamp(places(unit), zone.is_some()),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => IdType::Bytes,
        _ => return None,
    })
}

/// Whether the values of a column are UUIDs.
pub(crate) fn has_uuids(column: &Field) -> bool {
    let name = column.metadata().get("ARROW:extension:name");
    name.is_some_and(|name| name == "arrow.uuid")
}

impl Strings {
    /// Returns `None` if the array's type does not [fit](fits). `is_uuid` says what 16 bytes are.
    pub(crate) fn of(field: &'static str, array: &ArrayRef, is_uuid: bool) -> Option<Strings> {
        let kind = match array.data_type() {
            DataType::Utf8 => StringKind::Utf8,
            DataType::LargeUtf8 => StringKind::LargeUtf8,
            DataType::Utf8View => StringKind::View(array.as_string_view().clone().to_binary_view()),
            DataType::Null => StringKind::Null,
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = dictionary.values();
                let keys = if values.is_empty() {
                    vec![0; array.len()]
                } else {
                    dictionary.normalized_keys()
                };
                StringKind::Dictionary(keys, Box::new(Strings::of(field, values, is_uuid)?))
            }
            kind if field == "rank" && kind.is_floating() => StringKind::Keys(floats(array)?),
            kind if matches!(field, "key" | "rank") => {
                let id = if is_uuid {
                    IdType::Uuid
                } else {
                    id_type(kind)?
                };
                StringKind::Keys(keys(array, id)?)
            }
            _ => return None,
        };
        Some(Strings {
            field,
            array: array.clone(),
            kind,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// The string of a row. Only the maker of the array promises UTF-8, so this checks it.
    pub(crate) fn get(&self, row: usize) -> Result<&str, Flaw> {
        if matches!(self.kind, StringKind::Null) || row >= self.len() || self.array.is_null(row) {
            return Err(Flaw::Null(self.field));
        }
        let bytes = match &self.kind {
            StringKind::Utf8 => slice(self.array.as_string::<i32>(), row),
            StringKind::LargeUtf8 => slice(self.array.as_string::<i64>(), row),
            StringKind::View(view) => Some(view.value(row)),
            StringKind::Keys(keys) => return Ok(&keys[row]),
            StringKind::Dictionary(keys, values) => return values.get(keys[row]),
            StringKind::Null => None,
        };
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.ok_or_else(|| Flaw::Value(self.field, "is not UTF-8".to_owned()))
    }
}

/// The bytes of a row, if the array has them.
pub(super) fn slice<O: OffsetSizeTrait>(
    array: &GenericStringArray<O>,
    row: usize,
) -> Option<&[u8]> {
    let offsets = array.value_offsets();
    let (from, to) = (offsets.get(row)?, offsets.get(row + 1)?);
    array.value_data().get(from.as_usize()..to.as_usize())
}

/// The texts of numbers, with as many digits as tell one from another. Nulls give empty strings.
fn floats(array: &ArrayRef) -> Option<Vec<String>> {
    fn of<T: ArrowPrimitiveType<Native: std::fmt::Display>>(array: &ArrayRef) -> Vec<String> {
        let values = array.as_primitive::<T>().iter();
        let text = |value: T::Native| value.to_string();
        values
            .map(|value| value.map_or_else(String::new, text))
            .collect()
    }
    Some(match array.data_type() {
        DataType::Float16 => of::<Float16Type>(array),
        DataType::Float32 => of::<Float32Type>(array),
        DataType::Float64 => of::<Float64Type>(array),
        _ => return None,
    })
}

/// The texts of values. Nulls give empty strings. `None` if the array has another type.
fn keys(array: &ArrayRef, id: IdType) -> Option<Vec<String>> {
    fn of<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef, id: IdType) -> Vec<String> {
        let values = array.as_primitive::<T>().iter();
        let texts = values.map(|value| value.map(|value| id.integer(value.into())));
        texts.map(Option::unwrap_or_default).collect()
    }
    let bytes = |value: Option<&[u8]>| value.map_or(Some(String::new()), |value| id.bytes(value));
    Some(match array.data_type() {
        DataType::Int8 => of::<Int8Type>(array, id),
        DataType::Int16 => of::<Int16Type>(array, id),
        DataType::Int32 => of::<Int32Type>(array, id),
        DataType::Int64 => of::<Int64Type>(array, id),
        DataType::UInt8 => of::<UInt8Type>(array, id),
        DataType::UInt16 => of::<UInt16Type>(array, id),
        DataType::UInt32 => of::<UInt32Type>(array, id),
        DataType::UInt64 => of::<UInt64Type>(array, id),
        DataType::Decimal128(..) => of::<Decimal128Type>(array, id),
        DataType::Date32 => of::<Date32Type>(array, id),
        DataType::Date64 => {
            let days = |milliseconds: i64| id.integer(milliseconds.div_euclid(86_400_000).into());
            let values = array.as_primitive::<Date64Type>().iter();
            values
                .map(|value| value.map_or_else(String::new, days))
                .collect()
        }
        DataType::Time32(TimeUnit::Second) => of::<Time32SecondType>(array, id),
        DataType::Time32(_) => of::<Time32MillisecondType>(array, id),
        DataType::Time64(TimeUnit::Nanosecond) => of::<Time64NanosecondType>(array, id),
        DataType::Time64(_) => of::<Time64MicrosecondType>(array, id),
        DataType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(array, id),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(array, id),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(array, id),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(array, id),
        DataType::Boolean => {
            let text = |value: bool| id.integer(value.into());
            let values = array.as_boolean().iter();
            values
                .map(|value| value.map_or_else(String::new, text))
                .collect()
        }
        DataType::Binary => array
            .as_binary::<i32>()
            .iter()
            .map(bytes)
            .collect::<Option<_>>()?,
        DataType::LargeBinary => array
            .as_binary::<i64>()
            .iter()
            .map(bytes)
            .collect::<Option<_>>()?,
        DataType::BinaryView => array
            .as_binary_view()
            .iter()
            .map(bytes)
            .collect::<Option<_>>()?,
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary().iter();
            values.map(bytes).collect::<Option<_>>()?
        }
        _ => return None,
    })
}

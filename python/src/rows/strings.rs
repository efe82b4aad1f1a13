//! The strings of an Arrow array.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, GenericStringArray, OffsetSizeTrait,
};
use arrow_schema::DataType;

use super::Flaw;

/// An array of strings or, for keys, of integers.
pub(crate) struct Strings {
    field: &'static str,
    /// The array itself. For a dictionary, it has the rows, not the values.
    array: ArrayRef,
    kind: Kind,
}

enum Kind {
    Utf8,
    LargeUtf8,
    View(BinaryViewArray),
    Integers(Vec<String>),
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
        kind => field == "key" && kind.is_integer(),
    }
}

impl Strings {
    /// Returns `None` if the array's type does not [fit](fits).
    pub(crate) fn of(field: &'static str, array: &ArrayRef) -> Option<Strings> {
        let kind = match array.data_type() {
            DataType::Utf8 => Kind::Utf8,
            DataType::LargeUtf8 => Kind::LargeUtf8,
            DataType::Utf8View => Kind::View(array.as_string_view().clone().to_binary_view()),
            DataType::Null => Kind::Null,
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = dictionary.values();
                let keys = if values.is_empty() {
                    vec![0; array.len()]
                } else {
                    dictionary.normalized_keys()
                };
                Kind::Dictionary(keys, Box::new(Strings::of(field, values)?))
            }
            kind if field == "key" && kind.is_integer() => Kind::Integers(digits(array)),
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
        if matches!(self.kind, Kind::Null) || row >= self.len() || self.array.is_null(row) {
            return Err(Flaw::Null(self.field));
        }
        let bytes = match &self.kind {
            Kind::Utf8 => slice(self.array.as_string::<i32>(), row),
            Kind::LargeUtf8 => slice(self.array.as_string::<i64>(), row),
            Kind::View(view) => Some(view.value(row)),
            Kind::Integers(digits) => return Ok(&digits[row]),
            Kind::Dictionary(keys, values) => return values.get(keys[row]),
            Kind::Null => None,
        };
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.ok_or_else(|| Flaw::Value(self.field, "is not UTF-8".to_owned()))
    }
}

/// The bytes of a row, if the array has them.
fn slice<O: OffsetSizeTrait>(array: &GenericStringArray<O>, row: usize) -> Option<&[u8]> {
    let offsets = array.value_offsets();
    let (from, to) = (offsets.get(row)?, offsets.get(row + 1)?);
    array.value_data().get(from.as_usize()..to.as_usize())
}

/// Integers as decimal digits. Nulls give empty strings.
fn digits(array: &ArrayRef) -> Vec<String> {
    fn of<T: ArrowPrimitiveType<Native: ToString>>(array: &ArrayRef) -> Vec<String> {
        let numbers = array.as_primitive::<T>().iter();
        let digits = numbers.map(|number| number.map(|number| number.to_string()));
        digits.map(Option::unwrap_or_default).collect()
    }
    match array.data_type() {
        DataType::Int8 => of::<Int8Type>(array),
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::UInt8 => of::<UInt8Type>(array),
        DataType::UInt16 => of::<UInt16Type>(array),
        DataType::UInt32 => of::<UInt32Type>(array),
        DataType::UInt64 => of::<UInt64Type>(array),
        _ => vec![String::new(); array.len()],
    }
}

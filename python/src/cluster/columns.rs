//! The columns of a batch, by name.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The column with this name, or an error.
pub(super) fn column<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a ArrayRef> {
    batch
        .column_by_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("the batch has no column {name:?}")))
}

fn wrong(name: &str, needed: &str, array: &ArrayRef) -> PyErr {
    let kind = array.data_type();
    PyTypeError::new_err(format!(
        "the column {name:?} has values of {kind}, not {needed}"
    ))
}

/// Numbers of 64 bits without nulls.
pub(super) fn longs<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a [i64]> {
    let array = column(batch, name)?;
    match array.as_primitive_opt::<Int64Type>() {
        Some(numbers) if numbers.null_count() == 0 => Ok(numbers.values()),
        _ => Err(wrong(name, "longs without nulls", array)),
    }
}

/// Numbers of 64 bits, `None` for nulls.
pub(super) struct LongColumn<'a>(&'a PrimitiveArray<Int64Type>);

impl<'a> LongColumn<'a> {
    pub(super) fn of(batch: &'a RecordBatch, name: &str) -> PyResult<LongColumn<'a>> {
        let array = column(batch, name)?;
        let numbers = array.as_primitive_opt::<Int64Type>();
        numbers
            .map(LongColumn)
            .ok_or_else(|| wrong(name, "longs", array))
    }

    pub(super) fn get(&self, row: usize) -> Option<i64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// Numbers of 32 bits without nulls.
pub(super) fn ints<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a [i32]> {
    let array = column(batch, name)?;
    match array.as_primitive_opt::<Int32Type>() {
        Some(numbers) if numbers.null_count() == 0 => Ok(numbers.values()),
        _ => Err(wrong(name, "ints without nulls", array)),
    }
}

/// Booleans without nulls.
pub(super) fn flags(batch: &RecordBatch, name: &str) -> PyResult<Vec<bool>> {
    let array = column(batch, name)?;
    match array.as_boolean_opt() {
        Some(flags) if flags.null_count() == 0 => Ok(flags.values().iter().collect()),
        _ => Err(wrong(name, "booleans without nulls", array)),
    }
}

/// Bytes, or those of strings, `None` for nulls.
pub(super) struct BytesColumn<'a> {
    array: &'a ArrayRef,
}

impl<'a> BytesColumn<'a> {
    pub(super) fn of(batch: &'a RecordBatch, name: &str) -> PyResult<BytesColumn<'a>> {
        let array = column(batch, name)?;
        match array.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::Utf8 | DataType::LargeUtf8 => {
                Ok(BytesColumn { array })
            }
            _ => Err(wrong(name, "strings or bytes", array)),
        }
    }

    pub(super) fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.array.is_null(row) {
            return None;
        }
        match self.array.data_type() {
            DataType::Binary => Some(self.array.as_binary::<i32>().value(row)),
            DataType::LargeBinary => Some(self.array.as_binary::<i64>().value(row)),
            DataType::Utf8 => Some(self.array.as_string::<i32>().value(row).as_bytes()),
            _ => Some(self.array.as_string::<i64>().value(row).as_bytes()),
        }
    }

    /// The bytes as a string. Empty for nulls and for invalid UTF-8.
    pub(super) fn text(&self, row: usize) -> &'a str {
        let bytes = self.get(row).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The hash of a content, `None` for a null.
    pub(super) fn hash(&self, row: usize) -> PyResult<Option<[u8; 32]>> {
        let hash = self.get(row).map(<[u8; 32]>::try_from).transpose();
        hash.map_err(|_| PyValueError::new_err("a hash has not 32 bytes"))
    }
}

/// The file that a sketch was read from, as the end of a message. Empty if there is none.
pub(super) fn of_file(files: &BytesColumn<'_>, row: usize) -> String {
    match files.text(row) {
        "" => String::new(),
        file => format!(" (in {file})"),
    }
}

/// Lists of longs.
pub(super) struct LongListColumn<'a> {
    values: &'a [i64],
    array: &'a ArrayRef,
}

impl<'a> LongListColumn<'a> {
    pub(super) fn of(batch: &'a RecordBatch, name: &str) -> PyResult<LongListColumn<'a>> {
        let array = column(batch, name)?;
        let values = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().values(),
            DataType::LargeList(_) => array.as_list::<i64>().values(),
            _ => return Err(wrong(name, "lists of longs", array)),
        };
        match values.as_primitive_opt::<Int64Type>() {
            Some(numbers) if numbers.null_count() == 0 => Ok(LongListColumn {
                values: numbers.values(),
                array,
            }),
            _ => Err(wrong(name, "lists of longs", array)),
        }
    }

    /// Returns `None` for a null.
    pub(super) fn get(&self, row: usize) -> Option<&'a [i64]> {
        if self.array.is_null(row) {
            return None;
        }
        let range = if let Some(lists) = self.array.as_list_opt::<i32>() {
            let offsets = lists.value_offsets();
            usize::try_from(offsets[row]).ok()?..usize::try_from(offsets[row + 1]).ok()?
        } else {
            let offsets = self.array.as_list::<i64>().value_offsets();
            usize::try_from(offsets[row]).ok()?..usize::try_from(offsets[row + 1]).ok()?
        };
        self.values.get(range)
    }
}

/// The same bits without a sign. Other engines have signed longs, so Arrow's have signs too.
pub(super) fn unsigned(number: i64) -> u64 {
    number.cast_unsigned()
}

//! Values in lists and objects, of Python and of Arrow.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::{DataType, FieldRef};
use dedupdb_corpus::{JoinedText, NestedValue, NoText, add_text};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::Flaw;
use super::strings::slice;

/// Adds the text of the field to which a path leads.
pub(super) fn add_text_at<V: NestedValue>(
    record: &V,
    path: &str,
    text: &mut JoinedText,
) -> Result<(), Flaw> {
    add_text(record, path, text).map_err(|none| match none {
        NoText::Missing => Flaw::Missing("text", format!("'{path}'")),
        NoText::Null => Flaw::Null("text"),
        NoText::Other => Flaw::Type("text", "a list of other values".to_owned()),
    })
}

/// A value in a record of Python.
pub(super) struct PyNested<'py>(pub(super) Bound<'py, PyAny>);

impl NestedValue for PyNested<'_> {
    fn is_null(&self) -> bool {
        self.0.is_none()
    }

    fn elements(&self) -> Option<Vec<Self>> {
        if let Ok(list) = self.0.cast::<PyList>() {
            return Some(list.iter().map(PyNested).collect());
        }
        let tuple = self.0.cast::<PyTuple>().ok()?;
        Some(tuple.iter().map(PyNested).collect())
    }

    fn field(&self, name: &str) -> Option<Self> {
        if self.is_null() {
            return Some(PyNested(self.0.clone()));
        }
        let object = self.0.cast::<PyDict>().ok()?;
        object.get_item(name).ok()?.map(PyNested)
    }

    fn string(&self) -> Option<Cow<'_, str>> {
        self.0.cast::<PyString>().ok()?.to_cow().ok()
    }
}

/// A value in an array.
pub(super) struct ArrowNested {
    pub(super) array: ArrayRef,
    pub(super) row: usize,
}

impl ArrowNested {
    fn list<O: OffsetSizeTrait>(&self) -> Option<Vec<ArrowNested>> {
        let lists = self.array.as_list_opt::<O>()?;
        let offsets = lists.value_offsets();
        let (from, to) = (offsets.get(self.row)?, offsets.get(self.row + 1)?);
        let element = |row| ArrowNested {
            array: lists.values().clone(),
            row,
        };
        Some((from.as_usize()..to.as_usize()).map(element).collect())
    }
}

impl NestedValue for ArrowNested {
    fn is_null(&self) -> bool {
        self.array.is_null(self.row)
    }

    fn elements(&self) -> Option<Vec<Self>> {
        match self.array.data_type() {
            DataType::List(_) => self.list::<i32>(),
            DataType::LargeList(_) => self.list::<i64>(),
            _ => None,
        }
    }

    fn field(&self, name: &str) -> Option<Self> {
        let array = if self.is_null() {
            &self.array
        } else {
            self.array.as_struct_opt()?.column_by_name(name)?
        };
        Some(ArrowNested {
            array: array.clone(),
            row: self.row,
        })
    }

    /// Only the maker of the array promises UTF-8, so this checks it.
    fn string(&self) -> Option<Cow<'_, str>> {
        if self.is_null() {
            return None;
        }
        let bytes = match self.array.data_type() {
            DataType::Utf8 => slice(self.array.as_string::<i32>(), self.row),
            DataType::LargeUtf8 => slice(self.array.as_string::<i64>(), self.row),
            DataType::Utf8View => {
                let view = self.array.as_string_view().clone().to_binary_view();
                let text = str::from_utf8(view.value(self.row)).ok()?;
                return Some(text.to_owned().into());
            }
            _ => None,
        };
        str::from_utf8(bytes?).ok().map(Cow::from)
    }
}

/// The type with the values of dictionaries in place of these, also in lists and structs.
pub(super) fn without_dictionaries(kind: &DataType) -> DataType {
    let field = |field: &FieldRef| {
        let kind = without_dictionaries(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(kind))
    };
    match kind {
        DataType::Dictionary(_, values) => without_dictionaries(values),
        DataType::List(element) => DataType::List(field(element)),
        DataType::LargeList(element) => DataType::LargeList(field(element)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

//! The values of fields that rank rows, as texts.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDelta, PyDict, PyDictMethods, PyString};

use super::strings::{Strings, fits, has_uuids};
use super::{Flaw, string};

/// The text of a value. `None` if it is missing or null.
pub(crate) type RankValue = Option<String>;

/// Where a table has a field: the places of columns, each in the one before.
pub(super) type ColumnPath = Vec<usize>;

/// Returns where a table has a field, if it does. Dots lead into structs; a column whose own name has the dots is found, too.
///
/// # Errors
///
/// Its values have no rank.
pub(super) fn path_of(fields: &Fields, name: &str) -> PyResult<Option<ColumnPath>> {
    let Some((path, field)) = found(fields, name) else {
        return Ok(None);
    };
    match field.data_type() {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
            if !has_uuids(field) =>
        {
            Err(no_rank(name, "bytes"))
        }
        kind if fits("rank", kind) => Ok(Some(path)),
        DataType::Struct(_) => Err(no_rank(name, "nested fields")),
        DataType::Map(..) => Err(no_rank(name, "maps")),
        kind => Err(no_rank(name, &format!("values of {kind}"))),
    }
}

/// The place of the field to which dots lead, and the field.
pub(super) fn found<'f>(fields: &'f Fields, name: &str) -> Option<(ColumnPath, &'f FieldRef)> {
    if let Some((place, field)) = fields.find(name) {
        return Some((vec![place], field));
    }
    name.match_indices('.').find_map(|(dot, _)| {
        let (place, outer) = fields.find(&name[..dot])?;
        match outer.data_type() {
            DataType::Struct(inner) => {
                let (path, field) = found(inner, &name[dot + 1..])?;
                Some(([vec![place], path].concat(), field))
            }
            DataType::Map(..) => Some((vec![place], outer)),
            _ => None,
        }
    })
}

fn no_rank(name: &str, what: &str) -> PyErr {
    PyValueError::new_err(format!(
        "keep_by: {name:?} has {what}, which have no rank; choose a field with one value"
    ))
}

/// A column that ranks rows.
pub(super) struct RankColumn {
    /// The structs that it is in.
    outer: Vec<ArrayRef>,
    values: Strings,
}

impl RankColumn {
    /// Returns the column at a path of an array of rows. `None` if the array has another type than was said.
    pub(super) fn of(rows: &ArrayRef, path: &ColumnPath) -> Option<RankColumn> {
        let (mut outer, mut inner, mut is_uuid) = (Vec::new(), rows.clone(), false);
        for &place in path {
            let columns = inner.as_struct_opt()?;
            is_uuid = columns
                .fields()
                .get(place)
                .is_some_and(|it: &FieldRef| has_uuids(it as &Field));
            let column = columns.columns().get(place)?.clone();
            outer.push(std::mem::replace(&mut inner, column));
        }
        let values = Strings::of("rank", &inner, is_uuid)?;
        Some(RankColumn { outer, values })
    }

    /// The value of a row.
    pub(super) fn get(&self, row: usize) -> Result<RankValue, Flaw> {
        if self.outer.iter().any(|outer| outer.is_null(row)) {
            return Ok(None);
        }
        match self.values.get(row) {
            Ok(value) => Ok(Some(value.to_owned())),
            Err(Flaw::Null(_)) => Ok(None),
            Err(flaw) => Err(flaw),
        }
    }
}

/// Returns the value of a field of a record. Dots lead into mappings.
///
/// # Errors
///
/// It is a list, a mapping or a duration.
pub(super) fn value_of(record: &Bound<'_, PyAny>, name: &str) -> PyResult<RankValue> {
    let value = nested(record, name)?;
    value.map_or(Ok(None), |value| text_of(&value, name))
}

fn nested<'py>(record: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(value) = item(record, name)? {
        return Ok(Some(value));
    }
    for (dot, _) in name.match_indices('.') {
        if let Some(inner) = item(record, &name[..dot])?
            && let Some(value) = nested(&inner, &name[dot + 1..])?
        {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Returns what a mapping has under a name.
fn item<'py>(record: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Ok(record) = record.cast::<PyDict>() {
        return record.get_item(name);
    }
    let has = record.hasattr("keys")? && record.contains(name)?;
    has.then(|| record.get_item(name)).transpose()
}

fn text_of(value: &Bound<'_, PyAny>, name: &str) -> PyResult<RankValue> {
    // NaN and its kin do not equal themselves.
    if value.is_none() || value.ne(value).unwrap_or(true) {
        return Ok(None);
    }
    if value.is_instance_of::<PyString>() {
        let text = string("rank", value);
        return text
            .map(Some)
            .map_err(|flaw| PyValueError::new_err(format!("keep_by: {flaw}")));
    }
    if value.hasattr("__len__")? || value.is_instance_of::<PyDelta>() {
        let class = value.get_type().name()?;
        return Err(no_rank(name, &format!("a value of {class}")));
    }
    Ok(Some(value.str()?.to_string()))
}

//! Numbers that calls are given, each by the name of its argument.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A number, or why it is none. What is of another type is named by whoever asked for it.
fn number<'py, T>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract::<T>().map_err(|error| {
        let py = value.py();
        if error.is_instance_of::<PyTypeError>(py) {
            return error;
        }
        PyValueError::new_err(format!("{name}: {}", error.value(py)))
    })
}

pub(crate) fn limit(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    number("limit", value)
}

pub(crate) fn min_size(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    number("min_size", value)
}

pub(crate) fn threads(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    number("threads", value)
}

pub(crate) fn false_candidates(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    number("false_candidates", value)
}

pub(crate) fn max_document(value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    number("max_document", value)
}

/// One key, or those of an iterable.
pub(crate) fn keys(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let named = |error: PyErr| -> PyErr {
        let py = value.py();
        if error.is_instance_of::<PyTypeError>(py) {
            return PyTypeError::new_err(format!("keys: {}", error.value(py)));
        }
        error
    };
    if let Ok(key) = value.extract() {
        return Ok(vec![key]);
    }
    let mut keys = Vec::new();
    for key in value.try_iter().map_err(named)? {
        keys.push(key?.extract::<String>().map_err(named)?);
    }
    Ok(keys)
}

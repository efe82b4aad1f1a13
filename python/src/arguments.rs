//! What calls are given, each by the name of its argument: what is wrong with one is told with its name.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A value, or why it is none.
pub(crate) fn named<'py, T>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value
        .extract::<T>()
        .map_err(|error| told(name, value, &error))
}

fn told(name: &str, value: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let py = value.py();
    let message = format!("{name}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(message)
    } else {
        PyValueError::new_err(message)
    }
}

/// Functions that take an argument by its name, for `from_py_with`.
macro_rules! arguments {
    ($($name:ident: $kind:ty),* $(,)?) => {
        $(pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$kind> {
            named(stringify!($name), value)
        })*
    };
}

arguments! {
    threshold: Option<f64>,
    limit: Option<usize>,
    min_size: usize,
    threads: usize,
    false_candidates: Option<usize>,
    max_document: Option<u64>,
    jaccard: f64,
    wait: f64,
    between: Option<(String, String)>,
    fold_copies: bool,
    exhaustive: bool,
    unique: bool,
    key: Option<String>,
    text: String,
    path: std::path::PathBuf,
    keep: String,
    format: Option<String>,
    encoding: Option<String>,
}

/// The key of a document.
pub(crate) fn key_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    named("key", value)
}

/// One key, or those of an iterable.
pub(crate) fn keys(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(key) = value.extract() {
        return Ok(vec![key]);
    }
    let wrong = |error: PyErr| told("keys", value, &error);
    let mut keys = Vec::new();
    for key in value.try_iter().map_err(wrong)? {
        keys.push(named("keys", &key?)?);
    }
    Ok(keys)
}

//! The arguments of calls, by name. An error about an argument includes its name.

use std::path::{Path, PathBuf};

use dedupdb_corpus::{WantedFields, check_path};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::rows::{Flaw, ValueColumn, is_one, string};

/// Extracts the value of an argument, or explains why it does not fit.
pub(crate) fn named<'py, T>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value
        .extract::<T>()
        .map_err(|error| argument_error(name, value, &error))
}

fn argument_error(name: &str, value: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let py = value.py();
    let message = format!("{name}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(message)
    } else {
        PyValueError::new_err(message)
    }
}

/// Functions that extract an argument by name, for `from_py_with`.
macro_rules! arguments {
    ($($name:ident: $kind:ty),* $(,)?) => {
        $(pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<$kind> {
            named(stringify!($name), value)
        })*
    };
}

arguments! {
    threshold: Option<f64>,
    containment: Option<f64>,
    min_size: usize,
    shortest: usize,
    threads: usize,
    false_candidates: Option<usize>,
    max_document: Option<u64>,
    memory: Option<u64>,
    jaccard: f64,
    wait: f64,
    between: Option<(String, String)>,
    fold_copies: bool,
    exhaustive: bool,
    unique: bool,
    key: Option<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    id_field: Option<String>,
    id_scope: Option<String>,
    keep: String,
    format: Option<String>,
    encoding: Option<String>,
}

/// A number of results, if one is given.
pub(crate) fn limit(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    at_least_one("limit", named("limit", value)?)
}

/// A number of documents, if one is given.
pub(crate) fn nearest(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    at_least_one("nearest", named("nearest", value)?)
}

/// Refuses the number zero.
pub(crate) fn at_least_one(name: &str, number: Option<usize>) -> PyResult<Option<usize>> {
    if number == Some(0) {
        let message = format!("{name}: 0, where a whole number from 1 on is needed");
        return Err(PyValueError::new_err(message));
    }
    Ok(number)
}

/// The paths of a text: a string, or several in an iterable, of which each counts once.
fn fields(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let fields = strings_in(name, value)?;
    for field in &fields {
        let checked = check_path(field);
        checked.map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
    }
    Ok(fields)
}

fn strings_in(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let needed = |other: &Bound<'_, PyAny>| {
        let class = other.get_type().name()?;
        let message = format!("{name}: {class}, where a str or a list of str is needed");
        Err(PyTypeError::new_err(message))
    };
    if let Ok(one) = value.cast::<PyString>() {
        return Ok(vec![given(name, one)?.to_owned()]);
    }
    let Ok(several) = value.try_iter() else {
        return needed(value);
    };
    let mut fields = Vec::new();
    for field in several {
        let field = field?;
        let Ok(field) = field.cast::<PyString>() else {
            return needed(&field);
        };
        let field = given(name, field)?.to_owned();
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    if fields.is_empty() {
        let message = format!("{name}: it names no field");
        return Err(PyValueError::new_err(message));
    }
    Ok(fields)
}

/// The fields of a text.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    fields("text", value)
}

/// The fields of a text, if any are named.
pub(crate) fn given_text(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let is_given = !value.is_none();
    is_given.then(|| text(value)).transpose()
}

/// The fields of a text if none are named.
pub(crate) fn usual_text() -> Vec<String> {
    vec!["text".to_owned()]
}

/// The fields of the texts of files, if any are named.
pub(crate) fn text_field(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let is_given = !value.is_none();
    is_given.then(|| fields("text_field", value)).transpose()
}

/// The columns of files besides keys and texts, if they are wanted: `"all"`, or a list of names.
pub(crate) fn columns(value: &Bound<'_, PyAny>) -> PyResult<Option<WantedFields>> {
    if value.is_none() {
        return Ok(None);
    }
    let names = strings_in("columns", value)?;
    let refused = |what: String| Err(PyValueError::new_err(format!("columns: {what}")));
    match (value.cast::<PyString>().is_ok(), &*names) {
        (true, [all]) if all == "all" => return Ok(Some(WantedFields::All)),
        (true, [one]) => return refused(format!("{one:?}; give \"all\", or a list: [{one:?}]")),
        _ => {}
    }
    for name in &names {
        if let Some((list, _)) = name.split_once('[') {
            return refused(format!(
                "{name:?} leads into a list, and a column has whole values; name {list:?}"
            ));
        }
    }
    Ok(Some(WantedFields::Named(names)))
}

/// The one field into which texts are written.
pub(crate) fn one_field(fields: Vec<String>) -> PyResult<String> {
    match <[String; 1]>::try_from(fields) {
        Ok([one]) => Ok(one),
        Err(_) => Err(PyValueError::new_err(
            "text: what is left of a text that is cut goes back into its field; name one text field",
        )),
    }
}

/// The key of a document: a string, or an integer, whose digits become the key.
pub(crate) fn key_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    string("key", value).map_err(|flaw| flawed(&flaw))
}

fn flawed(flaw: &Flaw) -> PyErr {
    match flaw {
        Flaw::Type(..) | Flaw::Null(_) => PyTypeError::new_err(flaw.to_string()),
        Flaw::Missing(..) | Flaw::Value(..) => PyValueError::new_err(flaw.to_string()),
    }
}

/// Functions that extract a string by name, without a copy.
macro_rules! strings {
    ($($function:ident: $name:literal),* $(,)?) => {
        $(pub(crate) fn $function<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
            let Ok(string) = value.cast::<PyString>() else {
                let class = value.get_type().name()?;
                let name = $name;
                return Err(PyTypeError::new_err(format!(
                    "{name}: {class}, where a str is needed"
                )));
            };
            given($name, string)
        })*
    };
}

strings! {
    text_of: "text",
    errors: "errors",
    linkage: "linkage",
    prefix: "prefix",
}

/// The value of a string.
pub(crate) fn given<'a>(name: &str, string: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    string
        .to_str()
        .map_err(|error| argument_error(name, string.as_any(), &error))
}

/// One key, or the keys of an iterable or an Arrow array.
pub(crate) fn keys(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    // The parts of a string are not keys, nor are those of bytes.
    if is_one(value) {
        return Ok(vec![key_of(value)?]);
    }
    if value.is_instance_of::<PyDict>() {
        let message = "keys: a dict, where a key or an iterable of keys is needed";
        return Err(PyTypeError::new_err(message));
    }
    let (mut column, mut keys) = (ValueColumn::of("key", value)?, Vec::new());
    while let Some(key) = column.next(value.py())? {
        keys.push(key.map_err(|flaw| flawed(&flaw))?);
    }
    Ok(keys)
}

/// The path of a folder. Refuses an address such as `s3://bucket/store`, also as `Path` writes it, with one slash.
pub(crate) fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: PathBuf = named("path", value)?;
    let text = path.to_string_lossy();
    let is_letter = |at: u8| at.is_ascii_alphanumeric() || b"+-.".contains(&at);
    if let Some((scheme, _)) = text.split_once(":/")
        && scheme.len() > 1
        && scheme.bytes().all(is_letter)
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
    {
        return Err(PyValueError::new_err(format!(
            "path: {text:?} is the address of another service; a store is a local folder"
        )));
    }
    Ok(path)
}

/// The absolute path of a folder.
pub(crate) fn whole(path: &Path) -> PyResult<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(PyValueError::new_err("path: it is empty"));
    }
    Ok(std::path::absolute(path)?)
}

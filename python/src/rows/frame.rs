//! Frames of pandas and Polars, whose columns Arrow does not always have, and data sets.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use super::{ATTACHMENTS, ColumnNames, KeyColumn};

/// A frame with only those columns that are read, if it has them, an array with a type, and the stream of a data set.
/// Anything else is returned as it is.
pub(super) fn narrowed<'py>(
    data: &Bound<'py, PyAny>,
    names: &ColumnNames,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let package = package(&data.get_type())?;
    if package == Some("pyarrow") {
        return scanned(data, names);
    }
    if package == Some("datasets") {
        return selected(data, names);
    }
    // A lazy frame has no length.
    if package.is_none() || !data.hasattr(intern!(py, "__len__"))? {
        return Ok(data.clone());
    }
    let data = match package {
        Some("polars") => typed(data)?,
        _ => data.clone(),
    };
    if !data.hasattr(intern!(py, "columns"))? {
        return Ok(data);
    }
    let data = match wanted(&data.getattr(intern!(py, "columns"))?, names)? {
        Some(wanted) => data.get_item(PyList::new(py, wanted)?)?,
        None => data,
    };
    if package == Some("polars") {
        check_types(&data)?;
    }
    Ok(data)
}

/// Refuses columns of Polars of types that Arrow does not have. What Polars exports of objects are addresses in memory.
fn check_types(frame: &Bound<'_, PyAny>) -> PyResult<()> {
    let columns = frame.getattr("schema")?.call_method0("items")?;
    for column in columns.try_iter()? {
        let (name, kind): (String, Bound<'_, PyAny>) = column?.extract()?;
        let kind = kind.str()?.to_string();
        if ["Object", "Int128", "UInt128"].contains(&&*kind) {
            return Err(PyTypeError::new_err(format!(
                "the column {name:?} has values of {kind}, a type that Arrow does not have; cast it"
            )));
        }
    }
    Ok(())
}

/// The names of the columns that are read. `None` if one of them is not there.
fn wanted<'a>(
    columns: &Bound<'_, PyAny>,
    names: &'a ColumnNames,
) -> PyResult<Option<Vec<&'a str>>> {
    let key = match &names.key {
        None => None,
        Some(KeyColumn::Usual) if !columns.contains("id")? && columns.contains("key")? => {
            Some("key")
        }
        Some(key) => Some(key.name()),
    };
    let mut wanted: Vec<&str> = key.into_iter().collect();
    for field in names.texts.iter().chain(&names.ranked) {
        let ends = field.match_indices(['.', '[']);
        let outer_names = ends.map(|(end, _)| &field[..end]);
        let mut outer = None;
        for name in outer_names.chain([&**field]) {
            if columns.contains(name)? {
                outer = Some(name);
            }
        }
        if outer.is_some() || field != ATTACHMENTS {
            wanted.push(outer.unwrap_or(field));
        }
    }
    let mut met = Vec::new();
    wanted.retain(|name| {
        !met.contains(name) && {
            met.push(*name);
            true
        }
    });
    for name in &wanted {
        if !columns.contains(name)? {
            return Ok(None);
        }
    }
    Ok(Some(wanted))
}

/// A data set of Hugging Face with only those columns that are read: the others may be costly to decode.
fn selected<'py>(data: &Bound<'py, PyAny>, names: &ColumnNames) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    if !data.hasattr(intern!(py, "select_columns"))? {
        return Ok(data.clone());
    }
    let columns = data.getattr(intern!(py, "column_names"))?;
    // A streamed one may not know them.
    if columns.is_none() {
        return Ok(data.clone());
    }
    match wanted(&columns, names)? {
        Some(wanted) => data.call_method1(intern!(py, "select_columns"), (wanted,)),
        None => Ok(data.clone()),
    }
}

/// The stream of a data set of pyarrow, from which only the columns that are read are scanned, or that of a scan.
fn scanned<'py>(data: &Bound<'py, PyAny>, names: &ColumnNames) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let mut data = data.clone();
    if data.hasattr(intern!(py, "scanner"))? {
        let arguments = PyDict::new(py);
        let columns = data.getattr("schema")?.getattr("names")?;
        arguments.set_item("columns", wanted(&columns, names)?)?;
        data = data.call_method("scanner", (), Some(&arguments))?;
    }
    let has_stream = data.hasattr(intern!(py, "__arrow_c_stream__"))?;
    if has_stream || !data.hasattr(intern!(py, "to_reader"))? {
        return Ok(data);
    }
    data.call_method0("to_reader")
}

/// The package that a class or one of its bases is of, if it is one of these.
fn package(class: &Bound<'_, PyType>) -> PyResult<Option<&'static str>> {
    for base in class.mro() {
        let module = base.cast::<PyType>()?.module()?;
        let module = module.to_str()?;
        for package in ["pandas", "polars", "pyarrow", "datasets"] {
            if module.split('.').next() == Some(package) {
                return Ok(Some(package));
            }
        }
    }
    Ok(None)
}

/// A series or frame of Polars whose columns without a type, which have nothing but nulls, are strings. What Polars
/// exports of such columns, other Arrow libraries refuse.
fn typed<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let polars = py.import(intern!(py, "polars"))?;
    let (null, string) = (polars.getattr("Null")?, polars.getattr("String")?);
    if data.is_instance(&polars.getattr("Series")?)? {
        if data.getattr("dtype")?.eq(&null)? {
            return data.call_method1("cast", (string,));
        }
        return Ok(data.clone());
    }
    let kinds = data.getattr("dtypes")?;
    if !data.is_instance(&polars.getattr("DataFrame")?)? || !kinds.contains(&null)? {
        return Ok(data.clone());
    }
    let strings = pyo3::types::PyDict::new(py);
    strings.set_item(null, string)?;
    data.call_method1("cast", (strings,))
}

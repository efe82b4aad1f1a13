//! One column: an Arrow array or an iterable.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use super::strings::{Strings, fits, has_uuids};
use super::table::ArrayStream;
use super::{Flaw, arrow, not_stopped, string};

/// Values one by one.
pub(crate) struct ValueColumn {
    field: &'static str,
    values: ColumnValues,
}

enum ColumnValues {
    Arrow(ArrayStream, Option<(Strings, usize)>),
    Objects(Py<PyIterator>),
}

impl ValueColumn {
    pub(crate) fn of(field: &'static str, data: &Bound<'_, PyAny>) -> PyResult<ValueColumn> {
        let values = match arrow(data)? {
            Some(reader) => {
                let kind = reader.field().data_type();
                if !fits(field, kind) {
                    return Err(PyTypeError::new_err(format!(
                        "{field}s: an Arrow array of {kind}, not of strings"
                    )));
                }
                ColumnValues::Arrow(reader, None)
            }
            None => ColumnValues::Objects(iterator(&format!("{field}s"), data)?),
        };
        Ok(ValueColumn { field, values })
    }

    /// The next value.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Result<String, Flaw>>> {
        match &mut self.values {
            ColumnValues::Objects(objects) => {
                let next = objects.bind(py).clone().next().transpose()?;
                Ok(next.map(|object| string(self.field, &object)))
            }
            ColumnValues::Arrow(reader, now) => loop {
                if let Some((strings, at)) = now
                    && *at < strings.len()
                {
                    *at += 1;
                    return Ok(Some(strings.get(*at - 1).map(str::to_owned)));
                }
                let Some(array) = not_stopped(py, py.detach(|| reader.next()))? else {
                    return Ok(None);
                };
                let is_uuid = has_uuids(reader.field());
                let strings = Strings::of(self.field, &array, is_uuid);
                let strings = strings.ok_or_else(|| {
                    PyTypeError::new_err(format!("{}s: an array of another type", self.field))
                })?;
                *now = Some((strings, 0));
            },
        }
    }
}

/// The iterator of an iterable.
pub(super) fn iterator(name: &str, data: &Bound<'_, PyAny>) -> PyResult<Py<PyIterator>> {
    let refused = || {
        let class = data.get_type().name()?;
        let lazy = data.hasattr("collect")?;
        let instead = if lazy { "; call its collect()" } else { "" };
        Err(PyTypeError::new_err(format!(
            "{name}: {class}, where a table or an iterable is needed{instead}"
        )))
    };
    // Python would iterate by index, but a frame that is not computed yet has no items.
    if !data.hasattr("__iter__")? && !data.hasattr("__len__")? {
        return refused();
    }
    match data.try_iter() {
        Ok(iterator) => Ok(iterator.unbind()),
        Err(error) if error.is_instance_of::<PyTypeError>(data.py()) => refused(),
        Err(error) => Err(error),
    }
}

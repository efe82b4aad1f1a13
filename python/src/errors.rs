//! Exceptions of `dedupdb.errors` for the crate's errors.

use std::time::UNIX_EPOCH;

use ::dedupdb_corpus as corpus;
use dedupdb::Error;
use dedupdb_corpus::dedup;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let message = match error {
        Error::WriterHeld => {
            "another call writes to the store and does not go on; a call that writes cannot be \
            made from the rows or the progress of one"
                .to_owned()
        }
        error => error.to_string(),
    };
    exception(py, error, &message).unwrap_or_else(|failed| failed)
}

/// The exception for an error in a row.
pub(crate) fn of_row(py: Python<'_>, row: u64, error: &Error) -> PyErr {
    exception(py, error, &format!("row {row}: {error}")).unwrap_or_else(|failed| failed)
}

/// The exception for an error while reading a corpus.
pub(crate) fn of_corpus(py: Python<'_>, error: &corpus::Error) -> PyErr {
    match error {
        corpus::Error::Store { source } => raised(py, source),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The exception for an error of a dedup.
pub(crate) fn of_dedup(py: Python<'_>, error: &dedup::Error) -> PyErr {
    match error {
        dedup::Error::Store(source) => raised(py, source),
        dedup::Error::Corpus(source) => of_corpus(py, source),
        dedup::Error::Benchmark { .. }
        | dedup::Error::Containment { .. }
        | dedup::Error::KeepBy { .. }
        | dedup::Error::Units { .. } => PyValueError::new_err(error.to_string()),
        dedup::Error::Temporary { .. } => {
            let class = class(py, "Io");
            class.map_or_else(
                |failed| failed,
                |class| PyErr::from_type(class, error.to_string()),
            )
        }
        other => PyRuntimeError::new_err(other.to_string()),
    }
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let module = py.import(intern!(py, "dedupdb.errors"))?;
    Ok(module.getattr(name)?.cast_into::<PyType>()?)
}

fn exception(py: Python<'_>, error: &Error, message: &str) -> PyResult<PyErr> {
    let raised = class(py, name(error))?.call1((message,))?;
    match error {
        Error::InvalidSchema { parameter, .. } | Error::InvalidQuery { parameter, .. } => {
            raised.setattr("parameter", parameter)?;
        }
        Error::SchemaMismatch {
            parameter,
            stored,
            given,
        } => {
            raised.setattr("parameter", parameter)?;
            raised.setattr("stored", stored)?;
            raised.setattr("given", given)?;
        }
        Error::InvalidColumn { column, row, .. } => {
            raised.setattr("column", column)?;
            raised.setattr("row", row)?;
        }
        Error::NoSuchDocument { key } | Error::OldDocument { key } => raised.setattr("key", key)?,
        Error::MissingSources { keys } => raised.setattr("keys", keys)?,
        Error::Locked { path, holder } => {
            raised.setattr("path", path.to_string_lossy())?;
            raised.setattr("process", holder.map(|holder| holder.process))?;
            let since = holder.and_then(|holder| holder.since?.duration_since(UNIX_EPOCH).ok());
            raised.setattr("since", since.map(|since| since.as_secs_f64()))?;
        }
        Error::Rebuilding { path, process } => {
            raised.setattr("path", path.to_string_lossy())?;
            raised.setattr("process", process)?;
        }
        Error::NotAStore { path }
        | Error::AlreadyAStore { path }
        | Error::NotEmpty { path, .. }
        | Error::Occupied { path }
        | Error::Moved { path }
        | Error::InsideStore { path, .. }
        | Error::Blocked { path, .. }
        | Error::NewerFormat { path, .. }
        | Error::OlderFormat { path, .. }
        | Error::Damaged { path, .. }
        | Error::Io { path, .. }
        | Error::Index { path, .. } => raised.setattr("path", path.to_string_lossy())?,
        _ => {}
    }
    Ok(PyErr::from_value(raised))
}

/// The name of an error's class, which is the name of its variant.
fn name(error: &Error) -> &'static str {
    match error {
        Error::InvalidSchema { .. } => "InvalidSchema",
        Error::InvalidQuery { .. } => "InvalidQuery",
        Error::SchemaMismatch { .. } => "SchemaMismatch",
        Error::InvalidText { .. } => "InvalidText",
        Error::InvalidShingles { .. } => "InvalidShingles",
        Error::InvalidColumn { .. } => "InvalidColumn",
        Error::InvalidKey { .. } => "InvalidKey",
        Error::NoSuchDocument { .. } => "NoSuchDocument",
        Error::NoShingles => "NoShingles",
        Error::NotAStore { .. } => "NotAStore",
        Error::AlreadyAStore { .. } => "AlreadyAStore",
        Error::NotEmpty { .. } => "NotEmpty",
        Error::Occupied { .. } => "Occupied",
        Error::InsideStore { .. } => "InsideStore",
        Error::Locked { .. } => "Locked",
        Error::Rebuilding { .. } => "Rebuilding",
        Error::Blocked { .. } => "Blocked",
        Error::ReadOnly => "ReadOnly",
        Error::NewerFormat { .. } => "NewerFormat",
        Error::OlderFormat { .. } => "OlderFormat",
        Error::Damaged { .. } => "Damaged",
        Error::Unfinished { .. } => "Unfinished",
        Error::Stopped => "Stopped",
        Error::MissingSources { .. } => "MissingSources",
        Error::Poisoned => "Poisoned",
        Error::WriterHeld => "WriterHeld",
        Error::OtherProcess => "OtherProcess",
        Error::Moved { .. } => "Moved",
        Error::OldDocument { .. } => "OldDocument",
        Error::Full => "Full",
        Error::Io { .. } => "Io",
        Error::Index { .. } => "Index",
        _ => "Error",
    }
}

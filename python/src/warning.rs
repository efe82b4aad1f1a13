//! Warnings, at the line that called the package.

use dedupdb::Store;
use pyo3::prelude::*;

/// How a store finds more at a threshold below its own.
pub(crate) const REINDEX: &str =
    "to find more, give the store this threshold: store.reindex(threshold=...)";

/// How a search finds all pairs there.
pub(crate) const EXHAUSTIVE: &str = "exhaustive=True finds all of them";

pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let warning = py.import("dedupdb._warning")?;
    warning.call_method1("warn", (message,)).map(drop)
}

/// Warns of what a threshold below the store's misses, like the command line. `remedy` says what to do.
pub(crate) fn warn_of_threshold(
    py: Python<'_>,
    store: &Store,
    threshold: Option<f64>,
    remedy: &str,
) -> PyResult<()> {
    let missed = threshold.and_then(|threshold| store.schema().missed_at(threshold));
    missed.map_or(Ok(()), |missed| warn(py, &format!("{missed}; {remedy}")))
}

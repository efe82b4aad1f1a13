//! Long calls that maintain a store.

use dedupdb::Progress;
use dedupdb::upkeep::Rebuild;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::watch::{ProgressCallback, watched};

/// Rebuilds the store. If the rebuild is stopped, the same call continues it.
pub(crate) fn rebuilt(
    py: Python<'_>,
    store: dedupdb::Store,
    make: impl FnOnce() -> Rebuild<'static> + Send + 'static,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let mut told = ProgressCallback::new(progress, "steps")?;
    let work = move |progress: &Progress| store.watched(progress).rebuild(make());
    let done = watched(py, &mut told, work)?;
    told.end(py)?;
    done.map_err(|error| raised(py, &error))
}

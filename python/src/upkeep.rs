//! Long calls that maintain a store.

use dedupdb::upkeep::{Progress, Rebuild, RebuildProgress};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::watch::{ProgressCallback, Stop, waited};

/// Reports the progress of a call that counts its steps.
pub(crate) fn tell(py: Python<'_>, told: &mut ProgressCallback, counts: &Progress) -> PyResult<()> {
    match counts.total() {
        0 => Ok(()),
        total => told.tell(py, counts.done(), Some(total)),
    }
}

/// Rebuilds the store. If the rebuild is stopped, the same call continues it.
pub(crate) fn rebuilt(
    py: Python<'_>,
    store: dedupdb::Store,
    make: impl FnOnce() -> Rebuild<'static> + Send + 'static,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let mut told = ProgressCallback::new(progress, "contents")?;
    let counts = Progress::new();
    let count = counts.clone();
    let work = move |stop: &Stop| {
        let watch = |at: RebuildProgress| {
            let (lists, all) = (u64::from(at.lists), u64::from(at.all_lists));
            count.begin(at.all_contents + all);
            count.step(at.contents + lists);
            stop.flow()
        };
        store.rebuild(make().watch(watch))
    };
    let done = waited(py, work, |py| tell(py, &mut told, &counts))?;
    told.end(py)?;
    done.map_err(|error| raised(py, &error))
}

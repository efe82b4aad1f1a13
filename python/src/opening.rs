//! How a store is opened.

use std::path::PathBuf;
use std::time::Duration;

use dedupdb::sketching::SchemaBuilder;
use dedupdb::{Options, Schema};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::watch::waited;

/// How a store was opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenSettings {
    pub(crate) path: PathBuf,
    pub(crate) read_only: bool,
    pub(crate) wait: Duration,
    pub(crate) threads: usize,
    pub(crate) false_candidates: Option<usize>,
    pub(crate) containment: Option<f64>,
    pub(crate) expected: SchemaBuilder,
}

impl OpenSettings {
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new()
            .read_only(self.read_only)
            .wait(self.wait)
            .threads(self.threads)
            .expect(self.expected.clone());
        if let Some(most) = self.false_candidates {
            options = options.false_candidates(most);
        }
        match self.containment {
            Some(share) => options.containment(share),
            None => options,
        }
    }
}

/// Opens the store. A wait for its lock runs on a separate thread, so that Ctrl-C ends it.
pub(crate) fn open(
    py: Python<'_>,
    how: &OpenSettings,
    make: Option<&Schema>,
) -> PyResult<dedupdb::Store> {
    let (options, wait) = (how.options(), how.wait);
    let (path, make) = (how.path.clone(), make.cloned());
    let work = move |options: Options| match make {
        Some(schema) => options.open_or_create(&path, &schema),
        None => options.open(&path),
    };
    let opened = if wait.is_zero() {
        py.detach(|| work(options))
    } else {
        waited(py, move |progress| work(options.progress(progress)))?
    };
    opened.map_err(|error| raised(py, &error))
}

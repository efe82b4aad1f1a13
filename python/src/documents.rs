//! The documents of a store, one by one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use dedupdb::Document;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::results;
use crate::watch::lock;

/// The number of documents that are read at a time.
const AHEAD: usize = 256;

/// Documents or keys, in the order of their keys, as of the commit when the loop began. As long as it exists, it keeps
/// the store open.
#[pyclass(frozen, module = "dedupdb")]
pub(crate) struct Iterating {
    reading: Arc<Mutex<DocumentReader>>,
    are_keys: bool,
}

struct DocumentReader {
    /// Together with the store, which counts its users.
    documents: Option<(dedupdb::find::Documents, dedupdb::Store)>,
    ready: VecDeque<dedupdb::Result<Document>>,
}

impl DocumentReader {
    fn next(&mut self) -> Option<dedupdb::Result<Document>> {
        if self.ready.is_empty()
            && let Some((documents, _)) = &mut self.documents
        {
            self.ready.extend(documents.by_ref().take(AHEAD));
            if self.ready.len() < AHEAD {
                // At the end, nothing keeps the store open.
                self.documents = None;
            }
        }
        self.ready.pop_front()
    }
}

impl Iterating {
    pub(crate) fn begin(
        py: Python<'_>,
        store: &dedupdb::Store,
        prefix: &str,
        are_keys: bool,
    ) -> PyResult<Iterating> {
        let documents = py.detach(|| store.documents_with_prefix(prefix));
        let documents = documents.map_err(|error| raised(py, &error))?;
        Ok(Iterating {
            reading: Arc::new(Mutex::new(DocumentReader {
                documents: Some((documents, store.clone())),
                ready: VecDeque::new(),
            })),
            are_keys,
        })
    }
}

#[pymethods]
impl Iterating {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = py.detach(|| lock(&self.reading).next());
        let Some(document) = next else {
            return Ok(None);
        };
        let document = document.map_err(|error| raised(py, &error))?;
        if self.are_keys {
            return document.key.into_bound_py_any(py).map(Some);
        }
        results::document(py, &document).map(Some)
    }
}

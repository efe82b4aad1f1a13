//! Answers that come batch by batch, and are never in memory as a whole.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, FieldRef, SchemaRef};
use dedupdb::Progress;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3_arrow::ffi::{ArrayReader, to_stream_pycapsule};

use crate::table::{column_names, exported, record, rows, rows_of};
use crate::watch::{TICK, died, lock, received};

/// The number of rows in a batch.
pub(crate) const ROWS: usize = 4096;

/// A failure on the thread that makes batches, to be raised on another one.
pub(crate) type DeferredError = Box<dyn FnOnce(Python<'_>) -> PyErr + Send>;

/// A batch, or `None` at the end. A thread that panics does not reach the end.
type ReceivedBatch = Result<Option<RecordBatch>, DeferredError>;

/// The places of what was left out so far, with the reasons.
pub(crate) type SkippedPlaces = Arc<Mutex<Vec<(String, String)>>>;

/// The exception that ended a stream, for readers that know exceptions.
pub(crate) type RaisedError = Arc<Mutex<Option<PyErr>>>;

/// Makes the next batch, or `None` at the end. Checks now and then whether to stop.
pub(crate) type BatchMaker =
    Box<dyn FnMut(&Progress) -> Result<Option<RecordBatch>, DeferredError> + Send>;

/// The thread that makes batches ahead. It stops when this is dropped.
struct BatchThread {
    batches: Mutex<Receiver<ReceivedBatch>>,
    is_ended: AtomicBool,
    progress: Progress,
}

impl Drop for BatchThread {
    fn drop(&mut self) {
        self.progress.stop();
    }
}

impl BatchThread {
    fn begin(mut make: BatchMaker) -> PyResult<BatchThread> {
        let (sender, receiver) = sync_channel(1);
        let progress = Progress::new();
        let watched = progress.clone();
        let run = move || {
            while !watched.is_stopped() {
                let made = make(&watched);
                let is_last = !matches!(made, Ok(Some(_)));
                if sender.send(made).is_err() || is_last {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("batches".to_owned())
            .spawn(run)?;
        Ok(BatchThread {
            batches: Mutex::new(receiver),
            is_ended: AtomicBool::new(false),
            progress,
        })
    }

    fn next(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        loop {
            match received(py, &self.batches, TICK) {
                Ok(Ok(Some(batch))) => return Ok(Some(batch)),
                Ok(Ok(None)) => {
                    self.is_ended.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
                Ok(Err(failure)) => {
                    self.is_ended.store(true, Ordering::Relaxed);
                    return Err(failure(py));
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) if self.is_ended.load(Ordering::Relaxed) => {
                    return Ok(None);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        }
    }
}

/// A stream of record batches that can be read once: by an Arrow library (``pyarrow.table(it)``,
/// ``pyarrow.RecordBatchReader.from_stream(it)``, ``polars.DataFrame(it)``), or row by row, as dicts, by a loop. One
/// batch is made ahead; no more are in memory.
///
/// As long as it exists, it keeps its store open.
///
/// ```python
/// >>> [(pair["key_a"], pair["key_b"]) for pair in store.pairs()]
/// [('tram', 'trams')]
/// ```
#[pyclass(frozen, module = "dedupdb")]
pub(crate) struct Batches {
    what: &'static str,
    schema: SchemaRef,
    make: Mutex<Option<BatchMaker>>,
    rows: Mutex<Option<RowIter>>,
    /// The records that were left out while reading a corpus.
    skipped: Option<SkippedPlaces>,
    raised: RaisedError,
}

/// What a loop has not reached yet: the rest of its batch, and batches that other threads fetched meanwhile.
struct RowIter {
    ahead: Arc<BatchThread>,
    ready: VecDeque<(RecordBatch, usize)>,
}

impl Batches {
    pub(crate) fn new(what: &'static str, schema: SchemaRef, make: BatchMaker) -> Batches {
        Batches {
            what,
            schema,
            make: Mutex::new(Some(make)),
            rows: Mutex::new(None),
            skipped: None,
            raised: RaisedError::default(),
        }
    }

    pub(crate) fn skipping(self, skipped: SkippedPlaces) -> Batches {
        let skipped = Some(skipped);
        Batches { skipped, ..self }
    }

    /// What reading a corpus left out so far.
    pub(crate) fn left_out(&self) -> Option<SkippedPlaces> {
        self.skipped.clone()
    }

    /// The place of the exception that an Arrow library gets as an error.
    pub(crate) fn raised(&self) -> RaisedError {
        self.raised.clone()
    }

    fn begin(&self) -> PyResult<BatchThread> {
        let Some(make) = lock(&self.make).take() else {
            return Err(PyValueError::new_err(
                "the stream was read before; it is read once",
            ));
        };
        BatchThread::begin(make)
    }
}

#[pymethods]
impl Batches {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = ExportedStream {
            ahead: self.begin()?,
            field: rows_of(&self.schema),
            raised: self.raised.clone(),
        };
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        exported(py, &self.schema)
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        column_names(&self.schema)
    }

    /// What was left out so far: the place and the reason of each. Only reading a corpus leaves something out.
    #[getter]
    fn skipped(&self) -> Vec<(String, String)> {
        let skipped = self.skipped.as_ref();
        skipped
            .map(|skipped| lock(skipped).clone())
            .unwrap_or_default()
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            let ahead = {
                let mut state = lock(&self.rows);
                let rows = match &mut *state {
                    Some(rows) => rows,
                    none => none.insert(RowIter {
                        ahead: Arc::new(self.begin()?),
                        ready: VecDeque::new(),
                    }),
                };
                while let Some((batch, row)) = rows.ready.front_mut() {
                    if *row < batch.num_rows() {
                        *row += 1;
                        return record(py, batch, *row - 1).map(Some);
                    }
                    rows.ready.pop_front();
                }
                rows.ahead.clone()
            };
            // Not while holding the lock: another thread that holds the interpreter may need it.
            let Some(batch) = ahead.next(py)? else {
                return Ok(None);
            };
            if let Some(rows) = &mut *lock(&self.rows) {
                rows.ready.push_back((batch, 0));
            }
        }
    }

    fn __repr__(&self) -> String {
        let names = self.column_names().join(", ");
        format!("<dedupdb.Batches of {}: {names}>", self.what)
    }
}

/// The stream in the form that an Arrow library reads.
struct ExportedStream {
    ahead: BatchThread,
    field: FieldRef,
    raised: RaisedError,
}

impl Iterator for ExportedStream {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Python::attach(|py| match self.ahead.next(py) {
            Ok(batch) => batch.map(|batch| Ok(rows(batch))),
            Err(raised) => {
                *lock(&self.raised) = Some(raised.clone_ref(py));
                Some(Err(ArrowError::ExternalError(
                    message_of(py, raised).into(),
                )))
            }
        })
    }
}

/// The message for an Arrow library, which knows no exceptions. Ctrl-C is raised again once the library returns.
fn message_of(py: Python<'_>, raised: PyErr) -> String {
    if raised.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
        let interrupted = py
            .import("_thread")
            .and_then(|thread| thread.call_method0("interrupt_main"));
        drop(interrupted);
        return "stopped".to_owned();
    }
    raised.value(py).to_string()
}

impl ArrayReader for ExportedStream {
    fn field(&self) -> FieldRef {
        self.field.clone()
    }
}

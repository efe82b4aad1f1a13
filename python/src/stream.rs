//! Answers that come batch after batch, and are never in memory together.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, FieldRef, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3_arrow::ffi::{ArrayReader, to_stream_pycapsule};

use crate::table::{column_names, exported, record, rows, rows_of};
use crate::watch::{Stop, TICK, died, lock, received};

/// Rows that a batch has.
pub(crate) const ROWS: usize = 4096;

/// A failure on the thread that makes batches, to be raised on another one.
pub(crate) type Failure = Box<dyn FnOnce(Python<'_>) -> PyErr + Send>;

/// A batch, or none for the end, which a thread that panics does not reach.
type Received = Result<Option<RecordBatch>, Failure>;

/// Places and reasons of what was left out so far.
pub(crate) type Skipped = Arc<Mutex<Vec<(String, String)>>>;

/// What a stream was ended by, for a reader that knows exceptions.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Makes the next batch; none at the end. It looks now and then whether to stop.
pub(crate) type Make = Box<dyn FnMut(&Stop) -> Result<Option<RecordBatch>, Failure> + Send>;

/// The thread that makes batches ahead. It stops when this is dropped.
struct Ahead {
    batches: Mutex<Receiver<Received>>,
    is_ended: AtomicBool,
    stop: Stop,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.stop.ask();
    }
}

impl Ahead {
    fn begin(mut make: Make) -> PyResult<Ahead> {
        let (sender, receiver) = sync_channel(1);
        let stop = Stop::default();
        let asked = stop.clone();
        let run = move || {
            while !asked.is_asked() {
                let made = make(&asked);
                let is_last = !matches!(made, Ok(Some(_)));
                if sender.send(made).is_err() || is_last {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("batches".to_owned())
            .spawn(run)?;
        Ok(Ahead {
            batches: Mutex::new(receiver),
            is_ended: AtomicBool::new(false),
            stop,
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

/// A stream of record batches, which is read once: by an Arrow library (``pyarrow.table(it)``,
/// ``pyarrow.RecordBatchReader.from_stream(it)``, ``polars.DataFrame(it)``), or row by row, as dicts, by a
/// loop. A batch is made ahead; no more are in memory.
///
/// As long as it is there, it keeps its store open.
#[pyclass(frozen, module = "dedupdb")]
pub(crate) struct Batches {
    what: &'static str,
    schema: SchemaRef,
    make: Mutex<Option<Make>>,
    rows: Mutex<Option<Rows>>,
    /// The records that were left out while a corpus was read.
    skipped: Option<Skipped>,
    raised: Raised,
}

/// What a loop has not come to: of the batch that it is in, and of batches that other threads got meanwhile.
struct Rows {
    ahead: Arc<Ahead>,
    ready: VecDeque<(RecordBatch, usize)>,
}

impl Batches {
    pub(crate) fn new(what: &'static str, schema: SchemaRef, make: Make) -> Batches {
        Batches {
            what,
            schema,
            make: Mutex::new(Some(make)),
            rows: Mutex::new(None),
            skipped: None,
            raised: Raised::default(),
        }
    }

    pub(crate) fn skipping(self, skipped: Skipped) -> Batches {
        let skipped = Some(skipped);
        Batches { skipped, ..self }
    }

    /// Where the exception is that an Arrow library was told of as an error.
    pub(crate) fn raised(&self) -> Raised {
        self.raised.clone()
    }

    fn begin(&self) -> PyResult<Ahead> {
        let Some(make) = lock(&self.make).take() else {
            return Err(PyValueError::new_err(
                "the stream was read before; it is read once",
            ));
        };
        Ahead::begin(make)
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
        let reader = Exported {
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

    /// What was left out so far: place and reason of each. Only reading a corpus leaves something out.
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
                    none => none.insert(Rows {
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
            // Not while the lock is held: another thread may ask, which has the interpreter.
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

/// The stream as an Arrow library reads it.
struct Exported {
    ahead: Ahead,
    field: FieldRef,
    raised: Raised,
}

impl Iterator for Exported {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Python::attach(|py| match self.ahead.next(py) {
            Ok(batch) => batch.map(|batch| Ok(rows(batch))),
            Err(raised) => {
                *lock(&self.raised) = Some(raised.clone_ref(py));
                Some(Err(ArrowError::ExternalError(told(py, raised).into())))
            }
        })
    }
}

/// What an Arrow library is told, which knows no exceptions; Ctrl-C is raised again once it returns.
fn told(py: Python<'_>, raised: PyErr) -> String {
    if raised.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
        let interrupted = py
            .import("_thread")
            .and_then(|thread| thread.call_method0("interrupt_main"));
        drop(interrupted);
        return "stopped".to_owned();
    }
    raised.value(py).to_string()
}

impl ArrayReader for Exported {
    fn field(&self) -> FieldRef {
        self.field.clone()
    }
}

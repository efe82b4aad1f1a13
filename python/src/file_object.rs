//! Files that Python has open, or opens when they are read.

use std::io::{self, Read};
use std::process;
use std::sync::{Condvar, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::watch::lock;

/// The reads that are in progress. At its end, the interpreter ends threads that come back to it, and with them the process.
static READS: (Mutex<Reads>, Condvar) = (Mutex::new(Reads::none()), Condvar::new());

struct Reads {
    process: u32,
    in_progress: usize,
    is_ended: bool,
}

impl Reads {
    const fn none() -> Reads {
        Reads {
            process: 0,
            in_progress: 0,
            is_ended: false,
        }
    }
}

/// A read that is in progress.
struct ReadGuard;

impl ReadGuard {
    /// `None` if the interpreter is about to end.
    fn begin() -> Option<ReadGuard> {
        let mut reads = lock(&READS.0);
        if reads.process != process::id() {
            // The threads of another process, of which this is a fork, are not here.
            *reads = Reads {
                process: process::id(),
                ..Reads::none()
            };
        }
        if reads.is_ended {
            return None;
        }
        reads.in_progress += 1;
        Some(ReadGuard)
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        lock(&READS.0).in_progress -= 1;
        READS.1.notify_all();
    }
}

/// Lets no read begin any more, and waits for those that are in progress.
#[pyfunction]
fn end_reads(py: Python<'_>) {
    py.detach(|| {
        let mut reads = lock(&READS.0);
        reads.is_ended = true;
        while reads.process == process::id() && reads.in_progress > 0 {
            reads = READS.1.wait(reads).unwrap_or_else(PoisonError::into_inner);
        }
    });
}

/// Lets the interpreter wait at its end for reads that are in progress.
pub(crate) fn end_with(py: Python<'_>) -> PyResult<()> {
    let end = wrap_pyfunction!(end_reads, py)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    Ok(())
}

/// An object whose method `read` returns at most a number of bytes, and none at the end.
pub(crate) struct FileObject(pub(crate) Py<PyAny>);

impl FileObject {
    fn read_into(&self, py: Python<'_>, buffer: &mut [u8]) -> PyResult<usize> {
        let read = self.0.bind(py);
        let read = read.call_method1(intern!(py, "read"), (buffer.len(),))?;
        let Ok(bytes) = read.cast::<PyBytes>() else {
            let class = read.get_type().name()?;
            let message = format!("read() returned {class}, not bytes");
            return Err(PyTypeError::new_err(message));
        };
        let bytes = bytes.as_bytes();
        let Some(place) = buffer.get_mut(..bytes.len()) else {
            return Err(PyTypeError::new_err(
                "read() returned more than it was asked for",
            ));
        };
        place.copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

impl Read for FileObject {
    /// Another thread than the one that has the interpreter calls this.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ended = || io::Error::other("the interpreter has ended");
        let _guard = ReadGuard::begin().ok_or_else(ended)?;
        let read = Python::try_attach(|py| {
            let read = self.read_into(py, buffer);
            read.map_err(|error| io::Error::other(error.to_string()))
        });
        read.ok_or_else(ended)?
    }
}

//! Files that Python has open, or opens when they are read.

use std::io::{self, Read};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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
        let read = Python::try_attach(|py| {
            let read = self.read_into(py, buffer);
            read.map_err(|error| io::Error::other(error.to_string()))
        });
        read.unwrap_or_else(|| Err(io::Error::other("the interpreter has ended")))
    }
}

//! Long calls: they run without the interpreter, report progress, and end at Ctrl-C.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dedupdb::Progress;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

/// The time between two checks for a signal.
pub(crate) const TICK: Duration = Duration::from_millis(30);

/// How long a stopped call waits for the work in progress.
const MOMENT: Duration = Duration::from_millis(40);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The receiver of progress: a callable that takes what is done and the total, or None for an unknown total.
#[derive(Default)]
pub(crate) struct ProgressCallback {
    call: Option<Py<PyAny>>,
    last: Option<(u64, Option<u64>)>,
}

impl ProgressCallback {
    /// `progress` is None, a callable, or True for a bar.
    pub(crate) fn new(
        progress: Option<&Bound<'_, PyAny>>,
        unit: &str,
    ) -> PyResult<ProgressCallback> {
        let call = match progress {
            None => None,
            Some(given) => match given.extract::<bool>() {
                Ok(false) => None,
                Ok(true) => {
                    let module = given.py().import("dedupdb._progress")?;
                    let bar = module.call_method1("bar", (unit,))?;
                    Some(bar.unbind())
                }
                Err(_) if given.is_callable() => Some(given.clone().unbind()),
                Err(_) => {
                    let class = given.get_type().name()?;
                    return Err(PyTypeError::new_err(format!(
                        "progress: True or a callable of (done, total), not {class}"
                    )));
                }
            },
        };
        Ok(ProgressCallback { call, last: None })
    }

    /// Reports progress, if there is any.
    pub(crate) fn tell(&mut self, py: Python<'_>, done: u64, total: Option<u64>) -> PyResult<()> {
        let Some(call) = &self.call else {
            return Ok(());
        };
        if self.last == Some((done, total)) {
            return Ok(());
        }
        self.last = Some((done, total));
        call.call1(py, (done, total))?;
        Ok(())
    }

    /// Reports the progress of a call, if it has begun.
    fn tell_of(&mut self, py: Python<'_>, progress: &Progress) -> PyResult<()> {
        match (progress.done(), progress.total()) {
            (0, 0) => Ok(()),
            (done, 0) => self.tell(py, done, None),
            (done, total) => self.tell(py, done, Some(total)),
        }
    }

    /// Tells a bar that the work has ended. A callable of the user is left alone.
    pub(crate) fn end(self, py: Python<'_>) -> PyResult<()> {
        let Some(call) = self.call else {
            return Ok(());
        };
        let call = call.bind(py);
        if call.hasattr("_dedupdb_close")? {
            call.call_method0("_dedupdb_close")?;
        }
        Ok(())
    }
}

/// Runs `work` on a separate thread, while this one checks for signals.
pub(crate) fn waited<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Progress) -> T + Send + 'static,
) -> PyResult<T> {
    watched(py, &mut ProgressCallback::default(), work)
}

/// Runs `work` on a separate thread, while this one checks for signals and reports the progress.
///
/// If either raises, the work is stopped, and this waits only a moment for it.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    told: &mut ProgressCallback,
    work: impl FnOnce(&Progress) -> T + Send + 'static,
) -> PyResult<T> {
    let progress = Progress::new();
    let of_work = progress.clone();
    let (sender, receiver) = sync_channel(1);
    let receiver = Mutex::new(receiver);
    // If the call was stopped, nothing receives the result.
    let run = move || drop(sender.send(work(&of_work)));
    thread::Builder::new()
        .name("dedupdb".to_owned())
        .spawn(run)?;
    loop {
        match received(py, &receiver, TICK) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(died()),
        }
        if let Err(raised) = py
            .check_signals()
            .and_then(|()| told.tell_of(py, &progress))
        {
            progress.stop();
            drop(received(py, &receiver, MOMENT));
            return Err(raised);
        }
    }
}

/// Waits without holding the interpreter.
pub(crate) fn received<T: Send>(
    py: Python<'_>,
    receiver: &Mutex<Receiver<T>>,
    time: Duration,
) -> Result<T, RecvTimeoutError> {
    py.detach(|| lock(receiver).recv_timeout(time))
}

/// The error for a thread that ended before its work did.
pub(crate) fn died() -> PyErr {
    PyRuntimeError::new_err("a thread of dedupdb ended by a panic, which is a defect")
}

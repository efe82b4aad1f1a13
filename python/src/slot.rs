//! The place where a handle keeps its store.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{locked, raised};
use crate::opening::How;
use crate::watch::TICK;

/// The minimum time that a check waits for others to release the store, before and after it.
const MOMENT: Duration = Duration::from_secs(1);

/// The state of a handle.
enum State {
    Open(dedupdb::Store),
    /// A check has the store. Its thread opens it again.
    Checked,
    Closed,
}

/// The store of a handle.
pub(crate) struct Slot {
    state: RwLock<State>,
    /// The process that opened it.
    process: AtomicU32,
    how: How,
}

impl Slot {
    pub(crate) fn new(store: dedupdb::Store, how: How) -> Slot {
        Slot {
            state: RwLock::new(State::Open(store)),
            process: AtomicU32::new(std::process::id()),
            how,
        }
    }

    pub(crate) fn how(&self) -> &How {
        &self.how
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open store.
    pub(crate) fn opened(&self) -> PyResult<dedupdb::Store> {
        let inherited = match &*self.read() {
            State::Open(store) if self.how.read_only && self.is_inherited() => store.clone(),
            State::Open(store) => return Ok(store.clone()),
            State::Checked => return Err(self.in_use("it is being checked; wait until that ends")),
            State::Closed => return Err(PyValueError::new_err("the store is closed")),
        };
        Python::attach(|py| {
            self.reopened(&inherited)
                .map_err(|error| raised(py, &error))
        })
    }

    /// Whether this process is a fork of the one that opened the store.
    fn is_inherited(&self) -> bool {
        self.process.load(Ordering::Relaxed) != std::process::id()
    }

    /// Opens the store again in a fork, as of the last commit, if it still has the same parameters.
    fn reopened(&self, inherited: &dedupdb::Store) -> dedupdb::Result<dedupdb::Store> {
        let mut state = self.write();
        if let State::Open(store) = &*state
            && !self.is_inherited()
        {
            return Ok(store.clone());
        }
        let store = self.how.options().open(&self.how.path)?;
        store.schema().check_same(&inherited.schema())?;
        *state = State::Open(store.clone());
        self.process.store(std::process::id(), Ordering::Relaxed);
        Ok(store)
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(*self.read(), State::Closed)
    }

    fn in_use(&self, why: &str) -> PyErr {
        Python::attach(|py| locked(py, &self.how.path, why))
    }

    /// Closes the store.
    pub(crate) fn close(&self, py: Python<'_>) {
        // Closing the store writes.
        py.detach(|| {
            let before = std::mem::replace(&mut *self.write(), State::Closed);
            drop(before);
        });
    }

    /// Closes the store for a check, once no other thread's call and no stream uses it.
    pub(crate) fn begin_check(&self, py: Python<'_>) -> PyResult<()> {
        let start = Instant::now();
        while !py.detach(|| self.left_alone()) {
            self.opened()?;
            if start.elapsed() > self.how.wait.max(MOMENT) {
                let why = "calls of other threads, or streams, use it, and a check needs it alone";
                return Err(self.in_use(why));
            }
            py.detach(|| thread::sleep(TICK));
            py.check_signals()?;
        }
        Ok(())
    }

    /// Takes the store out, if nothing else uses it.
    fn left_alone(&self) -> bool {
        let mut state = self.write();
        if !matches!(&*state, State::Open(store) if !store.is_shared()) {
            return false;
        }
        let before = std::mem::replace(&mut *state, State::Checked);
        drop(state);
        drop(before);
        true
    }

    /// Opens the store again after a check, unless the handle was closed meanwhile.
    pub(crate) fn end_check(&self) -> dedupdb::Result<()> {
        let options = self.how.options().wait(self.how.wait.max(MOMENT));
        let (next, done) = match options.open(&self.how.path) {
            Ok(store) => (State::Open(store), Ok(())),
            Err(error) => (State::Closed, Err(error)),
        };
        let mut state = self.write();
        if matches!(*state, State::Checked) {
            *state = next;
        }
        done
    }
}

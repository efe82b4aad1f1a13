//! The place where a handle keeps its store.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::opening::OpenSettings;

/// The store of a handle.
pub(crate) struct StoreSlot {
    /// `None` once it is closed.
    store: RwLock<Option<dedupdb::Store>>,
    /// The process that opened it.
    process: AtomicU32,
    how: OpenSettings,
}

impl StoreSlot {
    pub(crate) fn new(store: dedupdb::Store, how: OpenSettings) -> StoreSlot {
        StoreSlot {
            store: RwLock::new(Some(store)),
            process: AtomicU32::new(std::process::id()),
            how,
        }
    }

    pub(crate) fn settings(&self) -> &OpenSettings {
        &self.how
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<dedupdb::Store>> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<dedupdb::Store>> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open store.
    pub(crate) fn opened(&self) -> PyResult<dedupdb::Store> {
        let inherited = match &*self.read() {
            Some(store) if self.how.read_only && self.is_inherited() => store.clone(),
            Some(store) => return Ok(store.clone()),
            None => return Err(PyValueError::new_err("the store is closed")),
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
        let mut kept = self.write();
        if let Some(store) = &*kept
            && !self.is_inherited()
        {
            return Ok(store.clone());
        }
        let expected = inherited.schema().to_builder();
        let store = self.how.options().expect(expected).open(&self.how.path)?;
        *kept = Some(store.clone());
        self.process.store(std::process::id(), Ordering::Relaxed);
        Ok(store)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.read().is_none()
    }

    /// Closes the store.
    pub(crate) fn close(&self, py: Python<'_>) {
        // Closing the store writes.
        py.detach(|| {
            let before = self.write().take();
            drop(before);
        });
    }
}

//! A lock for which no thread waits twice.

use std::sync::{Mutex, MutexGuard};
use std::thread::{self, ThreadId};

use crate::error::{Error, Result};
use crate::parallel::lock;

/// A lock that refuses a thread that already holds it, which would wait for itself.
#[derive(Debug, Default)]
pub(crate) struct NonReentrantLock {
    lock: Mutex<()>,
    user: Mutex<Option<ThreadId>>,
}

/// The lock while it is held.
#[derive(Debug)]
pub(crate) struct NonReentrantGuard<'a> {
    alone: &'a NonReentrantLock,
    _lock: MutexGuard<'a, ()>,
}

impl NonReentrantLock {
    /// Waits until no other thread holds the lock.
    ///
    /// # Errors
    ///
    /// [`Error::WriterHeld`] if this thread holds it.
    pub(crate) fn enter(&self) -> Result<NonReentrantGuard<'_>> {
        let this = thread::current().id();
        if *lock(&self.user) == Some(this) {
            return Err(Error::WriterHeld);
        }
        let entered = NonReentrantGuard {
            _lock: lock(&self.lock),
            alone: self,
        };
        *lock(&self.user) = Some(this);
        Ok(entered)
    }
}

impl Drop for NonReentrantGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.alone.user) = None;
    }
}

//! Takes a lock even if it is poisoned.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value that is valid after every statement, so that a panic does not spoil it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

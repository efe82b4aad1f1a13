//! Taking a lock whatever became of its last holder.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock on a value that is whole after every statement, so that a panic does not spoil it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

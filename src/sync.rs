//! Locks that outlive a panic: what was changed under one of ours is whole at every step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, also one that a panic has left.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
